-- How long did each broker lead too few of the partitions it is preferred for, what left it so, and what healed it?
-- broker: the broker; every broker where not set
SELECT
    s.cluster, s.broker, s.since, s.since_is_exact, s.until,
    round(date_diff('ms', s.since, coalesce(s.until, s.last_reading_at)) / 1000, 1) AS seconds_at_least,
    round(s.max_ratio, 3) AS max_ratio, s.led_elsewhere, s.preferred_partitions,
    s.begun_by, o.broker AS outage_of, o.kind AS outage_kind, s.healed_by, s.explanation
FROM gold.imbalance_spells AS s
LEFT JOIN gold.broker_outages AS o USING (cluster, outage_id)
WHERE s.broker = coalesce(getvariable('broker')::INTEGER, s.broker)
ORDER BY s.until IS NOT NULL, s.since, s.cluster, s.broker;
