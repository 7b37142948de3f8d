"""What is known of brokers that fall out of ISRs: when Kafka removes one, and what to do about it."""

from datetime import timedelta

from spark_jobs.catalog.codes import OutOfSyncKind

REPLICA_LAG = timedelta(seconds=30)
"""replica.lag.time.max.ms since Kafka 2.5 (KIP-537), 10 s before. A leader checks its followers every half of it, and
removes one that has not caught up with its log end for that long (ReplicaManager.startup,
Partition.isFollowerOutOfSync)."""

CYCLES_WITHIN = timedelta(minutes=30)
"""Returns of one partition within this belong together: the rule isr_flapping."""

CALM_AFTER = CYCLES_WITHIN / 3
"""A broker that has stayed in its ISRs this long has recovered. Three cycles in half an hour are one in ten minutes."""

OUT_OF_SYNC_ADVICE: dict[OutOfSyncKind, str] = {
    OutOfSyncKind.OUTAGE: "See the outage. Until a broker is back in every ISR, stop no other one.",
    OutOfSyncKind.SLOW: "Look at the suspect's disks (await, utilisation), network and GC pauses at that time, and at"
    " num.replica.fetchers. A larger replica.lag.time.max.ms only hides it: the same records are at risk for longer.",
    OutOfSyncKind.DISK: "Replace the disk and restart the broker, or move its replicas elsewhere: the broker goes on"
    " without the replicas in the failed directory, and they do not come back by themselves.",
    OutOfSyncKind.REASSIGNMENT: "Nothing, where the reassignment was intended.",
    OutOfSyncKind.UNKNOWN: "Give Hindsight the logs of every broker for this time: the leader logs the followers that"
    " it removes, the controller the brokers that it fences.",
}

RESTART_GAP_MS = 10 * 60_000
"""How long after a broker is back in every ISR the next stop still belongs to the same restart. Our choice: operators
and their tools go on as soon as no partition is under-replicated (Strimzi's KafkaRoller, Confluent's rolling restart);
ten minutes leave a person the time to look, as where members of a group are restarted."""

RESTART_ADVICE: dict[bool, str] = {
    True: "Stop the next broker only when no partition is under-replicated: kafka-topics.sh --describe"
    " --under-replicated-partitions shows none. Tools that roll clusters can wait for that.",
    False: "Nothing: as far as the evidence shows, each broker was back before the next one was stopped.",
}
"""By whether a broker was stopped too early."""
