"""Brokers that fall out of ISRs: when Kafka removes one, and what to do about it."""

from datetime import timedelta

REPLICA_LAG = timedelta(seconds=30)
"""replica.lag.time.max.ms since Kafka 2.5 (KIP-537), 10 s before. A leader checks twice in that time and removes a
follower that has not reached its log end for that long (ReplicaManager.startup, Partition.isFollowerOutOfSync)."""

CYCLES_WITHIN = timedelta(minutes=30)
"""Returns of one partition within this time are one fault: the rule isr_flapping."""

CALM_AFTER = CYCLES_WITHIN / 3
"""A broker that has stayed in its ISRs this long has recovered. Three cycles in half an hour are one in ten minutes."""

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
