"""Findings about settings of topics and brokers that decide whether a loss does harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.rows import Finding, PartitionSnapshot, Quote
from kafka_hindsight.judgements.brokers.settings_at import Setting
from kafka_hindsight.judgements.findings.finding_facts import Facts, finding_of
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.judgements.reasoning.evidence import quote_snapshot
from kafka_hindsight.knowledge.broker_settings import AUTO_REBALANCE, MIN_ISR, UNCLEAN
from kafka_hindsight.knowledge.rules import RULE_BY_ID
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
class _Topic:
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


def _broker_count(facts: Facts) -> int:
    return len({b.broker for b in facts.brokers}) or len(facts.broker_settings.serving())


_TOPIC_FAULTS: Mapping[str, Callable[[_Topic, int], bool]] = {
    "replication_factor_one": lambda t, brokers: t.replicas == 1 < brokers and t.name not in _OWN_RULES,
    "replication_factor_low": lambda t, brokers: 1 < t.replicas < MANY <= brokers and t.name not in _OWN_RULES,
    "min_isr_low": lambda t, _: t.replicas >= MANY and t.margin == t.replicas - 1,
    "min_isr_equals_replication": lambda t, _: t.replicas > 1 and t.margin == 0,
    "min_isr_above_replication": lambda t, _: t.margin is not None and t.margin < 0,
    "unclean_election_enabled": lambda t, _: t.replicas > 1 and t.is_unclean,
    "offsets_topic_weak": lambda t, brokers: t.name == OFFSETS_TOPIC and t.replicas < min(MANY, brokers),
}
"""The fault of a topic that each rule looks for, as a condition on the topic and the number of brokers."""


def _topics_at_risk(facts: Facts) -> Iterator[Finding]:
    """One finding for each fault, however many topics have it; Kafka's own topics have one of their own."""
    by_name = grouped((p for p in facts.partitions if p.replicas), lambda p: p.topic)
    of_topic, at, brokers = facts.broker_settings.of_topic, facts.judged_at, _broker_count(facts)
    topics = [
        _Topic(
            name, bool(partitions[0].is_internal), partitions, of_topic(name, MIN_ISR, at), of_topic(name, UNCLEAN, at)
        )
        for name, partitions in sorted(by_name.items())
    ]
    for rule_id, is_weak in _TOPIC_FAULTS.items():
        for _, weak in sorted(grouped((t for t in topics if is_weak(t, brokers)), lambda t: t.is_internal).items()):
            is_minimum = rule_id.startswith("min_isr")
            details = [t.against_minimum if is_minimum else f"{t.name} ({t.replicas})" for t in weak]
            quotes = [t.quote for t in weak[:_NAMED]]
            if is_minimum or rule_id == "unclean_election_enabled":
                proofs = (t.min_isr if is_minimum else t.unclean for t in weak[:_NAMED])
                quotes += [s.quote for s in proofs if s]
            yield _folded(facts, rule_id, [t.name for t in weak], details, quotes, brokers=brokers)
    yield from _one_rack(facts, topics)
    yield from _transactions(facts, topics)


def _folded(
    facts: Facts, rule_id: str, subjects: Sequence[str], details: Iterable[str], quotes: Iterable[Quote],
    **words: object,
) -> Finding:  # fmt: skip
    """One finding for all subjects, at the instant of the reading."""
    names = list(details)
    examples = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    return finding_of(facts, rule_id, subjects, [facts.judged_at], quotes, details=examples, **words)


def _of_settings(facts: Facts, rule_id: str, names: Iterable[str]) -> Iterator[Finding]:
    """One finding about those of some settings whose value all brokers share; none without any."""
    settings = [(name, setting) for name in names if (setting := facts.agreed_setting(name))]
    if settings:
        details = [f"{name} is {setting.value}" for name, setting in settings]
        yield _folded(facts, rule_id, [facts.cluster], details, [setting.quote for _, setting in settings])


def _one_rack(facts: Facts, topics: Iterable[_Topic]) -> Iterator[Finding]:
    rack = {b.broker: b.rack for b in facts.brokers if b.rack}
    racks = set(rack.values())
    alone = []
    for t in topics:
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
        yield _folded(facts, "replicas_in_one_rack", [name for name, _ in alone], details, quotes, racks=len(racks))


