-- How much of the audited time does each broker's folder of logs cover, and what in it could not be read?
-- from: only windows that begin at this instant in UTC or later, such as 2026-11-01; every one where not set
WITH asked AS (
    SELECT * FROM quality.coverage
    WHERE window_from >= coalesce(getvariable('from')::TIMESTAMPTZ, window_from)
),
audited AS (
    SELECT cluster, count(*) AS windows, sum(epoch_ms(window_to) - epoch_ms(window_from)) AS audited_ms
    FROM (SELECT DISTINCT cluster, window_from, window_to FROM asked)
    GROUP BY cluster
),
night AS (
    SELECT
        cluster, regexp_replace(source, '([^/])/[^/]*$', '\1') AS folder, window_from,
        list(DISTINCT split_part(source, '/', -1)) AS logs,
        epoch_ms(max(last_at)) - epoch_ms(min(first_at)) AS seen_ms,
        -- A log of few words is silent for long; the most talkative one shows whether the broker was alive.
        min(longest_silence_ms) AS silence_ms,
        sum(lines_in) AS lines_in, sum(events) AS events, sum(unparsed) AS unparsed, sum(quarantined) AS quarantined
    FROM asked
    WHERE origin = 'broker'
    GROUP BY ALL
)
SELECT
    n.cluster, n.folder AS broker_folder,
    array_to_string(list_sort(list_distinct(flatten(list(n.logs)))), ', ') AS logs,
    count(*) AS windows, any_value(a.windows) AS of_windows,
    round(sum(n.seen_ms) / nullif(any_value(a.audited_ms), 0), 3) AS share_seen,
    round(max(n.silence_ms) / 1000, 1) AS longest_silence_seconds,
    sum(n.lines_in) AS lines_in, sum(n.events) AS events, sum(n.unparsed) AS unparsed, sum(n.quarantined) AS quarantined
FROM night AS n
JOIN audited AS a USING (cluster)
GROUP BY n.cluster, n.folder
ORDER BY share_seen NULLS FIRST, n.cluster, n.folder;
