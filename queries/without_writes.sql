-- For how long could no producer with acks=all write to the partitions of each topic, each second counted once?
-- topic: the topic; every topic where not set
WITH times AS (
    SELECT
        cluster, topic, "partition", kind, ended_at IS NULL AS is_open, started_at,
        coalesce(ended_at, started_at + to_milliseconds(low_ms)) AS until
    FROM gold.unavailability
    WHERE topic = coalesce(getvariable('topic')::VARCHAR, topic)
        AND (ended_at IS NULL OR date_sub('ms', started_at, ended_at) >= 1000)
        AND (low_ms > 0 OR confidence IN ('certain', 'likely'))
),
joined AS (
    SELECT *, max(until) OVER (PARTITION BY cluster, topic, "partition" ORDER BY started_at, until
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS former
    FROM times
)
SELECT
    cluster, topic,
    count(DISTINCT "partition") AS partitions,
    round(sum(greatest(date_sub('ms', greatest(started_at, coalesce(former, started_at)), until), 0)) / 1000, 1)
        AS partition_seconds,
    round(sum(date_sub('ms', started_at, until)) FILTER (kind = 'no_leader') / 1000, 1) AS of_no_leader,
    count(*) FILTER (is_open) AS not_over
FROM joined
GROUP BY cluster, topic
ORDER BY partition_seconds DESC, cluster, topic;
