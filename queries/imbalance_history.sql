-- How did the imbalance of leaders go, broker by broker, and when was it over the threshold?
-- broker: the broker; every broker where not set
SELECT
    cluster, broker, snapshot_at, origin,
    preferred_partitions, led_elsewhere, unknown_partitions,
    round(ratio, 3) AS ratio,
    over_threshold
FROM gold.leader_imbalance
WHERE broker = coalesce(getvariable('broker')::INTEGER, broker)
-- A reading that repeats the one before it adds nothing.
QUALIFY (preferred_partitions, led_elsewhere, unknown_partitions) IS DISTINCT FROM
    lag((preferred_partitions, led_elsewhere, unknown_partitions)) OVER (PARTITION BY cluster, broker ORDER BY snapshot_at)
ORDER BY cluster, broker, snapshot_at;
