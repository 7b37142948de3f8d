-- Who owned a partition at one minute, and since when?
-- at: the minute in UTC, such as 2026-11-20 03:15; the last one known where not set
-- group_id: the group; every group where not set
-- topic: the topic; every topic where not set
-- partition: the partition; every partition where not set
WITH asked AS (
    SELECT
        cluster,
        date_trunc('minute', coalesce(getvariable('at')::TIMESTAMPTZ, max(valid_to))) AS minute
    FROM gold.ownership
    GROUP BY cluster
)
SELECT
    o.cluster, o.group_id, o.topic, o.partition, o.client_id, o.member_id, o.host,
    o.valid_from, o.valid_to, o.is_open, o.generation
FROM gold.ownership AS o
JOIN asked USING (cluster)
WHERE o.valid_from < minute + INTERVAL 1 MINUTE
    AND o.valid_to >= minute
    AND o.group_id = coalesce(getvariable('group_id')::VARCHAR, o.group_id)
    AND o.topic = coalesce(getvariable('topic')::VARCHAR, o.topic)
    AND o.partition = coalesce(getvariable('partition')::INTEGER, o.partition)
ORDER BY o.cluster, o.group_id, o.topic, o.partition, o.valid_from, o.member_id;
