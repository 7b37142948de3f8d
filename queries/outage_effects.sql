-- What did each outage of a broker do to partitions and groups?
-- broker: the broker's id; every broker where not set
WITH led AS (
    SELECT
        cluster, outage_id,
        count(*) AS failovers,
        count(*) FILTER (WHERE leader_to = -1) AS left_without_leader,
        sum(records_lost_low) AS records_lost_low,
        sum(records_lost_high) AS records_lost_high
    FROM gold.failovers
    WHERE outage_id IS NOT NULL
    GROUP BY ALL
),
unused AS (
    SELECT
        cluster, outage_id,
        max(coalesce(date_sub('ms', started_at, ended_at), low_ms)) FILTER (confidence IN ('certain', 'likely'))
            AS longest_leaderless_ms
    FROM gold.unavailability
    WHERE outage_id IS NOT NULL AND kind = 'no_leader'
    GROUP BY ALL
),
moved AS (
    SELECT cluster, outage_id, count(*) AS coordinator_moves
    FROM gold.coordinator_moves
    WHERE outage_id IS NOT NULL
    GROUP BY ALL
)
SELECT
    o.cluster, o.broker, o.kind, o.intent, o.confidence, o.down_at,
    round(date_diff('ms', o.down_at, o.detected_at) / 1000, 1) AS seconds_to_detect,
    round(date_diff('ms', o.down_at, o.up_at) / 1000, 1) AS seconds_down,
    round(date_diff('ms', o.down_at, o.isr_recovered_at) / 1000, 1) AS seconds_to_full_isr,
    round(date_diff('ms', o.down_at, o.leadership_restored_at) / 1000, 1) AS seconds_to_old_leadership,
    coalesce(led.failovers, 0) AS failovers,
    coalesce(led.left_without_leader, 0) AS left_without_leader,
    unused.longest_leaderless_ms, led.records_lost_low, led.records_lost_high,
    coalesce(moved.coordinator_moves, 0) AS coordinator_moves,
    coalesce(o.rebalances, 0) AS rebalances,
    round(o.partition_seconds, 1) AS partition_seconds,
    array_to_string(o.group_ids, ', ') AS groups_concerned
FROM gold.broker_outages AS o
LEFT JOIN led USING (cluster, outage_id)
LEFT JOIN unused USING (cluster, outage_id)
LEFT JOIN moved USING (cluster, outage_id)
WHERE o.broker = coalesce(getvariable('broker')::INTEGER, o.broker)
ORDER BY o.down_at, o.cluster, o.broker;
