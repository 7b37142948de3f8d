-- Which groups have gaps in their generations that nothing explains, so that rebalances may have been missed?
SELECT
    cluster, group_id,
    count(*) AS gaps,
    sum(next_generation - after_generation - 1) AS generations_missing,
    min(seen_at) AS first_seen_at,
    max(seen_at) AS last_seen_at
FROM quality.generation_gaps
WHERE explained_by IS NULL
GROUP BY cluster, group_id
ORDER BY gaps DESC, cluster, group_id;
