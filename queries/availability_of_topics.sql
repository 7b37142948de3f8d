-- For what share of the time did the partitions of each topic have a leader, night by night?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH topics AS (
    SELECT cluster, window_from, window_to, name AS topic, partitions, is_whole, first_at, last_at
    FROM gold.night_subjects
    WHERE kind = 'topic' AND window_from >= coalesce(getvariable('from')::TIMESTAMPTZ, window_from)
),
gaps AS (
    SELECT
        t.cluster, t.window_from, t.topic,
        sum(greatest(0, least(d.best_ms, date_diff('millisecond', d.started_at, t.last_at)))) / 1000 AS seconds,
        bool_or(d.best_ms IS NULL) AS is_least
    FROM topics AS t
    JOIN gold.unavailability AS u ON u.cluster = t.cluster AND u.topic = t.topic AND u.kind = 'no_leader'
    JOIN gold.durations AS d ON d.source = 'unavailability' AND d.id = u.unavailability_id
    WHERE d.started_at >= t.window_from AND d.started_at < t.window_to
    GROUP BY t.cluster, t.window_from, t.topic
)
-- The time is that from the first to the last reading or line of the topic. The share is null where not all partitions
-- are known, and at most so much where the logs of a broker could not show each time without a leader (is_at_most).
SELECT
    t.cluster, n.night, t.topic, t.partitions, t.is_whole,
    date_diff('second', t.first_at, t.last_at) AS observed_s,
    round(coalesce(g.seconds, 0), 1) AS leaderless_partition_seconds,
    CASE WHEN t.is_whole AND t.last_at > t.first_at THEN
        round(100 - 100 * coalesce(g.seconds, 0)
            / (t.partitions * date_diff('millisecond', t.first_at, t.last_at) / 1000), 3)
    END AS available_percent,
    coalesce(g.is_least, false) OR EXISTS (
        SELECT 1 FROM quality.witnesses AS w
        WHERE w.cluster = t.cluster AND w.kind = 'leaders' AND w.gap IS NOT NULL
            AND w.first_at < t.last_at AND w.last_at > t.first_at
    ) AS is_at_most
FROM topics AS t
JOIN gold.night_of AS n USING (cluster, window_from, window_to)
LEFT JOIN gaps AS g USING (cluster, window_from, topic)
ORDER BY n.night DESC, available_percent NULLS LAST, t.cluster, t.topic;
