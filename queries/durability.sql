-- How are topics and brokers set up to outlive a loss: what was found last, and what is to be done about it?
-- cluster: the cluster; every cluster where not set
SELECT
    cluster, severity, rule_id, subject, message, advice, source,
    max(last_at) AS judged_at, count(*) AS windows
FROM gold.findings
WHERE rule_id IN (
    'replication_factor_one', 'replication_factor_low', 'min_isr_low', 'min_isr_equals_replication',
    'min_isr_above_replication', 'unclean_election_enabled', 'replicas_in_one_rack', 'offsets_topic_weak',
    'transaction_topic_weak', 'default_replication_low', 'settings_differ', 'racks_missing', 'racks_unknown',
    'auto_rebalance_off', 'session_bounds', 'consumer_sessions_short'
)
    AND cluster = coalesce(getvariable('cluster')::VARCHAR, cluster)
GROUP BY cluster, severity, rule_id, subject, message, advice, source
-- What a later window no longer says is mended.
QUALIFY judged_at = max(judged_at) OVER (PARTITION BY cluster)
ORDER BY cluster, list_position(['critical', 'warning', 'info'], severity), rule_id, subject;
