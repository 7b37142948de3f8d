-- Which elections may have lost records, how many at least and at most, and who cut its log over it?
-- topic: the topic; every topic where not set
SELECT
    f.cluster, f.topic, f.partition, f.happened_at, f.leader_from, f.leader_to,
    f.records_lost_low, f.records_lost_high, f.confidence,
    string_agg(t.broker || ': ' || t.truncated_to, ', ' ORDER BY t.happened_at, t.broker) AS cut_to_by_broker,
    f.explanation
FROM gold.failovers AS f
LEFT JOIN gold.truncations AS t USING (cluster, failover_id)
WHERE f.kind = 'unclean_election'
    AND f.topic = coalesce(getvariable('topic')::VARCHAR, f.topic)
GROUP BY ALL
ORDER BY f.records_lost_low DESC, f.records_lost_high DESC NULLS FIRST, f.cluster, f.topic, f.partition, f.happened_at;
