-- Which broker accounts for how many of all rebalances?
WITH every AS (SELECT cluster, count(*) AS rebalances FROM gold.rebalances GROUP BY cluster)
SELECT
    o.cluster, o.broker,
    count(DISTINCT o.outage_id) AS outages,
    coalesce(sum(i.rebalance_count), 0)::BIGINT AS rebalances,
    any_value(every.rebalances) AS of_all
FROM gold.broker_outages AS o
JOIN every USING (cluster)
LEFT JOIN gold.incidents AS i ON i.cluster = o.cluster AND i.outage_id = o.outage_id
GROUP BY o.cluster, o.broker
ORDER BY rebalances DESC, o.cluster, o.broker;
