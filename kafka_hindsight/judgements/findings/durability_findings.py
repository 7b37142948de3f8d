"""Findings about settings of topics and brokers that decide whether a loss does harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.rows import BrokerSnapshot, Finding, PartitionSnapshot, Quote
from kafka_hindsight.judgements.brokers.settings_at import Setting, SettingsInForce
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.rule_inputs import LastReading
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.knowledge.broker_settings import AUTO_REBALANCE, MIN_ISR, UNCLEAN
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import durability_rules as declared
from kafka_hindsight.shared.grouping import grouped

TRANSACTIONS_TOPIC = "__transaction_state"
_OWN_RULES = (OFFSETS_TOPIC, TRANSACTIONS_TOPIC)
"""Topics whose replicas have rules of their own."""

MANY = 3
"""Brokers from which on three replicas are possible."""

_NAMED = 5
_ALIKE = (
    MIN_ISR,
    UNCLEAN,
    AUTO_REBALANCE,
    "default.replication.factor",
    "auto.create.topics.enable",
    "replica.lag.time.max.ms",
)
"""Settings that should have the same value on all brokers."""


@dataclass(frozen=True)
class Topic:
    """One topic as the last reading shows it: its weakest partition, and its settings."""

    name: str
    is_internal: bool
    partitions: Sequence[PartitionSnapshot]
    min_isr: Setting | None
    unclean: Setting | None

    @property
    def is_unclean(self) -> bool:
        return self.unclean is not None and self.unclean.is_on

    @property
    def weakest(self) -> PartitionSnapshot:
        return min(self.partitions, key=lambda p: (len(p.replicas or ()), p.partition))

    @property
    def replicas(self) -> int:
        return len(self.weakest.replicas or ())

    @property
    def margin(self) -> int | None:
        """How many replicas may be out of sync before acks=all fails; None where it is not known."""
        least = self.min_isr.number if self.min_isr else None
        return None if least is None else self.replicas - least

    @property
    def quote(self) -> Quote:
        return quote_snapshot(self.weakest, f"{self.name}-{self.weakest.partition}: replicas {self.weakest.replicas}")

    @property
    def against_minimum(self) -> str:
        """Its name, with min.insync.replicas and the number of replicas: `orders (2 of 3)`."""
        return f"{self.name} ({self.min_isr.value if self.min_isr else '?'} of {self.replicas})"


def _broker_count(brokers: Iterable[BrokerSnapshot], settings: SettingsInForce) -> int:
    return len({b.broker for b in brokers}) or len(settings.serving())


_TOPIC_FAULTS: Mapping[Rule, Callable[[Topic, int], bool]] = {
    declared.REPLICATION_FACTOR_ONE: lambda t, brokers: t.replicas == 1 < brokers and t.name not in _OWN_RULES,
    declared.REPLICATION_FACTOR_LOW: lambda t, brokers: 1 < t.replicas < MANY <= brokers and t.name not in _OWN_RULES,
    declared.MIN_ISR_LOW: lambda t, _: t.replicas >= MANY and t.margin == t.replicas - 1,
    declared.MIN_ISR_EQUALS_REPLICATION: lambda t, _: t.replicas > 1 and t.margin == 0,
    declared.MIN_ISR_ABOVE_REPLICATION: lambda t, _: t.margin is not None and t.margin < 0,
    declared.UNCLEAN_ELECTION_ENABLED: lambda t, _: t.replicas > 1 and t.is_unclean,
    declared.OFFSETS_TOPIC_WEAK: lambda t, brokers: t.name == OFFSETS_TOPIC and t.replicas < min(MANY, brokers),
}
"""The fault of a topic that each rule looks for, as a condition on the topic and the number of brokers."""


def topics_of(partitions: Iterable[PartitionSnapshot], settings: SettingsInForce) -> list[Topic]:
    """The topics of a reading by name, each with its partitions in order."""
    ordered = sorted((p for p in partitions if p.replicas), key=lambda p: (p.topic, p.partition))
    return [
        Topic(name, bool(own[0].is_internal), own, settings.of_topic(name, MIN_ISR), settings.of_topic(name, UNCLEAN))
        for name, own in grouped(ordered, lambda p: p.topic).items()
    ]


_MINIMUM_RULES = (
    declared.MIN_ISR_LOW,
    declared.MIN_ISR_EQUALS_REPLICATION,
    declared.MIN_ISR_ABOVE_REPLICATION,
)
"""The rules that compare min.insync.replicas with the number of replicas."""


def _topics_at_risk(
    cluster: str,
    partitions: LastReading[PartitionSnapshot],
    brokers: LastReading[BrokerSnapshot],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    """One finding for each fault, however many topics have it; Kafka's own topics have one of their own."""
    topics, count = topics_of(partitions, settings_in_force), _broker_count(brokers, settings_in_force)
    for rule, is_weak in _TOPIC_FAULTS.items():
        for _, weak in sorted(grouped((t for t in topics if is_weak(t, count)), lambda t: t.is_internal).items()):
            is_minimum = rule in _MINIMUM_RULES
            details = [t.against_minimum if is_minimum else f"{t.name} ({t.replicas})" for t in weak]
            quotes = [t.quote for t in weak[:_NAMED]]
            if is_minimum or rule is declared.UNCLEAN_ELECTION_ENABLED:
                proofs = (t.min_isr if is_minimum else t.unclean for t in weak[:_NAMED])
                quotes += [s.quote for s in proofs if s]
            names = [t.name for t in weak]
            yield _folded(cluster, rule, names, details, quotes, settings_in_force.at, brokers=count)


