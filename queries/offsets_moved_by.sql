-- Who moved the offsets of groups, from where to where, and why, the newest first?
-- group_id: the consumer group; every group where not set
SELECT
    cluster, group_id, topic, partition, jumped_at, resumed_at, actor, cause, client_id, policy,
    offset_from, offset_to, records_low, records_high, harm, confidence, explanation, incident_id
FROM gold.offset_jumps
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
ORDER BY jumped_at DESC, cluster, group_id, topic, partition;
