-- What did the groups and topics of each owner cost, by month and cluster?
-- from: the first instant in UTC, such as 2026-11-01; from the beginning where not set
WITH rebalanced AS (
    SELECT
        r.cluster, coalesce(o.owner, 'unowned') AS owner, r.started_at AS began_at, 1 AS rebalances, r.partition_seconds,
        NULL AS leaderless, NULL AS writeless
    FROM gold.rebalances AS r
    LEFT JOIN now.dim_owner AS o ON o.cluster = r.cluster AND o.kind = 'group' AND o.name = r.group_id
),
times AS (
    SELECT
        cluster, topic, "partition", kind, started_at,
        coalesce(ended_at, started_at + to_milliseconds(low_ms)) AS until
    FROM gold.unavailability
    WHERE topic IS NOT NULL AND (low_ms > 0 OR confidence IN ('certain', 'likely'))
        AND (ended_at IS NULL OR date_sub('ms', started_at, ended_at) >= 1000)
),
unwritable AS (
    SELECT
        *,
        max(until) OVER (PARTITION BY cluster, topic, "partition" ORDER BY started_at, until
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS former
    FROM times
),
unavailable AS (
    SELECT
        t.cluster, coalesce(o.owner, 'unowned') AS owner, t.started_at AS began_at, 0 AS rebalances, NULL AS partition_seconds,
        CASE WHEN t.kind = 'no_leader' THEN date_sub('ms', t.started_at, t.until) / 1000 END AS leaderless,
        greatest(date_sub('ms', greatest(t.started_at, coalesce(t.former, t.started_at)), t.until), 0) / 1000
            AS writeless
    FROM unwritable AS t
    LEFT JOIN now.dim_owner AS o ON o.cluster = t.cluster AND o.kind = 'topic' AND o.name = t.topic
)
-- Costs in partition-seconds. Each second without writes counts once, whatever stopped them: a partition without a leader
-- takes none either. What several owners share is a row of its own, so the rows of a month add up to its whole bill.
SELECT
    date_trunc('month', began_at AT TIME ZONE 'UTC')::DATE AS month, cluster, owner,
    sum(rebalances)::BIGINT AS rebalances,
    count(*) FILTER (rebalances = 1 AND partition_seconds IS NULL) AS rebalances_of_unknown_cost,
    round(sum(partition_seconds), 1) AS consumers_stopped_at_most,
    round(sum(leaderless), 1) AS without_leader,
    round(sum(writeless), 1) AS without_writes
FROM (FROM rebalanced UNION ALL FROM unavailable)
WHERE began_at >= coalesce(getvariable('from')::TIMESTAMPTZ, began_at)
GROUP BY month, cluster, owner
ORDER BY month DESC, cluster, without_writes DESC NULLS LAST, consumers_stopped_at_most DESC NULLS LAST, owner;
