-- Which groups still rebalance eagerly, every member giving back all it owns, and do all offer the cooperative way?
-- from: only clients seen since this instant in UTC, such as 2026-11-01; every one where not set
WITH clients AS (
    -- What each client was last known to offer. One that offers an eager assignor beside others rebalances eagerly.
    SELECT
        cluster, group_id, coalesce(client_id, instance_id) AS client, assignor, protocol, assignors, last_seen_at,
        list_has_any(coalesce(assignors, [assignor]), ['range', 'roundrobin', 'sticky']) AS offers_eager
    FROM gold.member_settings
    WHERE last_seen_at >= coalesce(getvariable('from')::TIMESTAMPTZ, last_seen_at)
    QUALIFY row_number() OVER (
        PARTITION BY cluster, group_id, client_id, instance_id ORDER BY last_seen_at DESC, settings_id
    ) = 1
),
judged AS (
    SELECT *, protocol IS DISTINCT FROM 'consumer' AND offers_eager AS eager
    FROM clients
)
SELECT
    cluster, group_id,
    max_by(assignor, last_seen_at) AS assignor,
    count(*) FILTER (eager) AS eager_clients,
    count(*) AS of_clients,
    -- Null where it is not known what one of them offers.
    CASE WHEN count(*) = count(assignors) THEN bool_and(list_contains(assignors, 'cooperative-sticky')) END
        AS all_offer_cooperative,
    array_to_string(list(client ORDER BY client) FILTER (eager), ', ') AS who,
    max(last_seen_at) AS last_seen_at
FROM judged
GROUP BY cluster, group_id
HAVING count(*) FILTER (eager) > 0
ORDER BY eager_clients DESC, cluster, group_id;
