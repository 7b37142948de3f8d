-- Who owned a partition at one instant, and since when?
-- at: the instant in UTC, such as 2026-11-20T03:15:20, or a time of the last day known; the last one where not set
-- group_id: the group; every group where not set
-- topic: the topic; every topic where not set
-- partition: the partition; every partition where not set
WITH asked AS (
    SELECT
        cluster, max(valid_to) AS last_known_at,
        coalesce(
            last_known_at::DATE + try_cast(getvariable('at') AS TIME), getvariable('at')::TIMESTAMPTZ, last_known_at
        ) AS asked_at
    FROM gold.ownership
    GROUP BY cluster
)
SELECT
    o.cluster, o.group_id, o.topic, o.partition, o.client_id, o.member_id, o.host,
    o.valid_from, o.valid_to, o.is_open, o.generation
FROM gold.ownership AS o
JOIN asked USING (cluster)
WHERE o.valid_from <= asked_at
    AND (o.valid_to > asked_at OR o.valid_to = last_known_at AND asked_at = last_known_at)
    AND o.group_id = coalesce(getvariable('group_id')::VARCHAR, o.group_id)
    AND o.topic = coalesce(getvariable('topic')::VARCHAR, o.topic)
    AND o.partition = coalesce(getvariable('partition')::INTEGER, o.partition)
ORDER BY o.cluster, o.group_id, o.topic, o.partition, o.valid_from, o.member_id;
