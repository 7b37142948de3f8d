-- How often has each rule fired over the lake's history?
-- rule_id: the rule; every rule where not set
SELECT
    f.cluster, f.rule_id,
    count(*) AS fired,
    min(f.first_at) AS first_at,
    max(f.last_at) AS last_at
FROM gold.findings AS f
WHERE f.rule_id = coalesce(getvariable('rule_id')::VARCHAR, f.rule_id)
GROUP BY f.cluster, f.rule_id
ORDER BY f.cluster, fired DESC, f.rule_id;
