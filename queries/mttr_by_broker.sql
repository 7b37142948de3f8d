-- How often was each broker away in each week, and after how long did it serve again?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
SELECT
    cluster, subject::INTEGER AS broker,
    date_trunc('week', started_at AT TIME ZONE 'UTC')::DATE AS week_from,
    count(*) AS absences,
    count(*) FILTER (kind = 'controlled_shutdown') AS by_shutdown,
    count(*) FILTER (ended_at IS NULL) AS not_back,
    round(avg(least_ms) FILTER (ended_at IS NOT NULL) / 1000, 1) AS mean_seconds_at_least,
    round(avg(best_ms) FILTER (ended_at IS NOT NULL) / 1000, 1) AS mean_seconds,
    CASE WHEN bool_and(most_ms IS NOT NULL) FILTER (ended_at IS NOT NULL)
        THEN round(avg(most_ms) FILTER (ended_at IS NOT NULL) / 1000, 1) END AS mean_seconds_at_most,
    round(max(best_ms) FILTER (ended_at IS NOT NULL) / 1000, 1) AS longest_seconds
FROM gold.durations
WHERE source = 'broker_outages'
    AND started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, started_at)
GROUP BY cluster, broker, week_from
ORDER BY week_from DESC, mean_seconds DESC NULLS LAST, cluster, broker;