def _folded(
    cluster: str, rule: Rule, subjects: Sequence[str], details: Iterable[str], quotes: Iterable[Quote], at: datetime,
    **words: object,
) -> Finding:  # fmt: skip
    """One finding for all subjects, at the instant of the reading."""
    names = list(details)
    examples = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    return finding_of(cluster, rule, subjects, [at], quotes, details=examples, **words)


def _of_settings(
    cluster: str, rule: Rule, names: Iterable[str], settings_in_force: SettingsInForce
) -> Iterator[Finding]:
    """One finding about those of some settings whose value all brokers share; none without any."""
    settings = [(name, setting) for name in names if (setting := settings_in_force.agreed(name))]
    if settings:
        details = [f"{name} is {setting.value}" for name, setting in settings]
        quotes = [setting.quote for _, setting in settings]
        yield _folded(cluster, rule, [cluster], details, quotes, settings_in_force.at)


def _one_rack(
    cluster: str,
    partitions: LastReading[PartitionSnapshot],
    brokers: LastReading[BrokerSnapshot],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    rack = {b.broker: b.rack for b in brokers if b.rack}
    racks = set(rack.values())
    alone = []
    for t in topics_of(partitions, settings_in_force):
        # A broker whose rack is not known counts as a rack of its own.
        racks_of = ((p, {rack.get(broker, broker) for broker in p.replicas or ()}) for p in t.partitions)
        in_one = [p for p, racks_of_replicas in racks_of if len(racks_of_replicas) == 1 and len(p.replicas or ()) > 1]
        alone += [(t.name, in_one)] if in_one else []
    if len(racks) > 1 and alone:
        quotes = [
            quote_snapshot(p, f"{name}-{p.partition}: replicas {p.replicas}, all in one rack")
            for name, (p, *_) in alone[:_NAMED]
        ]
        details = (f"{name} ({len(in_one)} partitions)" for name, in_one in alone)
        names, at = [name for name, _ in alone], settings_in_force.at
        yield _folded(cluster, declared.REPLICAS_IN_ONE_RACK, names, details, quotes, at, racks=len(racks))


def _racks(cluster: str, brokers: LastReading[BrokerSnapshot], settings_in_force: SettingsInForce) -> Iterator[Finding]:
    ordered = sorted(brokers, key=lambda b: b.broker)
    racks = sorted({b.rack for b in ordered if b.rack})
    without = [b for b in ordered if not b.rack]
    if len(ordered) < 2 or (not without and len(racks) > 1):
        return
    is_mixed = bool(racks and without)
    details = [f"broker {b.broker}" for b in without] if is_mixed else racks or ["no broker has one"]
    examples = (without or ordered)[:_NAMED]
    quotes = [quote_snapshot(b, f"broker {b.broker}: rack {b.rack or 'none'}") for b in examples]
    rule = declared.RACKS_MISSING if is_mixed else declared.RACKS_UNKNOWN
    yield _folded(cluster, rule, [cluster], details, quotes, settings_in_force.at)


def _transactions(
    cluster: str,
    partitions: LastReading[PartitionSnapshot],
    brokers: LastReading[BrokerSnapshot],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    """The topic of transactions where it exists, else the settings with which it will be created."""
    if _broker_count(brokers, settings_in_force) < MANY:
        return
    topics = topics_of((p for p in partitions if p.topic == TRANSACTIONS_TOPIC), settings_in_force)
    limits = declared.TRANSACTION_TOPIC_WEAK.thresholds
    if topics:
        (topic,) = topics
        least = topic.min_isr.number if topic.min_isr else None
        is_weak = topic.replicas < limits["replicas"] or (least is not None and least < limits["in sync"])
        details, quotes = topic.against_minimum, [topic.quote, *([topic.min_isr.quote] if topic.min_isr else [])]
    else:
        minimums = {
            "transaction.state.log.replication.factor": limits["replicas"],
            "transaction.state.log.min.isr": limits["in sync"],
        }
        settings = [(name, n, settings_in_force.agreed(name)) for name, n in minimums.items()]
        weak = [(name, s) for name, n, s in settings if s and (s.number or 0) < n]
        is_weak, quotes = bool(weak), [s.quote for _, s in weak]
        details = f"it does not exist yet, and {' and '.join(f'{name} is {s.value}' for name, s in weak)}"
    if is_weak:
        rule, at = declared.TRANSACTION_TOPIC_WEAK, settings_in_force.at
        yield _folded(cluster, rule, [TRANSACTIONS_TOPIC], [details], quotes, at)


def _broker_defaults(
    cluster: str, brokers: LastReading[BrokerSnapshot], settings_in_force: SettingsInForce
) -> Iterator[Finding]:
    agreed, count, at = settings_in_force.agreed, _broker_count(brokers, settings_in_force), settings_in_force.at
    factor, creates = agreed("default.replication.factor"), agreed("auto.create.topics.enable")
    if factor and factor.number is not None and factor.number < MANY <= count:
        details = f"{factor.value}, and topics are created automatically" if creates and creates.is_on else factor.value
        quotes = [factor.quote, *([creates.quote] if creates else [])]
        yield _folded(cluster, declared.DEFAULT_REPLICATION_LOW, [cluster], [details], quotes, at)
    balances = agreed(AUTO_REBALANCE)
    if balances and not balances.is_on:
        yield _folded(cluster, declared.AUTO_REBALANCE_OFF, [cluster], [], [balances.quote], at)


def _differences(cluster: str, settings_in_force: SettingsInForce) -> Iterator[Finding]:
    details, quotes = [], []
    for name in _ALIKE:
        reported = (settings_in_force.of_broker(b, name) for b in settings_in_force.serving())
        by_value = grouped((s for s in reported if s), lambda s: s.value)
        if len(by_value) > 1:
            details.append(f"{name} is {' or '.join(sorted(by_value))}")
            quotes += [by_value[value][0].quote for value in sorted(by_value)]
    if details:
        yield _folded(cluster, declared.SETTINGS_DIFFER, [cluster], details, quotes, settings_in_force.at)


def _session_bounds(cluster: str, settings_in_force: SettingsInForce) -> Iterator[Finding]:
    """A finding where the brokers' bounds exclude the session timeout that clients use by default."""
    usual = declared.SESSION_BOUNDS.thresholds["ms"]
    low, high = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
    low_ms, high_ms = (s.number if (s := settings_in_force.agreed(name)) else None for name in (low, high))
    excluding = [low] if low_ms is not None and low_ms > usual else []
    excluding += [high] if high_ms is not None and high_ms < usual else []
    yield from _of_settings(cluster, declared.SESSION_BOUNDS, excluding, settings_in_force)


def _consumer_sessions(cluster: str, settings_in_force: SettingsInForce) -> Iterator[Finding]:
    """A finding where the brokers give members of the consumer protocol short timeouts."""
    limits = declared.CONSUMER_SESSIONS_SHORT.thresholds
    session, beat = "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms"
    session_ms, beat_ms = (s.number if (s := settings_in_force.agreed(name)) else None for name in (session, beat))
    names = [session] if session_ms is not None and session_ms < limits["ms"] else []
    if session_ms and beat_ms and beat_ms > session_ms * limits["share of the session"]:
        names = [session, beat]
    yield from _of_settings(cluster, declared.CONSUMER_SESSIONS_SHORT, names, settings_in_force)


RULES = (
    _topics_at_risk,
    _one_rack,
    _transactions,
    _racks,
    _broker_defaults,
    _differences,
    _session_bounds,
    _consumer_sessions,
)