def _racks(facts: Facts) -> Iterator[Finding]:
    brokers = sorted(facts.brokers, key=lambda b: b.broker)
    racks = sorted({b.rack for b in brokers if b.rack})
    without = [b for b in brokers if not b.rack]
    if len(brokers) < 2 or (not without and len(racks) > 1):
        return
    is_mixed = bool(racks and without)
    details = [f"broker {b.broker}" for b in without] if is_mixed else racks or ["no broker has one"]
    examples = (without or brokers)[:_NAMED]
    quotes = [quote_snapshot(b, f"broker {b.broker}: rack {b.rack or 'none'}") for b in examples]
    yield _folded(facts, "racks_missing" if is_mixed else "racks_unknown", [facts.cluster], details, quotes)


def _transactions(facts: Facts, topics: Iterable[_Topic]) -> Iterator[Finding]:
    """The topic of transactions where it exists, else the settings with which it will be created."""
    if _broker_count(facts) < MANY:
        return
    topic = next((t for t in topics if t.name == TRANSACTIONS_TOPIC), None)
    limits = RULE_BY_ID["transaction_topic_weak"].thresholds
    if topic:
        least = topic.min_isr.number if topic.min_isr else None
        is_weak = topic.replicas < limits["replicas"] or (least is not None and least < limits["in sync"])
        details, quotes = topic.against_minimum, [topic.quote, *([topic.min_isr.quote] if topic.min_isr else [])]
    else:
        minimums = {
            "transaction.state.log.replication.factor": limits["replicas"],
            "transaction.state.log.min.isr": limits["in sync"],
        }
        weak = [(name, s) for name, n in minimums.items() if (s := facts.agreed_setting(name)) and (s.number or 0) < n]
        is_weak, quotes = bool(weak), [s.quote for _, s in weak]
        details = f"it does not exist yet, and {' and '.join(f'{name} is {s.value}' for name, s in weak)}"
    if is_weak:
        yield _folded(facts, "transaction_topic_weak", [TRANSACTIONS_TOPIC], [details], quotes)


def _broker_defaults(facts: Facts) -> Iterator[Finding]:
    factor = facts.agreed_setting("default.replication.factor")
    creates = facts.agreed_setting("auto.create.topics.enable")
    if factor and factor.number is not None and factor.number < MANY <= _broker_count(facts):
        details = f"{factor.value}, and topics are created automatically" if creates and creates.is_on else factor.value
        quotes = [factor.quote, *([creates.quote] if creates else [])]
        yield _folded(facts, "default_replication_low", [facts.cluster], [details], quotes)
    balances = facts.agreed_setting(AUTO_REBALANCE)
    if balances and not balances.is_on:
        yield _folded(facts, "auto_rebalance_off", [facts.cluster], [], [balances.quote])


def _differences(facts: Facts) -> Iterator[Finding]:
    settings, details, quotes = facts.broker_settings, [], []
    for name in _ALIKE:
        reported = (settings.of_broker(b, name, facts.judged_at) for b in settings.serving())
        by_value = grouped((s for s in reported if s), lambda s: s.value)
        if len(by_value) > 1:
            details.append(f"{name} is {' or '.join(sorted(by_value))}")
            quotes += [by_value[value][0].quote for value in sorted(by_value)]
    if details:
        yield _folded(facts, "settings_differ", [facts.cluster], details, quotes)


def _session_bounds(facts: Facts) -> Iterator[Finding]:
    """A finding where the brokers' bounds exclude the session timeout that clients use by default."""
    usual = RULE_BY_ID["session_bounds"].thresholds["ms"]
    low, high = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
    low_ms, high_ms = (s.number if (s := facts.agreed_setting(name)) else None for name in (low, high))
    excluding = [low] if low_ms is not None and low_ms > usual else []
    excluding += [high] if high_ms is not None and high_ms < usual else []
    yield from _of_settings(facts, "session_bounds", excluding)


def _consumer_sessions(facts: Facts) -> Iterator[Finding]:
    """A finding where the brokers give members of the consumer protocol short timeouts."""
    limits = RULE_BY_ID["consumer_sessions_short"].thresholds
    session, beat = "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms"
    session_ms, beat_ms = (s.number if (s := facts.agreed_setting(name)) else None for name in (session, beat))
    names = [session] if session_ms is not None and session_ms < limits["ms"] else []
    if session_ms and beat_ms and beat_ms > session_ms * limits["share of the session"]:
        names = [session, beat]
    yield from _of_settings(facts, "consumer_sessions_short", names)


RULES = (_topics_at_risk, _racks, _broker_defaults, _differences, _session_bounds, _consumer_sessions)
