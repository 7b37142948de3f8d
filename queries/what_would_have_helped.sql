-- Which settings would have avoided rebalances, or their cost, window by window, and what is the smallest value?
-- group_id: the group; every group where not set
SELECT
    cluster, group_id, window_from, setting,
    value_now / 1000 AS seconds_now,
    value_smallest / 1000 AS seconds_at_least,
    rebalances_avoided, rebalances_total,
    round(partition_seconds_avoided, 1) AS partition_seconds_avoided,
    confidence, explanation
FROM gold.remedies
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
ORDER BY rebalances_avoided DESC, partition_seconds_avoided DESC NULLS LAST, cluster, group_id, window_from, setting;
