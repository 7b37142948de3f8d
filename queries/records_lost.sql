-- Which elections and cuts lost records, or may have, how many at least and at most, and who cut its log?
-- topic: the topic; every topic where not set
WITH cuts AS (
    -- Of the records that a replica cut, those below the high watermark were committed.
    SELECT
        *,
        CASE
            WHEN verdict <> 'committed_lost' THEN 0
            WHEN is_whole THEN 1
            ELSE greatest(coalesce(high_watermark - truncated_to, 1), 1)
        END AS least_lost
    FROM gold.truncations
),
harmful_cuts AS (
    SELECT
        cluster, incident_id, topic, partition, max(least_lost) AS least_lost,
        arg_max(failover_id, least_lost) AS failover_id
    FROM cuts
    WHERE verdict = 'committed_lost'
    GROUP BY ALL
),
elections AS (
    -- The records that a replica cut are part of what the elections of its incident lost. Those that no election is
    -- known to have lost count for the election that made it cut, else for the first.
    SELECT
        f.* REPLACE (
            f.records_lost_low
            + CASE
                WHEN row_number() OVER ordered > 1 OR f.records_lost_high = 0 THEN 0
                ELSE greatest(coalesce(c.least_lost, 0) - sum(f.records_lost_low) OVER lossy, 0)
            END AS records_lost_low
        )
    FROM gold.failovers AS f
    LEFT JOIN harmful_cuts AS c ON
        c.cluster = f.cluster AND c.topic = f.topic AND c.partition = f.partition
        AND c.incident_id IS NOT DISTINCT FROM f.incident_id
    WHERE f.records_lost_low IS NOT NULL
    WINDOW
        lossy AS (PARTITION BY f.cluster, f.incident_id, f.topic, f.partition, f.records_lost_high IS DISTINCT FROM 0),
        ordered AS (
            PARTITION BY f.cluster, f.incident_id, f.topic, f.partition, f.records_lost_high IS DISTINCT FROM 0
            ORDER BY f.failover_id IS NOT DISTINCT FROM c.failover_id DESC, f.happened_at, f.failover_id
        )
),
lost AS (
    SELECT
        f.cluster, f.incident_id, f.topic, f.partition, f.happened_at, f.leader_from, f.leader_to, f.records_lost_low,
        greatest(f.records_lost_high, CASE WHEN f.records_lost_high IS NOT NULL THEN f.records_lost_low END)
            AS records_lost_high,
        f.confidence,
        string_agg(t.broker || ': ' || t.truncated_to, ', ' ORDER BY t.happened_at, t.broker) AS cut_to_by_broker,
        f.explanation
    FROM elections AS f
    LEFT JOIN gold.truncations AS t USING (cluster, failover_id)
    GROUP BY ALL
    UNION ALL BY NAME
    -- An election that lost records counts the cuts that its incident has of its partition. Replicas that cut their
    -- logs to the same offset cut the same records.
    SELECT
        t.cluster, t.incident_id, t.topic, t.partition, min(t.happened_at) AS happened_at,
        any_value(t.leader) AS leader_to,
        max(t.least_lost) AS records_lost_low,
        CASE
            WHEN count(t.records_cut) < count(*) THEN NULL
            WHEN count(DISTINCT t.truncated_to) = 1 THEN max(t.records_cut)
            ELSE sum(t.records_cut)
        END AS records_lost_high,
        max(t.confidence) AS confidence,
        string_agg(t.broker || ': ' || t.truncated_to, ', ' ORDER BY t.happened_at, t.broker) AS cut_to_by_broker,
        arg_min(t.explanation, t.happened_at) AS explanation
    FROM cuts AS t
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
