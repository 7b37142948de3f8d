-- Which groups rebalanced because of deployments, how often, and what share of all their rebalances was that?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH asked AS (
    SELECT r.*, i.kind = 'rolling_restart' AS deployed
    FROM gold.rebalances AS r
    LEFT JOIN gold.incidents AS i USING (cluster, incident_id)
    WHERE r.started_at >= coalesce(getvariable('from')::TIMESTAMPTZ, r.started_at)
)
SELECT
    cluster, group_id,
    count(DISTINCT incident_id) FILTER (deployed) AS deployments,
    count(*) FILTER (deployed) AS rebalances,
    count(*) AS of_all,
    round(sum(duration_ms) FILTER (deployed) / 1000, 1) AS seconds,
    round(sum(partition_seconds) FILTER (deployed), 1) AS partition_seconds,
    array_to_string(list_sort(list(DISTINCT client_id) FILTER (deployed AND client_id IS NOT NULL)), ', ') AS clients,
    max(started_at) FILTER (deployed) AS last_at
FROM asked
GROUP BY cluster, group_id
HAVING count(*) FILTER (deployed) > 0
ORDER BY rebalances DESC, cluster, group_id;
