-- How many records waited because of each rebalance, until when, and what was its time spent on?
-- group_id: the group; every group where not set
SELECT
    r.cluster, r.group_id, r.started_at, r.cause, r.waited_for, r.incident_id,
    b.lag_before, b.lag_peak, b.backlog AS backlog_at_least, b.worked_off_at,
    round(epoch(b.worked_off_at - r.started_at), 1) AS worked_off_after_s,
    CASE WHEN b.rebalance_id IS NULL THEN 'not known: no readings of the lag before and after it' END AS not_known
FROM gold.rebalances AS r
LEFT JOIN gold.backlogs AS b USING (cluster, rebalance_id)
WHERE r.group_id = coalesce(getvariable('group_id')::VARCHAR, r.group_id)
ORDER BY b.backlog DESC NULLS LAST, r.started_at, r.rebalance_id;
