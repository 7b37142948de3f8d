-- How many records waited because of each rebalance or outage, until when, and what was its time spent on?
-- group_id: the group; every group where not set
WITH backlogs AS (
    SELECT
        r.cluster, r.group_id, r.started_at, r.cause::VARCHAR AS cause, r.waited_for, r.incident_id, b.lag_before,
        b.lag_peak, b.backlog, b.worked_off_at,
        CASE WHEN b.rebalance_id IS NULL THEN 'not known: no readings of the lag before and after it' END AS not_known,
        r.rebalance_id AS cause_id
    FROM gold.rebalances AS r
    LEFT JOIN gold.backlogs AS b USING (cluster, rebalance_id)
    UNION ALL BY NAME
    SELECT
        b.cluster, b.group_id, b.started_at, concat('broker ', o.broker, ' away, no rebalance') AS cause, o.incident_id,
        b.lag_before, b.lag_peak, b.backlog, b.worked_off_at, b.outage_id AS cause_id
    FROM gold.backlogs AS b
    JOIN gold.broker_outages AS o USING (cluster, outage_id)
)
SELECT
    cluster, group_id, started_at, cause, waited_for, incident_id, lag_before, lag_peak, backlog AS backlog_at_least,
    worked_off_at, round(epoch(worked_off_at - started_at), 1) AS worked_off_after_s, not_known
FROM backlogs
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
ORDER BY backlog DESC NULLS LAST, started_at, cause_id;
