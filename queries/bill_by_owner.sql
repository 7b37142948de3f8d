-- How many records did each owner's groups skip, read again or lose to a cut, month by month?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH owned AS (
    SELECT
        j.*, coalesce(o.owner, 'unowned') AS owner
    FROM gold.offset_jumps AS j LEFT JOIN now.owners AS o ON o.kind = 'group' AND j.group_id GLOB o.pattern
    WHERE resumed_at IS NOT NULL AND jumped_at >= coalesce(getvariable('from')::TIMESTAMPTZ, jumped_at)
)
SELECT
    owner, date_trunc('month', jumped_at AT TIME ZONE 'UTC')::DATE AS month, harm,
    count(DISTINCT (cluster, group_id)) AS groups,
    count(*) AS jumps,
    sum(records_low)::BIGINT AS records_low,
    CASE WHEN count(*) = count(records_high) THEN sum(records_high)::BIGINT END AS records_high
FROM (SELECT DISTINCT ON (owner, jump_id) * FROM owned)
GROUP BY owner, month, harm
ORDER BY month DESC, records_low DESC, owner, harm;
