-- What did each owner's groups and topics suffer: rebalances and their cost, and partitions without a leader or writes?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH groups_hit AS (
    SELECT DISTINCT ON (owner, rebalance_id) owner, partition_seconds
    FROM gold.rebalances AS r JOIN now.owners AS o ON o.kind = 'group' AND r.group_id GLOB o.pattern
    WHERE started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, started_at)
),
topics_hit AS (
    SELECT DISTINCT ON (owner, u.unavailability_id) owner, best_ms / 1000 AS seconds, d.ended_at, d.kind
    FROM gold.unavailability AS u
    JOIN gold.durations AS d ON d.source = 'unavailability' AND d.id = u.unavailability_id
    JOIN now.owners AS o ON o.kind = 'topic' AND u.topic GLOB o.pattern
    WHERE is_noticed AND d.started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, d.started_at)
)
SELECT
    owner,
    count(*) FILTER (source = 'group') AS rebalances,
    round(sum(cost) FILTER (source = 'group'), 1) AS rebalance_partition_seconds,
    count(*) FILTER (source = 'no_leader') AS times_without_leader,
    round(sum(cost) FILTER (source = 'no_leader'), 1) AS leaderless_partition_seconds,
    count(*) FILTER (source LIKE 'acks_all_%') AS times_without_writes,
    round(sum(cost) FILTER (source LIKE 'acks_all_%'), 1) AS writeless_partition_seconds,
    count(*) FILTER (is_open) AS not_over
FROM (
    SELECT owner, 'group' AS source, partition_seconds AS cost, false AS is_open FROM groups_hit
    UNION ALL
    SELECT owner, kind, seconds, ended_at IS NULL FROM topics_hit
)
GROUP BY owner
ORDER BY leaderless_partition_seconds DESC NULLS LAST, rebalance_partition_seconds DESC NULLS LAST, owner;
