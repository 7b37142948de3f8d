-- Which broker accounts for how many of all rebalances?
WITH every AS (SELECT cluster, count(*) AS rebalances FROM gold.rebalances GROUP BY cluster)
SELECT
    o.cluster, o.broker,
    count(*) AS outages,
    coalesce(sum(o.rebalances), 0)::BIGINT AS rebalances,
    any_value(every.rebalances) AS of_all
FROM gold.broker_outages AS o
JOIN every USING (cluster)
GROUP BY o.cluster, o.broker
ORDER BY rebalances DESC, o.cluster, o.broker;
