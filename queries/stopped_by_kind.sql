-- What stopped when groups rebalanced eagerly, cooperatively or by the coordinator, and for how long in all?
-- group_id: the group; every group where not set
SELECT
    cluster, group_id, kind,
    count(*) AS rebalances,
    round(sum(duration_ms) / 1000, 1) AS seconds,
    sum(partitions_moved) AS partitions_moved,
    sum(partitions_kept) AS partitions_kept,
    sum(partitions_ownerless) AS partitions_stopped,
    round(sum(partition_seconds_low), 1) AS partition_seconds_low,
    round(sum(partition_seconds), 1) AS partition_seconds,
    count(*) FILTER (partition_seconds IS NULL) AS of_unknown_cost
FROM gold.rebalances
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
GROUP BY cluster, group_id, kind
ORDER BY partition_seconds DESC NULLS LAST, cluster, group_id, kind;
