-- What did an outage do to producers: how long, how many retries, and what was given up, the longest first?
-- topic: the topic; every topic where not set
SELECT
    cluster, kind, topic,
    min(started_at) AS started_at, max(last_at) AS last_at,
    count(DISTINCT (source, client_id)) AS producers,
    sum(retries)::BIGINT AS retries,
    sum(given_up_low)::BIGINT AS given_up_low,
    CASE WHEN count(*) = count(given_up_high) THEN sum(given_up_high)::BIGINT END AS given_up_high,
    incident_id
FROM gold.producer_failures
WHERE getvariable('topic') IS NULL OR topic = getvariable('topic')::VARCHAR
GROUP BY cluster, kind, topic, incident_id
ORDER BY max(last_at) - min(started_at) DESC, started_at, cluster, topic, kind, incident_id;
