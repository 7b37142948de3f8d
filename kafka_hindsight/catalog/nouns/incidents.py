"""Incidents and findings in words: how grave they are, and what they ask of their reader."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.tones import Grade, GradedCode, GradedNoun, Tone


@dataclass(frozen=True, kw_only=True)
class UrgencyNoun(Noun):
    """One urgency in words. `asked` follows a number of clusters: `2 to act on`."""

    label: str
    asked: str


class Urgency(NounCode):
    """The urgency of an incident, a window or a cluster for its reader; from the most urgent down."""

    noun: UrgencyNoun

    ACT = UrgencyNoun(code="act", label="Act", asked="to act on", meaning="Something needs its reader now.")
    LOOK = UrgencyNoun(code="look", label="Look", asked="to look at", meaning="Something needs its reader in time.")
    CALM = UrgencyNoun(code="calm", label="Calm", asked="calm", meaning="Nothing is to be done.")


class FindingSeverity(GradedCode):
    """How grave a finding is; from the gravest down. Which receivers get the alerts of which severity is a setting."""

    CRITICAL = GradedNoun(code="critical", grade=Grade.BAD, meaning="Its alert is for receivers that page on-call.")
    WARNING = GradedNoun(code="warning", grade=Grade.WARN, meaning="Its alert is for receivers that page no one.")
    INFO = GradedNoun(
        code="info", grade=Grade.PLAIN, meaning="It is in the report, and no receiver gets it by default."
    )


@dataclass(frozen=True, kw_only=True)
class IncidentNoun(Noun):
    """One kind of incident in words.

    `verb` says what its groups did, in place of `rebalanced 5 times`; `{}` stands for the number of rebalances. `note`
    is said after that. `is_trouble`: it is never routine. `is_at_risk`: it puts records at risk.
    """

    verb: str = ""
    note: str = ""
    is_trouble: bool = False
    is_at_risk: bool = False


@dataclass(frozen=True, kw_only=True)
class HarmNoun(Noun):
    """One harm in words.

    `now` is the advice in one sentence. `prevention` has conditions in braces, which knowledge/durability_advice.py
    knows: a sentence that the settings of the topics refute is left out. `commands` show the present state: braces
    stand for a topic, a group, or the script that shows such a group.
    `is_over_once_back`: nothing is left to do at night once the broker, or the majority of controllers, is back.
    `is_lasting`: what it did stays when it is over. `is_harmless`: it did no harm, so that what was declared asks for
    nothing.
    """

    label: str
    tone: Tone
    urgency: Urgency
    source: str
    now: str = ""
    advice: str = ""
    prevention: str = ""
    commands: tuple[str, ...] = ()
    is_over_once_back: bool = False
    is_lasting: bool = False
    is_harmless: bool = False


_TOPIC = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --topic {topic}"
_TOPIC_SETTINGS = (
    "kafka-configs.sh --bootstrap-server $BOOTSTRAP --describe --all --entity-type topics --entity-name {topic}"
)
_MISSING = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --under-replicated-partitions"
_OFFLINE = "kafka-topics.sh --bootstrap-server $BOOTSTRAP --describe --unavailable-partitions"
_BROKERS = "kafka-broker-api-versions.sh --bootstrap-server $BOOTSTRAP"
_QUORUM = "kafka-metadata-quorum.sh --bootstrap-server $BOOTSTRAP describe --status"
_GROUP = "{tool} --bootstrap-server $BOOTSTRAP --describe --group {group}"


# fmt: off
class IncidentKind(NounCode):
    """Kind of an incident: what its rows have in common."""

    noun: IncidentNoun

    SINGLE = IncidentNoun(code="single", meaning="One rebalance.")
    COOPERATIVE_PAIR = IncidentNoun(code="cooperative_pair", meaning="A cooperative rebalance and its follow-up.")
    ROLLING_RESTART = IncidentNoun(
        code="rolling_restart", verb="restarted its members one after another, in {}",
        meaning="Members restarted one after another.",
    )
    MEMBERS_REPLACED = IncidentNoun(
        code="members_replaced", verb="had members replaced, in {}",
        meaning="Members left, and another one joined for each, before or after.",
    )
    STORM = IncidentNoun(
        code="storm", note=", in a storm", is_trouble=True,
        meaning="One group rebalanced again and again.",
    )
    COORDINATOR_MOVE = IncidentNoun(
        code="coordinator_move", is_trouble=True,
        meaning="The coordinator moved.",
    )
    BROKER_OUTAGE = IncidentNoun(
        code="broker_outage", note=", because a broker was away",
        meaning="A broker was away.",
    )
    HOST_SILENT = IncidentNoun(
        code="host_silent", verb="lost all members on one host, in {}", is_trouble=True,
        meaning="All members on one host fell silent.",
    )
    CLUSTER_RESTART = IncidentNoun(code="cluster_restart", meaning="Brokers were restarted one after another.")
    LEADERS_LOST = IncidentNoun(
        code="leaders_lost", is_at_risk=True,
        meaning="Partitions lost their leader, and no absence of a broker explains it.",
    )
    REPLICAS_OUT = IncidentNoun(
        code="replicas_out", is_at_risk=True,
        meaning="Replicas fell out of sync though their broker was not away.",
    )
    LOG_CUT = IncidentNoun(
        code="log_cut",
        meaning="A replica cut committed records off its log, and no absence of a broker explains it.",
    )
    OFFSETS_MOVED = IncidentNoun(
        code="offsets_moved",
        meaning="A group went on elsewhere than where it had come to, and no rebalance was behind it.",
    )
    LAG = IncidentNoun(code="lag", meaning="Partitions of a group stood or fell behind while they had an owner.")
    WRITES_STOPPED = IncidentNoun(
        code="writes_stopped",
        meaning="Writes with acks=all stopped, and no absence of a broker explains it.",
    )
    QUORUM_LOST = IncidentNoun(
        code="quorum_lost",
        meaning="The controllers had no majority, and the cluster had no controller.",
    )


class Harm(NounCode):
    """The gravest thing that an incident did; from the gravest down."""

    noun: HarmNoun

    RECORDS_LOST = HarmNoun(
        code="records_lost", label="records lost", tone=Tone.LOST, urgency=Urgency.ACT, is_lasting=True,
        meaning="Committed records were lost, or may have been.",
        now="Find the producers of those records and replay them.",
        advice="Find the producers of those records and replay them: compare the topic with what"
        " consumers and other systems hold.",
        prevention="{may_be_unclean}Keep unclean.leader.election.enable=false. {has_few_replicas}Keep three replicas of"
        " each partition. {min_isr_is_low}Set min.insync.replicas=2. Let producers use acks=all.",
        commands=(_TOPIC, _TOPIC_SETTINGS),
        source="UncleanLeaderElectionsPerSec, normal 0 (Kafka operations guide); KIP-101",
    )
    RECORDS_SKIPPED = HarmNoun(
        code="records_skipped", label="records skipped", tone=Tone.LOST, urgency=Urgency.ACT, is_lasting=True,
        meaning="A group went on behind records that it had not read, for another reason than a cut of the log.",
        now="Find out whether the group has to read those records, and reset its offsets if it has.",
        advice="Find out whether the group has to read those records. Where they are still in the log, stop it and"
        " reset its offsets to the first of them.",
        prevention="Set auto.offset.reset to what is right for the group (none lets it fail instead), and keep records"
        " and offsets for longer than it may be away: retention.ms, offsets.retention.minutes.",
        commands=(_GROUP, _TOPIC_SETTINGS),
        source="auto.offset.reset (Kafka consumer configurations)",
    )
    PARTITIONS_OFFLINE = HarmNoun(
        code="partitions_offline", label="partitions without a leader", tone=Tone.LOST, urgency=Urgency.ACT,
        meaning="Partitions had no leader for a second or longer.",
        now="Check that each partition has a leader, and find out why its broker was away.",
        advice="Check that each of these partitions has a leader again, and bring a replica of its last ISR back"
        " where it has none.",
        prevention="{has_few_replicas}Keep three replicas on three brokers. Stop a broker only when no partition is"
        " under-replicated. What a dead broker led has no leader until its session ends: broker.session.timeout.ms, or"
        " with ZooKeeper zookeeper.session.timeout.ms.",
        commands=(_OFFLINE, _TOPIC),
        source="OfflinePartitionsCount, normal 0 (Kafka operations guide)",
    )
    WRITES_REFUSED = HarmNoun(
        code="writes_refused", label="writes stopped", tone=Tone.LOST, urgency=Urgency.ACT,
        meaning="Writes with acks=all were refused or kept waiting, for a second or longer.",
        now="Check that the missing replicas are back, and find out why they went.",
        advice="Check that the missing replicas are back. A lower min.insync.replicas gives up durability. Where writes"
        " waited, the dead broker stayed in the ISR until its session, or replica.lag.time.max.ms, ran out.",
        prevention="{has_no_margin}Keep one replica more than min.insync.replicas, so that one broker may be away.",
        commands=(_MISSING, _TOPIC),
        source="UnderMinIsrPartitionCount, normal 0 (Kafka operations guide)",
    )
    BROKER_LOST = HarmNoun(
        code="broker_lost", label="brokers lost", tone=Tone.BROKER, urgency=Urgency.ACT, is_over_once_back=True,
        meaning="A broker went away without a controlled shutdown, or had not come back by the end.",
        now="Find out why: the end of its log (a disk, a fault), its exit code, kills for memory, pauses, its network"
        " and its host.",
        prevention="With three replicas and min.insync.replicas=2, the loss of one broker stops no partition and loses"
        " no record.",
        commands=(_BROKERS, _MISSING),
        source="Orion pages for a broker that is down for 5 min; Cruise Control alerts after 15 min",
    )
    NO_CONTROLLER = HarmNoun(
        code="no_controller", label="no controller", tone=Tone.BROKER, urgency=Urgency.ACT, is_over_once_back=True,
        meaning="The cluster had no controller: no leader could be elected, and no topic changed.",
        now="Check that a majority of the controllers is back, and find out why it was away.",
        advice="Check that a majority of the controllers is back: two of three, three of five. Find out why it was"
        " away. Without it a broker that fails takes its partitions offline.",
        prevention="Keep three or five controllers on different hosts, and restart one at a time.",
        commands=(_QUORUM,),
        source="ActiveControllerCount, normal 1 in the cluster (Kafka operations guide)",
    )
    DATA_AT_RISK = HarmNoun(
        code="data_at_risk", label="data at risk", tone=Tone.BROKER, urgency=Urgency.LOOK,
        meaning="Replicas were missing: one more failure could lose records or stop partitions.",
        now="Check that every replica is in sync again, and find out why some were not.",
        prevention="Four replicas, or three and a broker that is brought back soon, leave room for one more failure.",
        commands=(_MISSING,),
        source="UnderReplicatedPartitions, normal 0 (Kafka operations guide)",
    )
    RECORDS_READ_AGAIN = HarmNoun(
        code="records_read_again", label="records read again", tone=Tone.LOST, urgency=Urgency.LOOK,
        meaning="A group read records a second time.",
        now="Find out whether reading them twice did harm.",
        advice="Find out whether reading these records twice did harm: duplicates in what the group writes.",
        prevention="Make the work of the group idempotent, or let it write results and offsets in one transaction.",
        commands=(_GROUP,),
        source="at-least-once delivery (Kafka documentation, message delivery semantics)",
    )
    CONSUMERS_STOPPED = HarmNoun(
        code="consumers_stopped", label="consumers stopped", tone=Tone.UNKNOWN, urgency=Urgency.LOOK,
        meaning="Consumers stopped because something failed, or may have failed.",
        now="Look at the logs of these consumers: whether they died or were closed, or were too slow.",
        source="Zero rebalances outside of deployments (netdata)",
    )
    LAG_GREW = HarmNoun(
        code="lag_grew", label="lag", tone=Tone.UNKNOWN, urgency=Urgency.LOOK,
        meaning="Partitions that had an owner stood still, or fell behind, while records waited.",
        now="Look whether these consumers run, and are fast enough.",
        advice="Look whether the group's consumers run, and whether they are fast enough for what is written.",
        prevention="Give the group as many consumers as it needs at its busiest, up to one for each partition.",
        commands=(_GROUP,),
        source="Burrow's rules on lag",
    )
    BROKERS_RESTARTED = HarmNoun(
        code="brokers_restarted", label="brokers restarted", tone=Tone.BROKER, urgency=Urgency.LOOK,
        meaning="Brokers were shut down cleanly and came back: each was in sync again before the next one stopped.",
        now="If this was planned, there is nothing to do; otherwise find out who restarted them.",
        prevention="Declare planned work as maintenance: any other restart then stands out.",
        commands=(_BROKERS,), is_harmless=True,
        source="Controlled shutdown (Kafka operations guide, graceful shutdown)",
    )
    POSTURE = HarmNoun(
        code="posture", label="weak settings", tone=Tone.UNKNOWN, urgency=Urgency.LOOK,
        meaning="Nothing happened; a setting or a placement would make a failure worse.",
        source="Our choice: nothing has happened",
    )
    ROUTINE = HarmNoun(
        code="routine", label="routine", tone=Tone.MEMBER, urgency=Urgency.CALM,
        meaning="Members came and went, or topics changed: consumers paused, and nothing failed.",
        source="Our choice: nothing failed",
    )
# fmt: on
