-- What are the figures of each night: those of the first screen of its report?
-- cluster: the cluster; every cluster where not set
SELECT
    cluster, window_from, window_to,
    records_lost_low, records_lost_high,
    partitions_offline, partitions_still_offline, offline_ms, offline_partition_seconds, partitions_refusing,
    sudden_absences, orderly_absences, groups_stopped,
    findings_critical, findings_warning,
    rebalances, round(partition_seconds, 1) AS partition_seconds,
    lines_in, lines_unread
FROM quality.nights
WHERE cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
ORDER BY window_from DESC, cluster;
