"""The kinds of event that the logs of a broker can show, and the reasons why they could not, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.incidents import Harm


@dataclass(frozen=True, kw_only=True)
class WitnessNoun(Noun):
    """One kind of witness in words.

    `events` are what it shows, in the plural. `harm` is what such events may show, `zero` the sentence that it did not
    happen, and `tables` have the rows that count it.
    """

    events: str
    harm: Harm
    zero: str
    tables: tuple[str, ...]


# fmt: off
class WitnessKind(NounCode):
    """A kind of event that the logs of a broker can show. Only where they can, their silence shows that none happened.

    The gravest harm is first.
    """

    noun: WitnessNoun

    CUTS = WitnessNoun(
        code="cuts", events="lost records",
        harm=Harm.RECORDS_LOST, zero="no record was lost",
        tables=("gold.truncations", "gold.incidents"),
        meaning="Which records a replica cuts off its log.",
    )
    LEADERS = WitnessNoun(
        code="leaders", events="partitions without a leader",
        harm=Harm.PARTITIONS_OFFLINE, zero="no partition was without a leader",
        tables=("gold.failovers", "gold.unavailability", "gold.incidents"),
        meaning="Which partitions get another leader, or none.",
    )
    IN_SYNC = WitnessNoun(
        code="in_sync", events="refused writes",
        harm=Harm.WRITES_REFUSED, zero="no write was refused",
        tables=("gold.isr_changes", "gold.unavailability", "gold.incidents"),
        meaning="Which replicas leave and join the in-sync replicas.",
    )
    LIFE = WitnessNoun(
        code="life", events="absences of brokers",
        harm=Harm.BROKER_LOST, zero="no broker was away",
        tables=("gold.broker_outages",),
        meaning="When the broker starts, shuts down, and is let in or fenced.",
    )
    GROUPS = WitnessNoun(
        code="groups", events="rebalances",
        harm=Harm.CONSUMERS_STOPPED, zero="no group stopped because something failed",
        tables=("gold.rebalances", "gold.unavailability", "gold.incidents"),
        meaning="Which groups rebalance, and why members leave.",
    )


@dataclass(frozen=True, kw_only=True)
class InputNoun(Noun):
    """One input beside the brokers' logs. `events` are what rests on it, `missing` the clause that it was not read."""

    events: str
    missing: str
    advice: str


class InputKind(NounCode):
    """An input beside the brokers' logs. What rests on it alone is not known where it was not read."""

    noun: InputNoun

    CLIENT_LOGS = InputNoun(
        code="client_logs", events="why members left, and for how long they stopped",
        missing="no line of a client's log was read",
        meaning="The logs of consumers and producers.",
        advice="Give Hindsight the clients' logs of that time (CLIENT_LOGS).",
    )
    READINGS = InputNoun(
        code="readings", events="lag, stalls and which member owned what",
        missing="no reading with committed offsets was read",
        meaning="Readings of the cluster.",
        advice="Let hindsight snapshot, or the snapshot DAG, read the cluster all the time.",
    )
    RECORDS = InputNoun(
        code="records", events="which records groups skipped or read again",
        missing="no record of __consumer_offsets was read",
        meaning="Records of `__consumer_offsets`: of groups, and of commits.",
        advice="Give Hindsight the records of __consumer_offsets of that time (RECORDS), before Kafka compacts them.",
    )


@dataclass(frozen=True, kw_only=True)
class WitnessGapNoun(Noun):
    """One reason why a witness is missing.

    `clause` names it, about brokers, a level and loggers; `advice` mends it, with the files of these loggers.
    """

    clause: str
    advice: str


class WitnessGap(NounCode):
    """Why the logs of a broker could not show a kind of event. The order is the order in which they are named."""

    noun: WitnessGapNoun

    NO_LOG = WitnessGapNoun(
        code="no_log", clause="no log of {brokers} was read",
        meaning="No log of the broker was read.",
        advice="Give Hindsight the logs of each broker: server.log, state-change.log and controller.log.",
    )
    NO_LINES = WitnessGapNoun(
        code="no_lines", clause="no log of {brokers} has a line of that time",
        meaning="The broker's logs have no line of that time, and nothing shows that it was away.",
        advice="Give Hindsight the log files of that time, where there are any.",
    )
    SOME_LINES = WitnessGapNoun(
        code="some_lines", clause="no log of {brokers} has a line of them, and ids do not join over them",
        meaning="The broker's logs have no line of that time, and lines were lost then or in another such time.",
        advice="Give Hindsight the log files of those times, where there are any.",
    )
    FILTERED = WitnessGapNoun(
        code="filtered", clause="no line below {level} by {brokers} was read",
        meaning="Its logs were read, and they have no line at level INFO.",
        advice="Ship the brokers' logs at level INFO, without a filter: Kafka writes there what it does.",
    )
    NO_LOGGER = WitnessGapNoun(
        code="no_logger",
        clause="no line at level INFO of {loggers} by {brokers} was read",
        meaning="Its logs were read, and they have no line of a logger that shows such events.",
        advice="Give Hindsight the file in which that logger writes, by default {files}, and set it to INFO.",
    )
    NO_CONTROLLER = WitnessGapNoun(
        code="no_controller",
        clause="beside the lines of {brokers} none of a controller was read",
        meaning="Its logs were read, and no log of a controller, which alone says that a broker was missed.",
        advice="Give Hindsight controller.log of each broker, and all logs of the nodes that are controllers alone.",
    )
# fmt: on
