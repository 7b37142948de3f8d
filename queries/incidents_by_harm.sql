-- What happened, the most harmful first: what it was, what it did, and what to do about it?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
-- harm: only this harm, such as broker_lost
SELECT
    cluster, started_at, harm, is_over, intent, headline,
    records_lost_low, records_lost_high,
    partitions_offline, round(offline_ms / 1000, 1) AS offline_s,
    rebalance_count AS rebalances, round(partition_seconds, 1) AS partition_seconds,
    confidence, advice, incident_id
FROM gold.incidents
WHERE started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, started_at)
    AND harm IS NOT DISTINCT FROM coalesce(getvariable('harm')::VARCHAR, harm)
ORDER BY date_trunc('day', started_at) DESC, cluster, harm_rank;
