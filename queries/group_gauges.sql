-- What do gauges of each group show: rebalances of the newest night, the time since the last one, members, partitions?
-- cluster: the cluster; every cluster where not set
-- from: the begin of the night; that of each cluster's newest one where not set
WITH nights AS (
    SELECT
        cluster, arg_max(not_known, window_to) AS not_known, max(window_to) AS night_end,
        coalesce(getvariable('from')::TIMESTAMPTZ, arg_max(window_from, window_to)) AS night_start
    FROM quality.nights
    WHERE cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
    GROUP BY cluster
),
rebalanced AS (
    SELECT
        cluster, group_id, count(*) AS rebalances, max(coalesce(ended_at, started_at)) AS last_at,
        arg_max(members_after, started_at) AS members
    FROM gold.rebalances
    JOIN nights USING (cluster)
    WHERE started_at >= night_start AND started_at < night_end
    GROUP BY cluster, group_id
),
owned AS (
    SELECT cluster, group_id, count(*) AS assigned
    FROM gold.ownership
    JOIN nights USING (cluster)
    WHERE is_open AND valid_to > night_start AND valid_to <= night_end
    GROUP BY cluster, group_id
),
read_groups AS (
    SELECT cluster, group_id, count(*) AS members, sum(len(assignment))::BIGINT AS assigned
    FROM now.members
    JOIN nights USING (cluster)
    GROUP BY cluster, group_id
),
-- A topic of which the group owns a partition is one that it reads. Others that it subscribes to no reading names.
read_topics AS (
    SELECT DISTINCT cluster, group_id, topic
    FROM (SELECT cluster, group_id, unnest(assignment).topic AS topic FROM now.members)
),
subscribed AS (
    SELECT cluster, group_id, count(*) AS partitions
    FROM read_topics
    JOIN now.partitions USING (cluster, topic)
    GROUP BY cluster, group_id
)
-- Members and partitions are those of the newest reading, else those that the night's logs show. Null is not known.
SELECT
    cluster, group_id,
    coalesce(rebalances, if(list_contains(not_known, 'consumers_stopped'), NULL, 0)) AS rebalances,
    date_diff('second', last_at, night_end) AS seconds_since_rebalance,
    coalesce(g.members, r.members) AS members,
    coalesce(g.assigned, o.assigned) AS assigned_partitions,
    s.partitions - g.assigned AS unowned_partitions
FROM rebalanced AS r
FULL JOIN read_groups AS g USING (cluster, group_id)
LEFT JOIN owned AS o USING (cluster, group_id)
LEFT JOIN subscribed AS s USING (cluster, group_id)
JOIN nights USING (cluster)
ORDER BY cluster, rebalances DESC NULLS LAST, group_id;
