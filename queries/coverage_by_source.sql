-- What was read from each source, what became of its lines, and is any of them unaccounted for?
SELECT
    cluster, source, origin,
    sum(lines_in) AS lines_in,
    sum(events) AS events,
    sum(ignored) AS ignored,
    sum(unparsed) AS unparsed,
    sum(quarantined) AS quarantined,
    sum(lines_in) - sum(events) - sum(ignored) - sum(unparsed) - sum(quarantined) AS unaccounted,
    min(first_at) AS first_at,
    max(last_at) AS last_at,
    round(max(longest_silence_ms) / 1000, 1) AS longest_silence_seconds
FROM quality.coverage
GROUP BY cluster, source, origin
ORDER BY unaccounted DESC, cluster, source;
