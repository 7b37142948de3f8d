-- Which partitions have breaks in their leader epochs that nothing explains, so that failovers may have been missed?
SELECT
    cluster, topic, partition,
    count(*) AS breaks,
    count(*) FILTER (WHERE leader_before = leader_after) AS returns_possible,
    min(seen_at) AS first_seen_at,
    max(seen_at) AS last_seen_at
FROM quality.leadership_gaps
WHERE explained_by IS NULL
GROUP BY cluster, topic, partition
ORDER BY breaks DESC, cluster, topic, partition;
