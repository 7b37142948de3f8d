-- How long did each broker lead too few of the partitions it is preferred for, what caused it, and what ended it?
-- broker: the broker; every broker where not set
SELECT
    s.cluster, s.broker, s.started_at, s.started_at_is_exact, s.ended_at,
    round(date_diff('ms', s.started_at, coalesce(s.ended_at, s.last_reading_at)) / 1000, 1) AS seconds_at_least,
    round(s.max_ratio, 3) AS max_ratio, s.led_elsewhere, s.preferred_partitions,
    s.started_by, o.broker AS outage_of, o.kind AS outage_kind, s.ended_by, s.explanation
FROM gold.imbalance_periods AS s
LEFT JOIN gold.broker_outages AS o USING (cluster, outage_id)
WHERE s.broker = coalesce(getvariable('broker')::INTEGER, s.broker)
ORDER BY s.ended_at IS NOT NULL, s.started_at, s.cluster, s.broker;
