-- How did each broker fare when the cluster was restarted broker by broker?
SELECT
    r.cluster, r.started_at, r.is_complete, r.intent,
    s.broker, s.kind, s.down_at,
    round(date_diff('ms', s.down_at, s.up_at) / 1000, 1) AS seconds_down,
    round(s.isr_recovered_ms / 1000, 1) AS seconds_to_full_isr,
    round(s.leadership_restored_ms / 1000, 1) AS seconds_to_leadership,
    s.is_early AS stopped_too_early,
    s.partitions_led_before, s.elections
FROM gold.rolling_restarts AS r, unnest(r.scorecard) AS u(s)
ORDER BY r.started_at, r.cluster, s.down_at, s.broker;
