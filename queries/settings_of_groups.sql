-- How are the members of a group set up, as far as witnesses show, newest first?
-- group_id: the group; every group where not set
SELECT
    cluster, group_id, client_id, instance_id, member_count,
    session_timeout_ms, rebalance_timeout_ms, heartbeat_interval_ms,
    array_to_string(assignors, ', ') AS assignors,
    assignor, protocol,
    isolation_level, offset_reset, is_auto_commit, auto_commit_interval_ms,
    array_to_string(witnesses, ', ') AS witnesses,
    first_seen_at, last_seen_at
FROM gold.member_settings
WHERE group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
ORDER BY cluster, group_id, last_seen_at DESC, client_id, instance_id, settings_id;
