-- How do nights differ by the version of Kafka that the brokers ran?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH brokers AS (
    SELECT
        cluster, window_from, window_to, date_diff('second', first_at, last_at) / 3600 AS hours,
        last_value(versions[-1] IGNORE NULLS) OVER (PARTITION BY cluster, name ORDER BY window_from) AS version
    FROM gold.night_subjects
    WHERE kind = 'broker'
),
-- A broker has the version of its last start that a log shows: it changes by a restart alone.
nights AS (
    SELECT
        cluster, window_from, window_to, sum(hours) AS broker_hours,
        string_agg(DISTINCT coalesce(version, 'unknown'), ', ' ORDER BY coalesce(version, 'unknown')) AS versions
    FROM brokers
    GROUP BY cluster, window_from, window_to
)
SELECT
    n.cluster, n.versions, count(*) AS nights, min(n.window_from) AS first_night,
    round(sum(n.broker_hours), 1) AS broker_hours,
    sum(s.rebalances)::BIGINT AS rebalances, round(sum(s.partition_seconds), 1) AS partition_seconds,
    round(sum(s.offline_partition_seconds), 1) AS offline_partition_seconds,
    sum(s.sudden_absences)::BIGINT AS sudden_absences, sum(s.records_lost_low)::BIGINT AS records_lost_low,
    count(*) FILTER (len(s.not_known) > 0) AS nights_in_part
FROM nights AS n
JOIN quality.nights AS s USING (cluster, window_from, window_to)
WHERE n.window_from >= coalesce(getvariable('from')::TIMESTAMPTZ, n.window_from)
GROUP BY n.cluster, n.versions
ORDER BY n.cluster, first_night;
