-- Which windows were judged again because records came late, and whose logs were late?
SELECT
    cluster, window_from, window_to, records, sources, first_at, last_at,
    date_diff('minute', last_at, run_found_at) AS minutes_late,
    run_id
FROM quality.late_windows
ORDER BY run_found_at DESC, cluster, window_from;
