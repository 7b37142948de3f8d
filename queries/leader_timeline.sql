-- Who led a partition, from when to when, and why did its leader change?
-- topic: the topic; every topic where not set
-- partition: the partition; every partition where not set
SELECT
    cluster, topic, partition,
    leader_to AS leader,
    happened_at AS led_from,
    lead(happened_at) OVER (PARTITION BY cluster, topic, partition ORDER BY topic_incarnation, epoch_to, happened_at) AS led_until,
    kind, confidence, leader_from AS leader_before, epoch_to AS leader_epoch,
    leaderless_ms, records_lost_low, records_lost_high
FROM gold.failovers
WHERE topic = coalesce(getvariable('topic')::VARCHAR, topic)
    AND partition = coalesce(getvariable('partition')::INTEGER, partition)
ORDER BY cluster, topic, partition, topic_incarnation, epoch_to, happened_at;
