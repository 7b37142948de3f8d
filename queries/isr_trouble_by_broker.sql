-- Which brokers were out of ISRs, how often, for how long, and why?
-- broker: the broker; every broker where not set
SELECT
    cluster, broker, kind,
    count(*) AS out_of_sync_periods,
    count(*) FILTER (WHERE ended_at IS NULL) AS still_open,
    max(partitions) AS most_partitions,
    sum(flaps)::BIGINT AS lost_again,
    round(sum(partition_ms) / 1000, 1) AS partition_seconds,
    max(round(date_diff('ms', started_at, ended_at) / 1000, 1)) AS longest_seconds,
    max(records_behind) AS records_behind,
    min(started_at) AS first_at
FROM gold.out_of_sync_periods
WHERE broker = coalesce(getvariable('broker')::INTEGER, broker)
GROUP BY cluster, broker, kind
ORDER BY partition_seconds DESC, cluster, broker, kind;
