-- Which client costs us the most, in partition-seconds: the rebalances it caused, and the time others waited for it?
WITH caused AS (
    SELECT
        cluster, group_id, client_id,
        count(*) AS caused,
        sum(duration_ms) AS caused_ms,
        sum(partition_seconds) AS cost
    FROM gold.rebalances
    WHERE client_id IS NOT NULL
    GROUP BY ALL
),
shared AS (
    SELECT cluster, group_id, contributor.client_id AS client_id, count(*) AS contributed
    FROM (SELECT cluster, group_id, unnest(contributors) AS contributor FROM gold.rebalances)
    WHERE contributor.client_id IS NOT NULL
    GROUP BY ALL
),
delayed AS (
    SELECT cluster, group_id, member.client_id AS client_id, sum(member.waited_ms) AS delayed_ms
    FROM (SELECT cluster, group_id, unnest(delayed_by) AS member FROM gold.rebalances)
    WHERE member.client_id IS NOT NULL
    GROUP BY ALL
)
SELECT
    cluster, group_id, client_id,
    coalesce(caused, 0) AS rebalances_caused,
    coalesce(contributed, 0) AS rebalances_shared,
    round(coalesce(caused_ms, 0) / 1000, 1) AS seconds_caused,
    round(cost, 1) AS partition_seconds_caused,
    round(coalesce(delayed_ms, 0) / 1000, 1) AS seconds_waited_for
FROM caused
FULL JOIN shared USING (cluster, group_id, client_id)
FULL JOIN delayed USING (cluster, group_id, client_id)
ORDER BY coalesce(cost, 0) DESC, coalesce(caused_ms, 0) + coalesce(delayed_ms, 0) DESC, cluster, group_id, client_id;
