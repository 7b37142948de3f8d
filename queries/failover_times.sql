-- How long does a failover take here, by its kind: how long had the partition no leader?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
SELECT
    cluster, kind,
    count(*) AS failovers,
    count(*) FILTER (leaderless_ms IS NULL) AS of_unknown_length,
    round(quantile_cont(leaderless_ms, 0.5) / 1000, 2) AS median_seconds,
    round(quantile_cont(leaderless_ms, 0.95) / 1000, 2) AS p95_seconds,
    round(max(leaderless_ms) / 1000, 2) AS longest_seconds,
    round(max(leaderless_high_ms) / 1000, 2) AS longest_at_most,
    max_by(topic || '-' || partition, leaderless_ms) AS longest_of
FROM gold.failovers
WHERE leader_to <> -1
    AND happened_at >= coalesce(getvariable('from')::TIMESTAMPTZ, happened_at)
GROUP BY cluster, kind
ORDER BY longest_seconds DESC NULLS LAST, cluster, kind;
