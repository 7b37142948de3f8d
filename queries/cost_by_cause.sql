-- What did each cause of rebalances cost, in partition-seconds, and which group paid most for it?
-- group_id: the group; every group where not set
WITH by_group AS (
    SELECT
        cluster, cause, group_id,
        count(*) AS rebalances,
        count(*) FILTER (WHERE partition_seconds IS NULL) AS unpriced,
        sum(partition_seconds) AS cost
    FROM gold.rebalances
    WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
    GROUP BY ALL
)
SELECT
    cluster, cause,
    sum(rebalances) AS rebalances,
    sum(unpriced) AS of_unknown_cost,
    round(sum(cost), 1) AS partition_seconds,
    max_by(group_id, cost) AS costliest_group,
    round(max(cost), 1) AS its_partition_seconds
FROM by_group
GROUP BY cluster, cause
ORDER BY sum(cost) DESC NULLS LAST, cluster, cause;
