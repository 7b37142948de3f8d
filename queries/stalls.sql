-- Which partitions stood still or fell behind while they had an owner, since when, and what else did that owner do?
-- group_id: the group; every group where not set
-- topic: the topic; every topic where not set
SELECT
    cluster, group_id, topic, partition, kind, confidence, started_low, started_at, ended_at,
    lag_first, lag_max, read_pace, write_pace, coalesce(client_id, member_id) AS owner, generation,
    moving_partitions AS others_moving, idle_partitions AS others_idle, owned_partitions - 1 AS others, explanation
FROM gold.partition_stalls
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
    AND topic = coalesce(getvariable('topic')::VARCHAR, topic)
ORDER BY started_at, group_id, topic, partition;
