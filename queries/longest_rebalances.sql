-- Which rebalances took longest, and which member did the group wait for?
-- limit: how many to show; 20 where not set
SELECT
    cluster, group_id, started_at,
    round(duration_ms / 1000, 1) AS seconds,
    outcome, cause, confidence, client_id,
    array_to_string(
        list_transform(
            list_reverse_sort(
                list_transform(delayed_by, lambda d: {'ms': d.waited_ms, 'who': coalesce(d.client_id, d.member_id)})
            ),
            lambda d: format('{} {:.1f} s', d.who, d.ms / 1000)
        ),
        ', '
    ) AS waited_for,
    to_generation AS generation
FROM gold.rebalances
WHERE duration_ms IS NOT NULL
ORDER BY duration_ms DESC, started_at, cluster, group_id
LIMIT coalesce(getvariable('limit')::BIGINT, 20);
