-- Which partitions were without a leader at one instant, since when and until when, and whose absence was behind it?
-- at: the instant in UTC, such as 2026-11-20T02:13:05; every time that is known where not set
-- topic: the topic; every topic where not set
SELECT
    u.cluster, u.topic, u.partition, f.kind, f.leader_from AS leader_before,
    u.started_at AS since, u.ended_at AS until,
    round(date_diff('ms', u.started_at, u.ended_at) / 1000, 1) AS seconds,
    u.earliest_start_at AS since_at_earliest, u.latest_end_at AS until_at_latest,
    o.broker AS outage_of, u.confidence, u.incident_id
FROM gold.unavailability AS u
LEFT JOIN gold.broker_outages AS o USING (cluster, outage_id)
LEFT JOIN gold.failovers AS f ON f.cluster = u.cluster AND f.failover_id = u.failover_id
WHERE u.kind = 'no_leader'
    AND u.topic = coalesce(getvariable('topic')::VARCHAR, u.topic)
    AND (getvariable('at') IS NULL OR (
        coalesce(u.earliest_start_at, u.started_at) <= getvariable('at')::TIMESTAMPTZ
        AND coalesce(u.latest_end_at, u.ended_at, 'infinity') > getvariable('at')::TIMESTAMPTZ
    ))
ORDER BY u.started_at, u.cluster, u.topic, u.partition;
