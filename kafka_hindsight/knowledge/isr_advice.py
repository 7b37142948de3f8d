"""Brokers that fall out of ISRs: when Kafka removes one, and what to do about it."""

from datetime import timedelta

from kafka_hindsight.catalog.codes import OutOfSyncKind

REPLICA_LAG = timedelta(seconds=30)
"""replica.lag.time.max.ms since Kafka 2.5 (KIP-537), 10 s before. A leader checks twice in that time and removes a
follower that has not reached its log end for that long (ReplicaManager.startup, Partition.isFollowerOutOfSync)."""

CYCLES_WITHIN = timedelta(minutes=30)
"""Returns of one partition within this time are one fault: the rule isr_flapping."""

CALM_AFTER = CYCLES_WITHIN / 3
"""A broker that has stayed in its ISRs this long has recovered. Three cycles in half an hour are one in ten minutes."""

OUT_OF_SYNC_ADVICE: dict[OutOfSyncKind, str] = {
    OutOfSyncKind.OUTAGE: "See the outage. Stop no other broker until this one is back in every ISR.",
    OutOfSyncKind.SLOW: "Look at the broker's disks (await, utilisation), network and GC pauses at that time, and at"
    " num.replica.fetchers. A larger replica.lag.time.max.ms only hides it: the same records are at risk for longer.",
    OutOfSyncKind.DISK: "Replace the disk and restart the broker, or move its replicas elsewhere. The broker runs on"
    " without the replicas of the failed directory; nothing restores them by itself.",
    OutOfSyncKind.NOT_AUTHENTICATED: "Renew the certificate or the password with which brokers reach each other:"
    " openssl x509 -enddate shows when a certificate ends. Neither disks nor pauses are to blame.",
    OutOfSyncKind.REASSIGNMENT: "Nothing: a reassignment moves replicas.",
    OutOfSyncKind.UNKNOWN: "Give Hindsight the logs of every broker for this time: the leader logs which replicas it"
    " removes from the ISR, the controller which brokers it fences.",
}

RESTART_GAP_MS = 10 * 60_000
"""The longest pause between two stops of one rolling restart, from the time when the first broker is back in every ISR.
Our choice: operators and their tools continue as soon as no partition is under-replicated (Strimzi's KafkaRoller,
Confluent's rolling restart); ten minutes leave a person time to check, as in the restart of a group's members."""

RESTART_ADVICE: dict[bool, str] = {
    True: "Stop the next broker only when no partition is under-replicated: kafka-topics.sh --describe"
    " --under-replicated-partitions shows none. Tools that restart clusters can wait for that.",
    False: "Nothing. As far as the logs show, each broker was back before the next one stopped.",
}
"""By whether a broker was stopped too early."""
