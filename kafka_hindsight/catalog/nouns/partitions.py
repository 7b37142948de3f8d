"""Changes of leaders, replicas out of sync, logs that were cut, imbalance, and what could not be used, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.brokers import OutageKind
from kafka_hindsight.catalog.nouns.tones import Grade, GradedCode, GradedNoun, Tone


@dataclass(frozen=True, kw_only=True)
class OutOfSyncNoun(Noun):
    """One reason to be out of sync in words. `label` is a clause: `broker 2 was out of sync: it was away`.

    `is_trouble`: something is wrong that no absence explains.
    """

    label: str
    tone: Tone
    advice: str
    is_trouble: bool = False


@dataclass(frozen=True, kw_only=True)
class FailoverNoun(Noun):
    """One reason for a change of leader in words.

    `clause` follows the instant since when leaders are elsewhere: `since 02:10, when it crashed`. `loss` is how a
    leader was lost, where that is harm even if no broker was away; `{former}` stands for the former leader.
    """

    label: str
    tone: Tone
    clause: str
    advice: str
    loss: str = ""

    @property
    def is_harmful(self) -> bool:
        """Whether the change is an incident even where no broker was away, however short."""
        return bool(self.loss)


@dataclass(frozen=True, kw_only=True)
class TruncationNoun(GradedNoun):
    """One verdict on a truncation in words. `verb` says it of the broker that cut its log."""

    label: str
    verb: str


@dataclass(frozen=True, kw_only=True)
class ImbalanceEndNoun(Noun):
    """One end of a period of imbalance in words. `sentence` is the last one of the period's explanation.

    Source of the advice: KafkaController.checkAndTriggerAutoLeaderRebalance;
    ReplicationControlManager.maybeBalancePartitionLeaders, which ignores the percentage (apache/kafka#11893).
    """

    label: str
    sentence: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class UnavailabilityNoun(Noun):
    """One kind of what could not be used in words.

    `clause` is about one partition or group, `predicate` follows the number of partitions or groups, `participle`
    follows `may have`.
    """

    clause: str
    predicate: str
    participle: str


# fmt: off
class OutOfSyncKind(NounCode):
    """Why a broker was out of an ISR."""

    noun: OutOfSyncNoun

    OUTAGE = OutOfSyncNoun(
        code="outage", label="it was away", tone=Tone.PROTOCOL,
        meaning="The broker was away.",
        advice="See the outage. Stop no other broker until this one is back in every ISR.",
    )
    SLOW = OutOfSyncNoun(
        code="slow", label="it was alive and fetched too late", tone=Tone.BROKER, is_trouble=True,
        meaning="The broker was alive and fetched too late.",
        advice="Look at the broker's disks (await, utilisation), network and GC pauses at that time, and at"
        " num.replica.fetchers. A larger replica.lag.time.max.ms only hides it: the same records are at risk for"
        " longer.",
    )
    DISK = OutOfSyncNoun(
        code="disk", label="its log directory failed", tone=Tone.LOST, is_trouble=True,
        meaning="A log directory failed.",
        advice="Replace the disk and restart the broker, or move its replicas elsewhere. The broker runs on"
        " without the replicas of the failed directory; nothing restores them by itself.",
    )
    NOT_AUTHENTICATED = OutOfSyncNoun(
        code="not_authenticated", label="it could not authenticate", tone=Tone.LOST, is_trouble=True,
        meaning="The broker could not authenticate with the leader.",
        advice="Renew the certificate or the password with which brokers reach each other: openssl x509 -enddate shows"
        " when a certificate ends. Neither disks nor pauses are to blame.",
    )
    REASSIGNMENT = OutOfSyncNoun(
        code="reassignment", label="its replicas were moved", tone=Tone.TOPIC,
        meaning="The replica was being moved.",
        advice="Nothing: a reassignment moves replicas.",
    )
    UNKNOWN = OutOfSyncNoun(
        code="unknown", label="no line shows why", tone=Tone.UNKNOWN, is_trouble=True,
        meaning="The evidence does not show why.",
        advice="Give Hindsight the logs of every broker for this time: the leader logs which replicas it removes from"
        " the ISR, the controller which brokers it fences.",
    )


class FailoverKind(NounCode):
    """Why a partition's leader changed. The order is the order in which the kinds are tried."""

    noun: FailoverNoun

    LOG_DIR_FAILED = FailoverNoun(
        code="log_dir_failed", label="log directory failed", tone=Tone.LOST, clause="when its log directory failed",
        loss="a log directory of {former} failed",
        meaning="The log directory that held the partition failed.",
        advice=OutOfSyncKind.DISK.noun.advice,
    )
    UNCLEAN_ELECTION = FailoverNoun(
        code="unclean_election", label="unclean election", tone=Tone.LOST, clause="with an unclean election",
        loss="a replica out of sync became the leader",
        meaning="The new leader was outside the last ISR and ELR, and was not the last leader.",
        advice="Compare the topic with what consumers and other systems hold. Set unclean.leader.election.enable=false"
        " if records must not be lost.",
    )
    OFFLINE = FailoverNoun(
        code="offline", label="left without a leader", tone=Tone.LOST, clause="when partitions lost their leader",
        loss="no replica could take over from {former}",
        meaning="The partition has no leader left.",
        advice="Bring a replica of its last ISR back. An unclean election brings it back sooner and loses records.",
    )
    LEADER_RESTORED = FailoverNoun(
        code="leader_restored", label="has a leader again", tone=Tone.ASKED,
        clause="when other brokers took over partitions without a leader",
        meaning="A leaderless partition has a leader again.",
        advice="See the change before it for why the partition had no leader. If the verdict is only `possible`, it is"
        " not known whether the new leader had every record: compare the topic with what consumers and other systems"
        " hold.",
    )
    REASSIGNMENT = FailoverNoun(
        code="reassignment", label="reassignment", tone=Tone.TOPIC, clause="with a reassignment",
        meaning="The partition's replicas were reassigned.",
        advice=OutOfSyncKind.REASSIGNMENT.noun.advice,
    )
    CONTROLLED_SHUTDOWN = FailoverNoun(
        code="controlled_shutdown", label="controlled shutdown", tone=Tone.PROTOCOL, clause="when it was shut down",
        meaning="The former leader had a controlled shutdown.",
        advice="Nothing, if the broker came back. If partitions had no leader meanwhile, see the scorecard of the"
        " restart.",
    )
    BROKER_UNRESPONSIVE = FailoverNoun(
        code="broker_unresponsive", label="broker unresponsive", tone=Tone.BROKER, clause="when it stopped responding",
        meaning="The former leader was alive, but unresponsive or fenced.",
        advice=OutageKind.UNRESPONSIVE.noun.advice,
    )
    BROKER_CRASH = FailoverNoun(
        code="broker_crash", label="broker crash", tone=Tone.BROKER, clause="when it crashed",
        meaning="The former leader crashed.",
        advice=OutageKind.CRASH.noun.advice,
    )
    PREFERRED_ELECTION = FailoverNoun(
        code="preferred_election", label="preferred election", tone=Tone.ASKED, clause="with an election",
        meaning="The first replica took over from a leader that was alive.",
        advice="Nothing: the preferred replicas lead again. The change before it says what had moved the leaders.",
    )
    UNKNOWN = FailoverNoun(
        code="unknown", label="not known", tone=Tone.UNKNOWN, clause="when leaders left it for an unknown reason",
        meaning="The evidence does not show why.",
        advice="Give Hindsight the state-change logs of every broker for this time, and the controllers' logs. See"
        " quality.leadership_gaps for each gap.",
    )


class TruncationVerdict(GradedCode):
    """Whether a truncation took committed records."""

    noun: TruncationNoun

    NOTHING_COMMITTED_LOST = TruncationNoun(
        code="nothing_committed_lost", label="nothing committed", grade=Grade.PLAIN, verb="lost no committed record",
        meaning="Only records above the high watermark were cut.",
    )
    COMMITTED_LOST = TruncationNoun(
        code="committed_lost", label="committed records", grade=Grade.BAD, verb="lost committed records",
        meaning="Committed records were cut.",
    )
    UNKNOWN = TruncationNoun(
        code="unknown", label="not known", grade=Grade.WARN, verb="may have lost committed records",
        meaning="The evidence does not show it.",
    )


class ImbalanceEnd(NounCode):
    """Event that ended a period of imbalance."""

    noun: ImbalanceEndNoun

    AUTOMATIC_ELECTION = ImbalanceEndNoun(
        code="automatic_election", label="Kafka's own preferred election",
        meaning="Kafka's own preferred election.",
        sentence="A preferred election of Kafka's own brought leaders back.",
        advice="Kafka's own task ended it. leader.imbalance.check.interval.seconds (300 s) bounds how long it lasts; a"
        " KRaft controller ignores the percentage and moves every leader.",
    )
    REQUESTED_ELECTION = ImbalanceEndNoun(
        code="requested_election", label="a requested preferred election",
        meaning="A preferred election that an operator requested.",
        sentence="A preferred election that an operator requested brought leaders back.",
        advice="An operator requested the election. With auto.leader.rebalance.enable Kafka does it by itself within"
        " leader.imbalance.check.interval.seconds (300 s).",
    )
    PREFERRED_ELECTION = ImbalanceEndNoun(
        code="preferred_election", label="a preferred election",
        meaning="A preferred election; the evidence does not show who requested it.",
        sentence="A preferred election brought leaders back; the evidence does not show who requested it.",
        advice="An election ended it; the logs do not show what requested it. With auto.leader.rebalance.enable Kafka"
        " does it by itself within leader.imbalance.check.interval.seconds (300 s).",
    )
    FAILOVER = ImbalanceEndNoun(
        code="failover", label="another change of leader",
        meaning="A failover for another reason.",
        sentence="Another change of leader brought leaders back.",
        advice="Another change of leader ended it, not an election: look for the outage of the broker that led the"
        " partitions, and run a preferred leader election after a broker is back.",
    )


NO_KNOWN_END = ImbalanceEndNoun(
    code="", label="nothing yet, or nothing known",
    meaning="No change of leader ended it, or it is not over.",
    sentence="No change of leader explains that: topics may have been created or deleted.",
    advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred"
    " --all-topic-partitions), and find out why auto.leader.rebalance.enable did not cause one: a ZooKeeper controller"
    " acts only above leader.imbalance.per.broker.percentage; a KRaft controller ignores the percentage and moves every"
    " leader at most leader.imbalance.check.interval.seconds later, once its first replica is in sync.",
)
"""A period of imbalance that no known event ended."""


class UnavailabilityKind(NounCode):
    """The use of a partition or a group that was not possible."""

    noun: UnavailabilityNoun

    NO_LEADER = UnavailabilityNoun(
        code="no_leader", clause="{subject} had no leader", predicate="had no leader",
        participle="had no leader",
        meaning="The partition had no leader, whatever the reason: it could be neither written nor read. From the loss"
        " of one leader to the begin of the next.",
    )
    ACKS_ALL_REFUSED = UnavailabilityNoun(
        code="acks_all_refused", clause="{subject} refused writes with acks=all",
        predicate="took no writes with acks=all", participle="taken no writes with acks=all",
        meaning="The partition's leader refused writes with acks=all, since fewer replicas than min.insync.replicas"
        " were in sync. Source: Partition.appendRecordsToLeader, NotEnoughReplicasException.",
    )
    ACKS_ALL_HUNG = UnavailabilityNoun(
        code="acks_all_hung", clause="Writes with acks=all to {subject} waited",
        predicate="took no writes with acks=all", participle="taken no writes with acks=all",
        meaning="Writes with acks=all to the partition waited: a follower in the ISR was down or did not respond, and"
        " had not been removed from it yet. Source: acks=all waits for every replica in the ISR; a leader removes a"
        " follower after replica.lag.time.max.ms, a controller when the session of its broker expires.",
    )
    NO_CONSUMER = UnavailabilityNoun(
        code="no_consumer", clause="Group {subject} consumed nothing", predicate="consumed nothing",
        participle="consumed nothing",
        meaning="No member of the group consumed: all had stopped in an eager rebalance, or it had no member. Source:"
        " KIP-429 (an eager member gives back everything before it joins again).",
    )
# fmt: on
