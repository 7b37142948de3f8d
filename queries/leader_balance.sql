-- How even were leaders, coordinators and groups at the last reading of each cluster, by the definitions people use?
-- cluster: the cluster; every cluster where not set
WITH readings AS (
    SELECT cluster, snapshot_id, snapshot_at FROM bronze.partition_snapshots
    WHERE cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
    QUALIFY row_number() OVER (PARTITION BY cluster ORDER BY snapshot_at DESC) = 1
),
brokers AS (SELECT * FROM bronze.broker_snapshots SEMI JOIN readings USING (cluster, snapshot_id)),
partitions AS (SELECT * FROM bronze.partition_snapshots SEMI JOIN readings USING (cluster, snapshot_id)),
groups AS (SELECT * FROM bronze.group_snapshots SEMI JOIN readings USING (cluster, snapshot_id)),
-- A scope: all; all without Kafka's own topics; or a rack, with the partitions that it is preferred for.
scoped_partitions AS (
    SELECT p.*, unnest(['all', if(p.is_internal, NULL, 'without_internal'), 'rack:' || b.rack]) AS scope
    FROM partitions AS p
    LEFT JOIN brokers AS b ON (b.cluster, b.broker) = (p.cluster, p.preferred_leader)
),
leaders AS (
    SELECT
        cluster, scope, count(*) AS partitions,
        count(*) FILTER (leader IS NULL) AS leaderless,
        count(*) FILTER (leader <> preferred_leader) AS non_preferred
    FROM scoped_partitions
    GROUP BY cluster, scope
),
scoped_brokers AS (SELECT *, unnest(['all', 'without_internal', 'rack:' || rack]) AS scope FROM brokers),
loads AS (
    SELECT
        b.cluster, b.snapshot_at, b.scope, b.broker,
        count(p.topic) AS leads,
        count(*) FILTER (p.topic = '__consumer_offsets') AS coordinates,
        (SELECT count(*) FROM groups AS g WHERE (g.cluster, g.coordinator) = (b.cluster, b.broker)) AS groups
    FROM scoped_brokers AS b
    LEFT JOIN partitions AS p
        ON (p.cluster, p.leader) = (b.cluster, b.broker) AND NOT (b.scope = 'without_internal' AND p.is_internal)
    GROUP BY b.cluster, b.snapshot_at, b.scope, b.broker
)
SELECT
    cluster, scope, snapshot_at, partitions, leaderless, non_preferred,
    -- One less Kafdrop's preferred leaders percent.
    round(non_preferred / nullif(partitions - leaderless, 0), 3) AS non_preferred_share,
    count(*) AS brokers, max(leads) AS leaders_max, min(leads) AS leaders_min,
    -- Kafkistry warns above 0.10.
    round((max(leads) - min(leads)) / nullif(avg(leads), 0), 3) AS leader_spread,
    -- kafka-ui's skew of the worst broker.
    round(max(leads) / nullif(avg(leads), 0) - 1, 3) AS leader_excess,
    -- Cruise Control: leader.replica.count.balance.threshold 1.10 with its margin of 0.9.
    len(list_filter(list(leads), lambda n: abs(n - list_avg(list(leads))) > 0.09 * list_avg(list(leads)))) AS brokers_off_band,
    round((max(coordinates) - min(coordinates)) / nullif(avg(coordinates), 0), 3) AS coordinator_spread,
    round((max(groups) - min(groups)) / nullif(avg(groups), 0), 3) AS group_spread,
    arg_max(broker, (leads, -broker)) AS most_loaded_broker,
    arg_min(broker, (leads, broker)) AS least_loaded_broker
FROM loads
JOIN leaders USING (cluster, scope)
GROUP BY ALL
ORDER BY cluster, scope;
