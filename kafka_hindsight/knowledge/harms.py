"""The urgency, the advice and the prevention of each harm, and the advice on each change of leader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kafka_hindsight.catalog.codes import Harm

State = Literal["act", "look", "calm"]
"""The state of a window: act now, look when there is time, or nothing to do."""


@dataclass(frozen=True)
class HarmNote:
    """The state, the label and the advice of one harm.

    `now` is the advice in one sentence; `commands` show the present state: braces stand for a topic or a group.
    """

    state: State
    label: str
    now: str = ""
    advice: str = ""
    prevention: str = ""
    commands: tuple[str, ...] = ()
    source: str = ""


_TOPIC = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --topic {topic}"
_TOPIC_SETTINGS = (
    "kafka-configs.sh --bootstrap-server $BOOTSTRAP --describe --all --entity-type topics --entity-name {topic}"
)
_MISSING = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --under-replicated-partitions"
_OFFLINE = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --unavailable-partitions"
_BROKERS = "kafka-broker-api-versions.sh --bootstrap-server $BOOTSTRAP"
_QUORUM = "kafka-metadata-quorum.sh --bootstrap-server $BOOTSTRAP describe --status"
_MEMBERS = "kafka-consumer-groups.sh --bootstrap-server $BOOTSTRAP --describe --group {group} --members --verbose"
_GROUP = "kafka-consumer-groups.sh --bootstrap-server $BOOTSTRAP --describe --group {group}"

HARM_NOTES: Mapping[Harm, HarmNote] = {
    Harm.RECORDS_LOST: HarmNote(
        "act",
        "records lost",
        "Find out who wrote those records, and send them again.",
        "Find out which producers wrote those records, and send them again: compare the topic with what consumers and"
        " other systems hold.",
        "Set unclean.leader.election.enable=false, and give the topic three replicas with min.insync.replicas=2."
        " Producers then need acks=all.",
        (_TOPIC, _TOPIC_SETTINGS),
        "UncleanLeaderElectionsPerSec, normal 0 (Kafka operations guide); KIP-101",
    ),
    Harm.PARTITIONS_OFFLINE: HarmNote(
        "act",
        "partitions without a leader",
        "Check that each partition has a leader, and find out why its broker was away.",
        "See that each of these partitions has a leader again, and bring a replica of its last ISR back where it has"
        " none.",
        "Give the topic three replicas on three brokers, and stop a broker only when no partition is under-replicated."
        " What a dead broker led has no leader until its session ends: broker.session.timeout.ms, or with ZooKeeper"
        " zookeeper.session.timeout.ms.",
        (_OFFLINE, _TOPIC),
        "OfflinePartitionsCount, normal 0 (Kafka operations guide)",
    ),
    Harm.WRITES_REFUSED: HarmNote(
        "act",
        "writes stopped",
        "See that the missing replicas are back, and find out why they went.",
        "See that the missing replicas are back. A lower min.insync.replicas gives up durability. Where writes waited,"
        " the dead broker stayed in the ISR until its session, or replica.lag.time.max.ms, ran out.",
        "Keep one replica more than min.insync.replicas, so that one broker may be away.",
        (_MISSING, _TOPIC),
        "UnderMinIsrPartitionCount, normal 0 (Kafka operations guide)",
    ),
    Harm.BROKER_LOST: HarmNote(
        "act",
        "brokers lost",
        "Find out why: the end of its log (a disk, a fault), its exit code, kills for memory, pauses, its network and"
        " its host.",
        "",
        "With three replicas and min.insync.replicas=2, the loss of one broker stops no partition and loses no record.",
        (_BROKERS, _MISSING),
        "Orion pages for a broker that is down for 5 min; Cruise Control alerts after 15 min",
    ),
    Harm.NO_CONTROLLER: HarmNote(
        "act",
        "no controller",
        "See that a majority of the controllers is back, and find out why it was away.",
        "See that a majority of the controllers is back: two of three, three of five. Find out why it was away. Without"
        " it a broker that fails takes its partitions offline.",
        "Keep three or five controllers on different hosts, and restart one at a time.",
        (_QUORUM,),
        "ActiveControllerCount, normal 1 in the cluster (Kafka operations guide)",
    ),
    Harm.DATA_AT_RISK: HarmNote(
        "look",
        "data at risk",
        "See that every replica is in sync again, and find out why some were not.",
        "",
        "Four replicas, or three and a broker that is brought back soon, leave room for one more failure.",
        (_MISSING,),
        "UnderReplicatedPartitions, normal 0 (Kafka operations guide)",
    ),
    Harm.CONSUMERS_STOPPED: HarmNote(
        "look",
        "consumers stopped",
        "Look at the logs of these consumers: why they died, or were too slow.",
        commands=(_MEMBERS,),
        source="Zero rebalances outside of deployments (netdata)",
    ),
    Harm.LAG_GREW: HarmNote(
        "look",
        "lag",
        "Look whether these consumers run, and are fast enough.",
        "Look whether the group's consumers run, and whether they are fast enough for what is written.",
        "Give the group as many consumers as it needs at its busiest, up to one for each partition.",
        (_GROUP,),
        "Burrow's rules on lag",
    ),
    Harm.POSTURE: HarmNote("look", "weak settings", source="Our choice: nothing has happened"),
    Harm.ROUTINE: HarmNote("calm", "routine", commands=(_MEMBERS,), source="Our choice: nothing failed"),
}
"""In the order of harm."""
