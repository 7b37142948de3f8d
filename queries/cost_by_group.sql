-- What did rebalances cost each group, in partition-seconds, and which cause cost it most?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH by_cause AS (
    SELECT
        cluster, group_id, cause,
        count(*) AS rebalances,
        count(*) FILTER (WHERE partition_seconds IS NULL) AS unpriced,
        sum(partition_seconds) AS cost
    FROM gold.rebalances
    WHERE started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, started_at)
    GROUP BY ALL
)
SELECT
    cluster, group_id,
    sum(rebalances) AS rebalances,
    sum(unpriced) AS of_unknown_cost,
    round(sum(cost), 1) AS partition_seconds,
    max_by(cause, cost) AS costliest_cause,
    round(max(cost), 1) AS its_partition_seconds
FROM by_cause
GROUP BY cluster, group_id
ORDER BY sum(cost) DESC NULLS LAST, cluster, group_id;
