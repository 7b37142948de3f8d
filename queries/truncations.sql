-- Which replicas cut their logs, by how much, and did anything committed go with it?
-- topic: the topic; every topic where not set
SELECT
    cluster, topic, partition, broker, happened_at, leader, leader_epoch,
    log_end_before, truncated_to, records_cut, high_watermark,
    verdict, confidence, explanation
FROM gold.truncations
WHERE topic = coalesce(getvariable('topic')::VARCHAR, topic)
ORDER BY
    list_position(['committed_lost', 'unknown', 'nothing_committed_lost'], verdict),
    happened_at, cluster, topic, partition, broker;
