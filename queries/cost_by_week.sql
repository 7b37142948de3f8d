-- What did rebalances cost week by week, in partition-seconds, and how much of it was declared?
-- group_id: the group; every group where not set
SELECT
    r.cluster,
    strftime(date_trunc('week', r.started_at), '%Y-%m-%d') AS week_from,
    count(*) AS rebalances,
    count(*) FILTER (WHERE r.partition_seconds IS NULL) AS of_unknown_cost,
    round(sum(r.partition_seconds), 1) AS partition_seconds,
    round(sum(r.partition_seconds) FILTER (WHERE i.intent = 'declared'), 1) AS declared_partition_seconds
FROM gold.rebalances r
LEFT JOIN gold.incidents i ON i.cluster = r.cluster AND i.incident_id = r.incident_id
WHERE r.group_id = coalesce(getvariable('group_id')::VARCHAR, r.group_id)
GROUP BY 1, 2
ORDER BY 1, 2;
