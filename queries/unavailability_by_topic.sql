-- For how long could the partitions of each topic not be written with acks=all, and why: no leader, refused, or waiting?
-- topic: the topic; every topic where not set
WITH intervals AS (
    SELECT
        *,
        CASE
            WHEN ended_at IS NOT NULL AND (low_ms > 0 OR confidence IN ('certain', 'likely'))
                THEN date_sub('ms', started_at, ended_at)
            ELSE low_ms
        END AS lasted_ms
    FROM gold.unavailability
    WHERE topic IS NOT NULL
        AND (ended_at IS NULL OR date_sub('ms', started_at, ended_at) >= 1000)
        AND topic = coalesce(getvariable('topic')::VARCHAR, topic)
)

SELECT
    cluster, topic, kind,
    count(DISTINCT partition) AS partitions,
    count(*) AS times,
    round(sum(low_ms) / 1000, 1) AS partition_seconds_at_least,
    round(sum(lasted_ms) / 1000, 1) AS partition_seconds,
    CASE WHEN bool_and(high_ms IS NOT NULL) THEN round(sum(high_ms) / 1000, 1) END AS partition_seconds_at_most,
    round(max(lasted_ms) / 1000, 1) AS longest_seconds,
    count(*) FILTER (ended_at IS NULL) AS not_over,
    min(started_at) AS first_at, max(ended_at) AS last_at
FROM intervals
GROUP BY cluster, topic, kind
ORDER BY not_over DESC, partition_seconds DESC NULLS LAST, cluster, topic, kind;
