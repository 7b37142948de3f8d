-- How far behind is each group at the newest reading, and where most?
-- group_id: the group; every group where not set
-- cluster: the cluster; every cluster where not set
SELECT
    cluster, group_id, any_value(g.state) AS state, any_value(g.member_count) AS members,
    sum(o.lag)::BIGINT AS lag, count(*) FILTER (o.lag > 0) AS partitions_behind, max(o.lag) AS worst_lag,
    arg_max(concat(o.topic, '-', o.partition), o.lag) AS worst_partition, max(snapshot_at) AS read_at
FROM now.offsets AS o
JOIN now.groups AS g USING (cluster, snapshot_at, group_id)
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
    AND cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
GROUP BY cluster, group_id
ORDER BY lag DESC NULLS LAST, cluster, group_id;
