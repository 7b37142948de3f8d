-- Which brokers were slow rather than dead, and who says so?
SELECT
    cluster, suspected_broker AS broker,
    count(*) AS out_of_sync_periods,
    count(*) FILTER (WHERE confidence = 'possible') AS of_doubt,
    array_to_string(list_sort(list_distinct(flatten(list(removed_by_leader)))), ', ') AS removed_by_leader,
    array_to_string(list_sort(list_distinct(list(broker))), ', ') AS fell_out,
    max(partitions) AS most_partitions,
    max(records_behind) AS records_behind,
    round(sum(partition_ms) / 1000, 1) AS partition_seconds,
    min(started_at) AS first_at,
    max(coalesce(ended_at, started_at)) AS last_at
FROM gold.out_of_sync_periods
WHERE kind = 'slow'
GROUP BY cluster, suspected_broker
ORDER BY partition_seconds DESC, cluster, broker;
