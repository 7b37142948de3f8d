-- What do gauges of each topic show at the newest reading: partitions, those short of a replica, those without a leader?
-- cluster: the cluster; every cluster where not set
SELECT
    cluster, topic, count(*) AS partitions,
    count(*) FILTER (len(isr) < len(replicas)) AS under_replicated_partitions,
    count(*) FILTER (leader IS NULL) AS offline_partitions
FROM now.partitions
WHERE cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
GROUP BY cluster, topic
ORDER BY cluster, under_replicated_partitions DESC, offline_partitions DESC, topic;
