-- What did each owner's groups and topics suffer: rebalances and their cost, and partitions that could not be written?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH groups_hit AS (
    SELECT DISTINCT ON (owner, rebalance_id) owner, partition_seconds
    FROM gold.rebalances AS r JOIN now.owners AS o ON o.kind = 'group' AND r.group_id GLOB o.pattern
    WHERE started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, started_at)
),
topics_hit AS (
    SELECT DISTINCT ON (owner, unavailability_id) owner, date_diff('ms', started_at, ended_at) / 1000 AS seconds, ended_at
    FROM gold.unavailability AS u JOIN now.owners AS o ON o.kind = 'topic' AND u.topic GLOB o.pattern
    WHERE started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, started_at)
)
SELECT
    owner,
    count(*) FILTER (source = 'group') AS rebalances,
    round(sum(cost) FILTER (source = 'group'), 1) AS rebalance_partition_seconds,
    count(*) FILTER (source = 'topic') AS times_unavailable,
    round(sum(cost) FILTER (source = 'topic'), 1) AS unavailable_partition_seconds,
    count(*) FILTER (source = 'topic' AND is_open) AS not_over
FROM (
    SELECT owner, 'group' AS source, partition_seconds AS cost, false AS is_open FROM groups_hit
    UNION ALL
    SELECT owner, 'topic', seconds, ended_at IS NULL FROM topics_hit
)
GROUP BY owner
ORDER BY unavailable_partition_seconds DESC NULLS LAST, rebalance_partition_seconds DESC NULLS LAST, owner;
