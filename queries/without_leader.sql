-- Which partitions were without a leader at one minute, since when and until when, and whose absence was behind it?
-- at: the minute in UTC, such as 2026-11-20 02:13; every time that is known where not set
-- topic: the topic; every topic where not set
WITH led AS (
    SELECT
        *,
        lag(happened_at) OVER turns AS led_before_at,
        lead(happened_at) OVER turns AS led_next_at,
        topic_incarnation < max(topic_incarnation) OVER (PARTITION BY cluster, topic) AS is_over
    FROM gold.failovers
    WINDOW turns AS (PARTITION BY cluster, topic, partition, topic_incarnation ORDER BY epoch_to, happened_at)
),
topics AS (
    -- A controller that starts logs old creations and deletions again, in their order: the last word is the state.
    SELECT
        cluster, topic,
        arg_max(kind, (happened_at, "order")) = 'topic_deleted' AS is_gone,
        list(happened_at ORDER BY happened_at) FILTER (kind = 'topic_deleted') AS deletions
    FROM silver.events
    WHERE kind IN ('topic_created', 'partition_created', 'topic_deleted')
    GROUP BY ALL
),
imbalance_periods AS (
    SELECT
        led.*,
        leader_to = -1 AND (is_over OR coalesce(is_gone AND list_last(deletions) >= happened_at, false)) AS was_deleted,
        CASE WHEN leader_to <> -1 THEN happened_at
            -- Deleted more than once: which of the lines showed it first is not known.
            WHEN was_deleted AND deletions[1] >= happened_at THEN deletions[1] END AS until,
        CASE WHEN leader_to = -1 THEN happened_at
            WHEN coalesce(leaderless_ms, leaderless_low_ms) IS NOT NULL
            THEN happened_at - to_milliseconds(coalesce(leaderless_ms, leaderless_low_ms))
            ELSE led_before_at END AS since,
        coalesce(happened_at - to_milliseconds(leaderless_high_ms), since) AS since_at_earliest,
        CASE WHEN leader_to = -1 THEN happened_at
            ELSE happened_at - to_milliseconds(leaderless_low_ms) END AS since_at_latest
    FROM led
    LEFT JOIN topics USING (cluster, topic)
    -- A leader that was found, after a time that a witness shows; or none, and none since.
    WHERE (leader_to <> -1 AND (coalesce(leaderless_ms, leaderless_low_ms) > 0 OR leader_from = -1))
        OR (leader_to = -1 AND led_next_at IS NULL)
)
SELECT
    s.cluster, s.topic, s.partition, s.kind, s.leader_from AS leader_before,
    s.since, s.until, round(date_diff('ms', s.since, s.until) / 1000, 1) AS seconds,
    CASE WHEN s.leader_to <> -1 THEN 'leader' WHEN s.was_deleted THEN 'topic deleted' END AS ended_by,
    s.since_at_earliest, s.since_at_latest,
    nullif(s.leader_to, -1) AS leader_after,
    o.broker AS outage_of, s.confidence
FROM imbalance_periods AS s
LEFT JOIN gold.broker_outages AS o USING (cluster, outage_id)
WHERE s.topic = coalesce(getvariable('topic')::VARCHAR, s.topic)
    AND (getvariable('at') IS NULL OR (
        s.since_at_earliest < date_trunc('minute', getvariable('at')::TIMESTAMPTZ) + INTERVAL 1 MINUTE
        AND (s.until IS NULL OR s.until >= date_trunc('minute', getvariable('at')::TIMESTAMPTZ))
    ))
ORDER BY s.since, s.cluster, s.topic, s.partition, s.happened_at;
