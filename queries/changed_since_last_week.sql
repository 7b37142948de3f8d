-- What changed in the last seven days against the seven before: which groups, causes, failovers, outages and findings?
-- at: the end of the seven days in UTC, such as 2026-11-20; the end of what is published where not set
WITH published AS (
    SELECT DISTINCT cluster, window_from, window_to FROM quality.publications WHERE "table" = 'gold.rebalances'
),
asked AS (
    SELECT cluster, coalesce(getvariable('at')::TIMESTAMPTZ, max(window_to)) AS ends FROM published GROUP BY cluster
),
known AS (
    -- Overlap in milliseconds: nothing counts as gone that was not looked at.
    SELECT
        cluster,
        sum(greatest(0, least(epoch_ms(window_to), epoch_ms(ends))
            - greatest(epoch_ms(window_from), epoch_ms(ends - INTERVAL 7 DAY)))) / 3600000 AS hours,
        sum(greatest(0, least(epoch_ms(window_to), epoch_ms(ends - INTERVAL 7 DAY))
            - greatest(epoch_ms(window_from), epoch_ms(ends - INTERVAL 14 DAY)))) / 3600000 AS hours_before
    FROM published JOIN asked USING (cluster)
    GROUP BY cluster
),
events AS (
    SELECT cluster, 'rebalances of a group' AS what, group_id AS which, started_at AS happened_at FROM gold.rebalances
    UNION ALL SELECT cluster, 'rebalances by cause', cause, started_at FROM gold.rebalances
    UNION ALL SELECT cluster, 'failovers', kind, happened_at FROM gold.failovers
    UNION ALL SELECT cluster, 'outages of a broker', broker::VARCHAR, down_at FROM gold.broker_outages
    UNION ALL SELECT cluster, 'findings', rule_id, first_at FROM gold.findings
),
counted AS (
    SELECT
        e.cluster, e.what, e.which,
        count(*) FILTER (e.happened_at >= a.ends - INTERVAL 7 DAY) AS last_week,
        count(*) FILTER (e.happened_at < a.ends - INTERVAL 7 DAY) AS week_before
    FROM events AS e JOIN asked AS a USING (cluster)
    WHERE e.happened_at >= a.ends - INTERVAL 14 DAY AND e.happened_at < a.ends
    GROUP BY ALL
)
SELECT
    c.cluster, c.what, c.which, c.last_week,
    -- What was not audited is not known, and not zero.
    CASE WHEN k.hours_before > 0 THEN c.week_before END AS week_before,
    CASE WHEN k.hours_before > 0 THEN c.last_week - c.week_before END AS change,
    round(k.hours, 1) AS hours_known, round(k.hours_before, 1) AS hours_known_before
FROM counted AS c JOIN known AS k USING (cluster)
WHERE c.last_week <> c.week_before
ORDER BY abs(c.last_week - c.week_before) DESC, c.cluster, c.what, c.which;
