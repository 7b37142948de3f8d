-- Which rebalances began while a broker was away, and do they belong to the incident of that absence?
-- broker: the broker's id; every broker where not set
SELECT
    r.cluster, r.group_id, r.started_at, r.cause, r.confidence,
    o.broker AS broker_away, o.kind AS absence, o.down_at, o.up_at,
    coalesce(r.incident_id = o.incident_id, false) AS is_of_its_incident,
    r.rebalance_id, o.outage_id
FROM gold.rebalances AS r
JOIN gold.broker_outages AS o
    ON o.cluster = r.cluster AND o.down_at <= r.started_at AND r.started_at < coalesce(o.up_at, 'infinity')
WHERE o.broker = coalesce(getvariable('broker')::INTEGER, o.broker)
ORDER BY r.started_at, r.cluster, r.group_id, o.broker;
