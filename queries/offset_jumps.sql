-- Which groups skipped records or read some again, how many at least and at most, and why, the most first?
-- group_id: the consumer group; every group where not set
SELECT
    cluster, group_id, cause, actor, harm,
    min(jumped_at) AS first_at, max(jumped_at) AS last_at,
    count(*) AS jumps,
    count(DISTINCT (topic, partition)) AS partitions,
    sum(records_low)::BIGINT AS records_low,
    CASE WHEN count(*) = count(records_high) THEN sum(records_high)::BIGINT END AS records_high,
    max(confidence) AS least_sure
FROM gold.offset_jumps
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
GROUP BY cluster, group_id, cause, actor, harm
ORDER BY records_low DESC, records_high DESC NULLS FIRST, cluster, group_id, cause, harm;
