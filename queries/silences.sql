-- What silenced the members that groups lost: the network, a pause, a slow handler or their coordinator?
-- group_id: the group; every group where not set
SELECT
    cluster, group_id, client_id, host, silence, silence_confidence,
    count(*) AS times,
    min(started_at) AS first_at,
    max(started_at) AS last_at
FROM gold.rebalances
WHERE silence IS NOT NULL AND group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
GROUP BY cluster, group_id, client_id, host, silence, silence_confidence
ORDER BY times DESC, cluster, group_id, client_id, silence, silence_confidence;
