-- How many partitions does each broker lead at the newest reading, and how many that it is preferred for does it not?
-- cluster: the cluster; every cluster where not set
SELECT
    b.cluster, b.broker, b.rack,
    count(*) FILTER (p.leader = b.broker) AS leads,
    count(*) FILTER (p.preferred_leader = b.broker) AS preferred_for,
    count(*) FILTER (p.preferred_leader = b.broker AND p.leader IS DISTINCT FROM b.broker) AS led_elsewhere,
    count(*) FILTER (list_contains(p.replicas, b.broker) AND NOT list_contains(p.isr, b.broker)) AS out_of_sync,
    max(b.snapshot_at) AS read_at
FROM now.brokers AS b
LEFT JOIN now.partitions AS p USING (cluster, snapshot_at)
WHERE b.cluster = coalesce(getvariable('cluster')::VARCHAR, b.cluster)
GROUP BY b.cluster, b.broker, b.rack
ORDER BY b.cluster, b.broker;
