-- Why did groups rebalance, how often, how long did it take, and how sure is that?
-- group_id: the group; every group where not set
SELECT
    cluster, cause,
    count(*) AS rebalances,
    count(DISTINCT group_id) AS groups,
    count(*) FILTER (WHERE confidence = 'certain') AS certain,
    count(*) FILTER (WHERE confidence = 'likely') AS likely,
    count(*) FILTER (WHERE confidence IN ('possible', 'unknown')) AS unsure,
    round(sum(duration_ms) / 1000, 1) AS total_seconds,
    round(max(duration_ms) / 1000, 1) AS longest_seconds,
    max_by(group_id, duration_ms) AS longest_in_group
FROM gold.rebalances
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
GROUP BY cluster, cause
ORDER BY cluster, rebalances DESC, cause;
