-- When was the last line of each log written that was read, by cluster, broker and kind of log, how far is it behind, and when was a file of it last read to its end?
-- cluster: this cluster only; every one where not set
WITH hours AS (
    SELECT
        cluster, source, origin, split_part(source, '//', 1) AS file_source,
        -- A log whose lines name several brokers, such as one of a collector, has none of its own.
        CASE WHEN min(lowest_broker) = max(highest_broker) THEN min(lowest_broker) END AS broker,
        max(last_at) AS last_at, sum(lines_in) AS lines_in, sum(unparsed) AS unparsed
    FROM quality.parsed_hours
    WHERE cluster = coalesce(getvariable('cluster'), cluster)
    GROUP BY ALL
),
-- A collect reads files between the audits that parse them; one that still grows is not read to its end.
files AS (
    SELECT cluster, source, origin, max(last_at) AS last_at, max(run_collected_at) AS read_at
    FROM bronze.log_files
    WHERE cluster = coalesce(getvariable('cluster'), cluster)
    GROUP BY ALL
),
logs AS (
    SELECT
        coalesce(h.cluster, f.cluster) AS cluster, h.broker, coalesce(h.source, f.source) AS source,
        coalesce(h.origin, f.origin) AS origin,
        -- Of a file in which several programs wrote, its own last line is that of one of them.
        CASE WHEN h.source <> f.source THEN h.last_at ELSE greatest(h.last_at, f.last_at) END AS last_line_at,
        f.read_at AS read_to_end_at, h.lines_in, h.unparsed
    FROM hours AS h
    FULL JOIN files AS f ON f.cluster = h.cluster AND f.origin = h.origin AND f.source = h.file_source
)
SELECT
    cluster, broker, split_part(split_part(source, '//', 1), '/', -1) AS log, source, origin, last_line_at,
    -- Behind the newest line of the cluster a log has stopped; where all are hours old, collection has.
    round((epoch_ms(now()) - epoch_ms(last_line_at)) / 3600000, 1) AS hours_ago,
    round((epoch_ms(max(last_line_at) OVER (PARTITION BY cluster)) - epoch_ms(last_line_at)) / 3600000, 1) AS hours_behind,
    read_to_end_at, lines_in, unparsed
FROM logs
ORDER BY last_line_at NULLS FIRST, cluster, broker, source;
