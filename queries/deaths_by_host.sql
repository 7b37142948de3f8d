-- On which hosts do members of groups die or fall silent, how often, and in which groups?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH hosts AS (
    SELECT cluster, member_id, any_value(host) AS known_host
    FROM gold.ownership
    WHERE host IS NOT NULL
    GROUP BY ALL
),
acts AS (
    SELECT cluster, group_id, started_at AS happened_at, cause, client_id, member_id, host FROM gold.rebalances
    UNION ALL
    SELECT cluster, group_id, act."at", act.cause, act.client_id, act.member_id, NULL
    FROM (SELECT cluster, group_id, unnest(contributors) AS act FROM gold.rebalances)
)
SELECT
    a.cluster, coalesce(a.host, h.known_host) AS host,
    count(*) FILTER (a.cause = 'member_dead') AS died,
    count(*) FILTER (a.cause = 'heartbeat_expired') AS fell_silent,
    count(*) FILTER (a.cause = 'session_ended') AS closed_or_died,
    count(DISTINCT a.client_id) AS clients,
    array_to_string(list_sort(list_distinct(list(a.group_id))), ', ') AS groups,
    min(a.happened_at) AS first_at,
    max(a.happened_at) AS last_at
FROM acts AS a
LEFT JOIN hosts AS h USING (cluster, member_id)
WHERE a.cause IN ('member_dead', 'heartbeat_expired', 'session_ended')
    AND a.happened_at >= coalesce(getvariable('from')::TIMESTAMPTZ, a.happened_at)
GROUP BY ALL
ORDER BY died DESC, fell_silent DESC, closed_or_died DESC, a.cluster, host;
