-- How even were leaders, coordinators and groups at the last reading of each cluster, by each definition people use?
SELECT
    cluster, scope, snapshot_at, partitions, leaderless, non_preferred,
    round(non_preferred_share, 3) AS non_preferred_share,
    brokers, leaders_max, leaders_min,
    round(leader_spread, 3) AS leader_spread,
    round(leader_excess, 3) AS leader_excess,
    brokers_off_band,
    round(coordinator_spread, 3) AS coordinator_spread,
    round(group_spread, 3) AS group_spread,
    most_loaded_broker, least_loaded_broker
FROM gold.leader_balance
QUALIFY snapshot_at = max(snapshot_at) OVER (PARTITION BY cluster)
ORDER BY cluster, scope;
