-- Were each broker or rack lost tonight: what would be offline, what could not be written, whose coordinator would go?
-- scope: the broker's id or the rack's name; every one where not set
SELECT
    cluster, scope_kind, scope, snapshot_at,
    partitions_hosted, partitions_offline, partitions_unclean, partitions_unwritable, partitions_unjudged,
    leaders_to_move,
    len(group_ids) AS groups_without_coordinator,
    len(stranded_group_ids) AS groups_stranded,
    array_to_string(worst_partitions, ', ') AS worst_partitions,
    explanation
FROM gold.loss_simulations
WHERE scope = coalesce(getvariable('scope')::VARCHAR, scope)
-- The newest reading of each cluster.
QUALIFY snapshot_at = max(snapshot_at) OVER (PARTITION BY cluster)
ORDER BY
    cluster, partitions_offline DESC, partitions_unclean DESC, partitions_unwritable DESC, scope_kind, scope;
