"""What is known of brokers that fall out of ISRs: when Kafka drops one, and what to do about it."""

REPLICA_LAG_MS = 30_000
"""replica.lag.time.max.ms since Kafka 2.5 (KIP-537), 10 s before. A leader looks every half of it, and drops a follower
that has not caught up with its log end for that long (ReplicaManager.startup, Partition.isFollowerOutOfSync)."""

CYCLES_WITHIN_MS = 30 * 60_000
"""The span in which returns of one partition count as one trouble: the rule isr_flapping."""

CALM_AFTER_MS = CYCLES_WITHIN_MS // 3
"""A broker that has stayed in its ISRs this long is well again. Three cycles in half an hour are one in ten minutes."""

OUT_OF_SYNC_ADVICE: dict[str, str] = {
    "outage": "See the outage. Until a broker is back in every ISR, stop no other one.",
    "slow": "Look at the suspect's disks (await, utilisation), network and GC pauses at that time, and at"
    " num.replica.fetchers. A larger replica.lag.time.max.ms only hides it: the same records are at risk for longer.",
    "disk": "Replace the disk and restart the broker, or move its replicas elsewhere: it goes on without those on the"
    " failed directory, and nothing brings them back by itself.",
    "reassignment": "Nothing, where the reassignment was meant.",
    "unknown": "Give Hindsight the logs of every broker for this time: the leader says whom it drops, the controller"
    " whom it fences.",
}

RESTART_GAP_MS = 10 * 60_000
"""How long after a broker is back in every ISR the next stop still belongs to the same restart. Our choice: operators
and operators' tools go on as soon as nothing is under-replicated (Strimzi's KafkaRoller, Confluent's rolling restart);
ten minutes leave a person the time to look, as they do where members of a group are restarted."""

RESTART_ADVICE: dict[bool, str] = {
    True: "Stop the next broker only when no partition is under-replicated: kafka-topics.sh --describe"
    " --under-replicated-partitions shows none. Tools that roll clusters can wait for that.",
    False: "Nothing: each broker was back before the next one was stopped, as far as anybody tells.",
}
"""By whether a broker was stopped too early."""
