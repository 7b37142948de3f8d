-- What could not be used, first what has not ended, partitions before groups, then the longest, and what was behind it?
-- kind: no_leader, acks_all_refused, acks_all_hung or no_consumer; every kind where not set
-- at_least: seconds that it lasted at least, as the evidence shows it best; 1 where not set
SELECT
    u.cluster, u.kind,
    coalesce(u.topic || '-' || u.partition, u.group_id) AS subject,
    u.started_at, u.ended_at,
    round(date_diff('ms', u.started_at, u.ended_at) / 1000, 1) AS seconds,
    round(u.low_ms / 1000, 1) AS seconds_at_least,
    round(u.high_ms / 1000, 1) AS seconds_at_most,
    o.broker AS outage_of, o.kind AS outage, r.cause AS rebalance_cause,
    u.confidence, u.incident_id
FROM gold.unavailability AS u
LEFT JOIN gold.broker_outages AS o USING (cluster, outage_id)
LEFT JOIN gold.rebalances AS r USING (cluster, rebalance_id)
WHERE u.kind = coalesce(getvariable('kind')::VARCHAR, u.kind)
    AND (u.ended_at IS NULL
        OR date_diff('ms', u.started_at, u.ended_at) >= 1000 * coalesce(getvariable('at_least')::DOUBLE, 1))
ORDER BY u.ended_at IS NOT NULL, u.group_id IS NOT NULL, seconds DESC NULLS LAST, u.started_at, u.cluster, u.kind, subject;
