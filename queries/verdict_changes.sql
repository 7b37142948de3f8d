-- Which verdicts of the past are others with today's knowledge?
-- run_id: one reclassification; every one where not set
SELECT
    cluster, happened_at, "table", subject, change, verdict_before, confidence_before, verdict_after, confidence_after,
    run_id
FROM quality.verdict_changes
WHERE run_id = coalesce(getvariable('run_id')::VARCHAR, run_id)
ORDER BY run_reclassified_at DESC, happened_at, "table", subject, row_id;
