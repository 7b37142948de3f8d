-- Which groups would static membership have saved from rebalances, and which session timeout does it need?
-- group_id: the group; every group where not set
SELECT
    cluster, group_id,
    sum(rebalances_avoided) AS rebalances_avoided,
    sum(rebalances_total) AS of_rebalances,
    round(sum(partition_seconds_avoided), 1) AS partition_seconds_avoided,
    max_by(value_now, window_from) / 1000 AS session_seconds_now,
    max(value_smallest) / 1000 AS session_seconds_needed,
    count(*) AS windows,
    CASE WHEN bool_and(confidence = 'likely') THEN 'likely' ELSE 'possible' END AS confidence,
    max_by(explanation, window_from) AS explanation
FROM gold.remedies
WHERE setting = 'static_membership'
    AND group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
GROUP BY cluster, group_id
ORDER BY rebalances_avoided DESC, cluster, group_id;
