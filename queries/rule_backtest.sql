-- How often would each rule have fired over the lake's history, and how often in restarts?
-- rule_id: the rule; every rule where not set
SELECT
    f.cluster, f.rule_id,
    count(*) AS windows,
    count(*) FILTER (WHERE f.fired > 0) AS windows_fired,
    sum(f.fired)::BIGINT AS fired,
    sum(f.fired_in_restarts)::BIGINT AS fired_in_restarts,
    sum(f.suppressed)::BIGINT AS suppressed,
    min(f.first_at) AS first_at,
    max(f.last_at) AS last_at
FROM quality.rule_firings AS f
WHERE f.rule_id = coalesce(getvariable('rule_id')::VARCHAR, f.rule_id)
    AND EXISTS (
        SELECT 1 FROM quality.publications AS p
        WHERE p.cluster = f.cluster AND p.window_from = f.window_from AND p.window_to = f.window_to
    )
GROUP BY f.cluster, f.rule_id
ORDER BY f.cluster, fired DESC, f.rule_id;
