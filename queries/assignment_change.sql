-- Who owned what before and after a rebalance, and what did each member gain and lose?
-- group_id: the group; every group where not set
-- at: the rebalance that had begun by this instant in UTC, such as 2026-11-20T03:15:20, or a time of the last day known; the last one where not set
WITH asked AS (
    SELECT
        cluster, max(started_at) AS last_known_at,
        coalesce(
            last_known_at::DATE + try_cast(getvariable('at') AS TIME), getvariable('at')::TIMESTAMPTZ, last_known_at
        ) AS asked_at
    FROM gold.rebalances
    GROUP BY cluster
),
chosen AS (
    SELECT r.*
    FROM gold.rebalances AS r
    JOIN asked USING (cluster)
    WHERE r.started_at <= asked_at AND r.group_id = coalesce(getvariable('group_id')::VARCHAR, r.group_id)
    QUALIFY row_number() OVER (PARTITION BY r.cluster, r.group_id ORDER BY r.started_at DESC, r.rebalance_id) = 1
)
-- Where it is not known, `not_known` says which witness would show it.
SELECT
    c.cluster, c.group_id, c.started_at, c.kind, c.cause, c.to_generation AS generation,
    coalesce(a.client_id, a.member_id) AS member,
    array_to_string(list_transform(a.before, lambda p: format('{}-{}', p.topic, p.partition)), ', ') AS before,
    array_to_string(list_transform(a.after, lambda p: format('{}-{}', p.topic, p.partition)), ', ') AS after,
    array_to_string(list_transform(a.gained, lambda p: format('{}-{}', p.topic, p.partition)), ', ') AS gained,
    array_to_string(list_transform(a.lost, lambda p: format('{}-{}', p.topic, p.partition)), ', ') AS lost,
    c.partitions_moved, c.partitions_kept, c.partitions_ownerless, c.not_known, a.member_id, c.rebalance_id
FROM chosen AS c
LEFT JOIN gold.assignment_changes AS a USING (rebalance_id)
ORDER BY c.cluster, c.group_id, member, a.member_id;
