-- For how long could the partitions of each topic not be written with acks=all, and why: no leader, refused, or waiting?
-- topic: the topic; every topic where not set
SELECT
    cluster, topic, kind,
    count(DISTINCT partition) AS partitions,
    count(*) AS times,
    round(sum(date_diff('ms', started_at, ended_at)) FILTER (confidence IN ('certain', 'likely')) / 1000, 1)
        AS partition_seconds,
    round(sum(low_ms) / 1000, 1) AS partition_seconds_at_least,
    CASE WHEN bool_and(high_ms IS NOT NULL) THEN round(sum(high_ms) / 1000, 1) END AS partition_seconds_at_most,
    round(max(date_diff('ms', started_at, ended_at)) FILTER (confidence IN ('certain', 'likely')) / 1000, 1)
        AS longest_seconds,
    count(*) FILTER (ended_at IS NULL) AS not_over,
    min(started_at) AS first_at, max(ended_at) AS last_at
FROM gold.unavailability
WHERE topic IS NOT NULL
    AND topic = coalesce(getvariable('topic')::VARCHAR, topic)
GROUP BY cluster, topic, kind
ORDER BY not_over DESC, partition_seconds DESC NULLS LAST, cluster, topic, kind;
