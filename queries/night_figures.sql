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
            AS records_lost_high,
        coalesce(sum(partitions_offline), 0)::INTEGER AS partitions_offline,
        max(offline_ms) FILTER (WHERE partitions_offline > 0) AS offline_ms,
        len(list_distinct(flatten(list(group_ids) FILTER (
            WHERE rebalance_count > 0 AND harm <> 'lag_grew'
                AND (harm NOT IN ('posture', 'routine') OR NOT coalesce(is_over, true))
        )))) AS groups_stopped
    FROM (
        -- Rows of an earlier version do not say what they did: they are rebalances.
        SELECT * EXCLUDE (harm), coalesce(harm, 'consumers_stopped') AS harm
        FROM gold.incidents
    ) AS i
    JOIN nights AS n USING (cluster)
    WHERE i.started_at >= n.window_from AND i.started_at < n.window_to
    GROUP BY cluster, window_from
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
    coalesce(i.partitions_offline, 0) AS partitions_offline, i.offline_ms,
    coalesce(o.sudden_absences, 0) AS sudden_absences, coalesce(o.orderly_absences, 0) AS orderly_absences,
    coalesce(i.groups_stopped, 0) AS groups_stopped,
    coalesce(f.findings_critical, 0) AS findings_critical, coalesce(f.findings_warning, 0) AS findings_warning,
    coalesce(r.rebalances, 0) AS rebalances, coalesce(r.partition_seconds, 0) AS partition_seconds,
    coalesce(l.lines_in, 0) AS lines_in, coalesce(l.lines_unread, 0) AS lines_unread
FROM nights AS n
LEFT JOIN incidents AS i USING (cluster, window_from)
LEFT JOIN outages AS o USING (cluster, window_from)
LEFT JOIN findings AS f USING (cluster, window_from)
LEFT JOIN rebalances AS r USING (cluster, window_from)
LEFT JOIN lines AS l USING (cluster, window_from)
ORDER BY n.window_from DESC, n.cluster;
