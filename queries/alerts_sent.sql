-- Which alerts went to which receiver and when, and has the trouble ended?
-- receiver: the receiver; every receiver where not set
SELECT
    sent_at, receiver, not_sent_because, severity, cluster, rule, subject, state, started_at, ended_at, confidence,
    fingerprint, incident_id
FROM now.alerts
WHERE receiver IS NOT DISTINCT FROM coalesce(getvariable('receiver')::VARCHAR, receiver)
ORDER BY sent_at DESC NULLS FIRST, receiver, severity, started_at;
