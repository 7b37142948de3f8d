-- Which groups skipped records or read some again, how many at least and at most, and why, the most first?
-- group_id: the consumer group; every group where not set
SELECT
    cluster, group_id, cause, actor, harm,
    min(jumped_at) AS first_at, max(jumped_at) AS last_at,
    count(*) AS jumps,
    count(*) FILTER (resumed_at IS NULL) AS not_back,
    count(DISTINCT (topic, partition)) AS partitions,
    -- Until a member comes back nothing is skipped.
    coalesce(sum(records_low) FILTER (resumed_at IS NOT NULL), 0)::BIGINT AS records_low,
    CASE
        WHEN count(resumed_at) = count(records_high) FILTER (resumed_at IS NOT NULL)
        THEN coalesce(sum(records_high) FILTER (resumed_at IS NOT NULL), 0)::BIGINT
    END AS records_high,
    max(confidence) AS least_sure
FROM gold.offset_jumps
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
GROUP BY cluster, group_id, cause, actor, harm
ORDER BY records_low DESC, records_high DESC NULLS FIRST, cluster, group_id, cause, harm;
