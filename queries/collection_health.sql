-- When was the last line of each log written that was read, by cluster, broker and kind of log, and how far is it behind?
-- cluster: this cluster only; every one where not set
WITH logs AS (
    SELECT
        cluster, source, origin,
        -- A log whose lines name several brokers, such as one of a collector, has none of its own.
        CASE WHEN min(lowest_broker) = max(highest_broker) THEN min(lowest_broker) END AS broker,
        max(last_at) AS last_line_at, sum(lines_in) AS lines_in, sum(unparsed) AS unparsed
    FROM quality.parsed_hours
    WHERE cluster = coalesce(getvariable('cluster'), cluster)
    GROUP BY ALL
)
SELECT
    cluster, broker, split_part(split_part(source, '//', 1), '/', -1) AS log, source, origin, last_line_at,
    -- Behind the newest line of the cluster a log has stopped; where all are hours old, collection has.
    round((epoch_ms(now()) - epoch_ms(last_line_at)) / 3600000, 1) AS hours_ago,
    round((epoch_ms(max(last_line_at) OVER (PARTITION BY cluster)) - epoch_ms(last_line_at)) / 3600000, 1) AS hours_behind,
    lines_in, unparsed
FROM logs
ORDER BY last_line_at NULLS FIRST, cluster, broker, source;
