-- Which partitions were without a leader, below min.insync.replicas or one failure from worse, and for how long?
-- topic: the topic; every topic where not set
SELECT
    cluster, topic, partition,
    any_value(replication_factor ORDER BY window_from DESC) AS replicas,
    any_value(min_insync_replicas ORDER BY window_from DESC) AS min_isr,
    sum(elections)::BIGINT AS elections,
    round(sum(leaderless_low_ms) / 1000, 1) AS leaderless_s_at_least,
    CASE WHEN bool_and(leaderless_high_ms IS NOT NULL) THEN round(sum(leaderless_high_ms) / 1000, 1) END
        AS leaderless_s_at_most,
    round(sum(one_from_offline_ms) / 1000, 1) AS one_from_offline_s,
    round(sum(one_from_unclean_ms) / 1000, 1) AS one_from_unclean_s,
    round(sum(under_min_isr_ms) / 1000, 1) AS under_min_isr_s,
    round(sum(at_min_isr_ms) / 1000, 1) AS at_min_isr_s,
    round(sum(under_replicated_ms) / 1000, 1) AS under_replicated_s,
    min(worst_isr_size) AS fewest_in_sync,
    round(sum(known_ms) / sum(epoch_ms(window_to) - epoch_ms(window_from)), 3) AS share_known,
    min(first_at) AS first_at, max(last_at) AS last_at
FROM gold.partition_risks
WHERE topic = coalesce(getvariable('topic')::VARCHAR, topic)
GROUP BY cluster, topic, partition
ORDER BY
    leaderless_s_at_least DESC, one_from_unclean_s DESC NULLS LAST, under_min_isr_s DESC NULLS LAST,
    one_from_offline_s DESC NULLS LAST, cluster, topic, partition;
