-- Which groups rebalanced in a loop, and what does its rhythm resemble?
-- group_id: only this group
SELECT
    cluster, group_ids[1] AS group_id, started_at, ended_at,
    rebalance_count AS rebalances,
    cause, fingerprint,
    explanation
FROM gold.incidents
WHERE kind = 'storm' AND group_ids[1] = coalesce(getvariable('group_id')::VARCHAR, group_ids[1])
ORDER BY rebalance_count DESC, started_at, incident_id;
