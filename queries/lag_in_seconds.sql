-- For how long had the oldest unread record of each partition waited, at the newest reading and at the worst one?
-- group_id: the group; every group where not set
WITH
ends AS (
    -- The readings that bound when the end of a partition passed an offset. Readings alone: no record has its time here.
    SELECT cluster, topic, partition, end_offset, min(snapshot_at) AS first_at, max(snapshot_at) AS last_at
    FROM bronze.offset_snapshots WHERE end_offset IS NOT NULL GROUP BY ALL
),
read AS (
    SELECT cluster, group_id, topic, partition, snapshot_at, committed_offset, lag
    FROM bronze.offset_snapshots
    WHERE lag IS NOT NULL AND group_id = coalesce(getvariable('group_id')::VARCHAR, group_id)
),
waits AS (
    SELECT
        r.*,
        CASE WHEN lag = 0 THEN 0 ELSE greatest(0, epoch(snapshot_at - above.first_at)) END AS at_least,
        CASE WHEN lag = 0 THEN 0 ELSE epoch(snapshot_at - below.last_at) END AS at_most
    FROM read AS r
    ASOF LEFT JOIN ends AS above
        ON r.cluster = above.cluster AND r.topic = above.topic AND r.partition = above.partition
        AND r.committed_offset < above.end_offset
    ASOF LEFT JOIN ends AS below
        ON r.cluster = below.cluster AND r.topic = below.topic AND r.partition = below.partition
        AND r.committed_offset >= below.end_offset
)
SELECT
    cluster, group_id, topic, partition, max(snapshot_at) AS read_at, arg_max(lag, snapshot_at) AS lag,
    round(arg_max(at_least, snapshot_at), 1) AS waits_s_at_least,
    -- Null: every reading so far shows an end above the offset, so that it may have waited for longer than they go back.
    round(arg_max(struct_pack(s := at_most), snapshot_at).s, 1) AS waits_s_at_most,
    round(max(at_least), 1) AS worst_s_at_least, arg_max(snapshot_at, at_least) AS worst_at
FROM waits
GROUP BY cluster, group_id, topic, partition
HAVING max(at_least) > 0 OR max(lag) > 0
ORDER BY worst_s_at_least DESC, cluster, group_id, topic, partition;
