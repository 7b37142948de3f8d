-- What are the figures of each night, counted from the rows of gold: those of the first screen of its report?
-- cluster: the cluster; every cluster where not set
WITH nights AS (
    SELECT DISTINCT cluster, window_from, window_to
    FROM quality.publications
    WHERE cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
),
incidents AS (
    SELECT
        cluster, window_from,
        coalesce(sum(records_lost_low) FILTER (WHERE harm = 'records_lost'), 0)::BIGINT AS records_lost_low,
        CASE WHEN bool_and(harm <> 'records_lost' OR records_lost_high IS NOT NULL)
            THEN coalesce(sum(records_lost_high) FILTER (WHERE harm = 'records_lost'), 0)::BIGINT END
            AS records_lost_high
    FROM gold.incidents AS i
    JOIN nights AS n USING (cluster)
    WHERE i.started_at >= n.window_from AND i.started_at < n.window_to
    GROUP BY cluster, window_from
),
unused AS (
    -- What clients notice: a second or longer, or not over when the logs end.
    SELECT
        u.cluster, n.window_from,
        count(DISTINCT (topic, "partition")) FILTER (WHERE u.kind = 'no_leader')::INTEGER AS partitions_offline,
        count(DISTINCT (topic, "partition")) FILTER (WHERE u.kind = 'no_leader' AND u.ended_at IS NULL)::INTEGER
            AS partitions_still_offline,
        max(lasted_ms) FILTER (WHERE u.kind = 'no_leader') AS offline_ms,
        sum(lasted_ms) FILTER (WHERE u.kind = 'no_leader') / 1000 AS offline_partition_seconds,
        count(DISTINCT (topic, "partition")) FILTER (WHERE u.kind LIKE 'acks_all_%')::INTEGER AS partitions_refusing,
        count(DISTINCT group_id) FILTER (WHERE u.kind = 'no_consumer' AND i.harm <> 'routine')::INTEGER
            AS groups_stopped
    FROM (
        SELECT *, coalesce(date_sub('ms', started_at, ended_at), low_ms) AS lasted_ms FROM gold.unavailability
    ) AS u
    JOIN nights AS n USING (cluster)
    LEFT JOIN gold.incidents AS i USING (cluster, incident_id)
    WHERE u.started_at >= n.window_from AND u.started_at < n.window_to AND (u.ended_at IS NULL OR lasted_ms >= 1000)
    GROUP BY u.cluster, n.window_from
),
outages AS (
    SELECT
        cluster, window_from,
        count(*) FILTER (WHERE kind <> 'controlled_shutdown')::INTEGER AS sudden_absences,
        count(*) FILTER (WHERE kind = 'controlled_shutdown')::INTEGER AS orderly_absences
    FROM gold.broker_outages AS o
    JOIN nights AS n USING (cluster)
    WHERE o.down_at >= n.window_from AND o.down_at < n.window_to
    GROUP BY cluster, window_from
),
findings AS (
    SELECT
        cluster, window_from,
        count(*) FILTER (WHERE severity = 'critical')::INTEGER AS findings_critical,
        count(*) FILTER (WHERE severity = 'warning')::INTEGER AS findings_warning
    FROM gold.findings AS f
    JOIN nights AS n USING (cluster)
    WHERE f.first_at >= n.window_from AND f.first_at < n.window_to
    GROUP BY cluster, window_from
),
rebalances AS (
    SELECT
        cluster, window_from,
        count(*)::INTEGER AS rebalances,
        round(coalesce(sum(partition_seconds), 0), 1) AS partition_seconds
    FROM gold.rebalances AS r
    JOIN nights AS n USING (cluster)
    WHERE r.started_at >= n.window_from AND r.started_at < n.window_to
    GROUP BY cluster, window_from
),
lines AS (
    SELECT
        cluster, window_from,
        sum(lines_in)::BIGINT AS lines_in,
        sum(unparsed + quarantined)::BIGINT AS lines_unread
    FROM quality.coverage
    GROUP BY cluster, window_from
)
SELECT
    n.cluster, n.window_from, n.window_to,
    coalesce(i.records_lost_low, 0) AS records_lost_low,
    CASE WHEN i.cluster IS NULL THEN 0 ELSE i.records_lost_high END AS records_lost_high,
    coalesce(u.partitions_offline, 0) AS partitions_offline,
    coalesce(u.partitions_still_offline, 0) AS partitions_still_offline, u.offline_ms,
    coalesce(u.offline_partition_seconds, 0) AS offline_partition_seconds,
    coalesce(u.partitions_refusing, 0) AS partitions_refusing,
    coalesce(o.sudden_absences, 0) AS sudden_absences, coalesce(o.orderly_absences, 0) AS orderly_absences,
    coalesce(u.groups_stopped, 0) AS groups_stopped,
    coalesce(f.findings_critical, 0) AS findings_critical, coalesce(f.findings_warning, 0) AS findings_warning,
    coalesce(r.rebalances, 0) AS rebalances, coalesce(r.partition_seconds, 0) AS partition_seconds,
    coalesce(l.lines_in, 0) AS lines_in, coalesce(l.lines_unread, 0) AS lines_unread
FROM nights AS n
LEFT JOIN incidents AS i USING (cluster, window_from)
LEFT JOIN unused AS u USING (cluster, window_from)
LEFT JOIN outages AS o USING (cluster, window_from)
LEFT JOIN findings AS f USING (cluster, window_from)
LEFT JOIN rebalances AS r USING (cluster, window_from)
LEFT JOIN lines AS l USING (cluster, window_from)
ORDER BY n.window_from DESC, n.cluster;
