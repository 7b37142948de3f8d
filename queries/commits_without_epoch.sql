-- Which groups commit offsets without a leader epoch, by which a member that goes on there would notice a cut log?
-- group_id: the consumer group; every group where not set
WITH commits AS (
    -- A tombstone has no offset, and so no epoch. Commits of an administrator are counted too: most tools send none.
    SELECT *, leader_epoch = -1 AS has_no_epoch
    FROM bronze.offset_commits
    WHERE first_offset IS NOT NULL AND group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
)
SELECT
    cluster, group_id,
    count(DISTINCT (topic, partition)) FILTER (has_no_epoch) AS partitions,
    sum(commits) FILTER (has_no_epoch)::BIGINT AS commits_without_epoch,
    sum(commits)::BIGINT AS commits,
    min(first_at) FILTER (has_no_epoch) AS first_at,
    max(last_at) FILTER (has_no_epoch) AS last_at
FROM commits
GROUP BY cluster, group_id
HAVING bool_or(has_no_epoch)
ORDER BY commits_without_epoch DESC, cluster, group_id;
