-- Which elections and cuts lost records, or may have, how many at least and at most, and who cut its log?
-- topic: the topic; every topic where not set
WITH lost AS (
    SELECT
        f.cluster, f.incident_id, f.topic, f.partition, f.happened_at, f.leader_from, f.leader_to,
        f.records_lost_low, f.records_lost_high, f.confidence,
        string_agg(t.broker || ': ' || t.truncated_to, ', ' ORDER BY t.happened_at, t.broker) AS cut_to_by_broker,
        f.explanation
    FROM gold.failovers AS f
    LEFT JOIN gold.truncations AS t USING (cluster, failover_id)
    WHERE f.records_lost_low IS NOT NULL
    GROUP BY ALL
    UNION ALL BY NAME
    -- An election that lost records counts the cuts that its incident has of its partition. Replicas that cut their
    -- logs to the same offset cut the same records.
    SELECT
        t.cluster, t.incident_id, t.topic, t.partition, min(t.happened_at) AS happened_at,
        any_value(t.leader) AS leader_to,
        coalesce(max(coalesce(t.records_cut, 1)) FILTER (t.verdict = 'committed_lost'), 0) AS records_lost_low,
        CASE
            WHEN count(t.records_cut) < count(*) THEN NULL
            WHEN count(DISTINCT t.truncated_to) = 1 THEN max(t.records_cut)
            ELSE sum(t.records_cut)
        END AS records_lost_high,
        max(t.confidence) AS confidence,
        string_agg(t.broker || ': ' || t.truncated_to, ', ' ORDER BY t.happened_at, t.broker) AS cut_to_by_broker,
        arg_min(t.explanation, t.happened_at) AS explanation
    FROM gold.truncations AS t
    WHERE t.verdict <> 'nothing_committed_lost' AND NOT EXISTS (
        FROM gold.failovers AS f
        WHERE f.cluster = t.cluster AND f.topic = t.topic AND f.partition = t.partition
            AND f.incident_id IS NOT DISTINCT FROM t.incident_id AND f.records_lost_low IS NOT NULL
            AND (t.verdict = 'unknown' OR f.records_lost_high IS DISTINCT FROM 0)
    )
    GROUP BY ALL
)
SELECT
    cluster, topic, partition, happened_at, leader_from, leader_to, records_lost_low, records_lost_high, confidence,
    cut_to_by_broker, explanation, incident_id
FROM lost
WHERE topic = coalesce(getvariable('topic')::VARCHAR, topic)
ORDER BY records_lost_low DESC, records_lost_high DESC NULLS FIRST, cluster, topic, partition, happened_at;
