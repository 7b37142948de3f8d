"""What a person should know of how topics and brokers are set up to outlive a loss."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_jobs.knowledge.broker_settings import AUTO_REBALANCE, MIN_ISR, UNCLEAN
from spark_jobs.knowledge.rules import RULE_BY_ID
from spark_jobs.transforms.brokers.broker_settings import Setting
from spark_jobs.transforms.evidence import quote_snapshot
from spark_jobs.transforms.findings.facts import Facts, Row, finding_of
from spark_jobs.transforms.groups.coordinators import OFFSETS_TOPIC

Finding = dict[str, Any]

TRANSACTIONS_TOPIC = "__transaction_state"
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
"""Settings that mean one thing only where all brokers have the same."""


@dataclass(frozen=True)
class _Topic:
    """One topic as the last reading shows it: its weakest partition, and what is set."""

    name: str
    is_internal: bool
    partitions: Sequence[Row]
    replicas: int
    min_isr: Setting | None
    unclean: Setting | None

    @property
    def margin(self) -> int | None:
        """How many replicas may be out of sync before acks=all fails; None where nobody tells."""
        least = self.min_isr.number if self.min_isr else None
        return None if least is None else self.replicas - least

    def quotes(self) -> Iterator[dict[str, Any]]:
        weakest = min(self.partitions, key=lambda p: (len(p["replicas"]), p["partition"]))
        says = f"{self.name}-{weakest['partition']}: replicas {weakest['replicas']}"
        yield quote_snapshot(weakest["snapshot_id"], weakest["snapshot_at"], says)


def _topics(facts: Facts) -> list[_Topic]:
    by_name: dict[str, list[Row]] = defaultdict(list)
    for partition in facts.partitions:
        if partition["replicas"]:
            by_name[partition["topic"]].append(partition)
    settings, at = facts.broker_settings, facts.judged_at
    return [
        _Topic(
            name,
            bool(rows[0]["is_internal"]),
            rows,
            min(len(r["replicas"]) for r in rows),
            settings.of_topic(name, MIN_ISR, at),
            settings.of_topic(name, UNCLEAN, at),
        )
        for name, rows in sorted(by_name.items())
    ]


def _broker_count(facts: Facts) -> int:
    return len({b["broker"] for b in facts.brokers}) or len(facts.broker_settings.serving())


def _replicas(t: _Topic) -> str:
    return f"{t.name} ({t.replicas})"


def _against_minimum(t: _Topic) -> str:
    return f"{t.name} ({t.min_isr.value if t.min_isr else '?'} of {t.replicas})"


_KEPT_APART = (OFFSETS_TOPIC, TRANSACTIONS_TOPIC)

_FAULTS: dict[str, tuple[Callable[[_Topic, int], bool], Callable[[_Topic], str], str | None]] = {
    "replication_factor_one": (
        lambda t, brokers: t.replicas == 1 < brokers and t.name not in _KEPT_APART, _replicas, None
    ),
    "replication_factor_low": (
        lambda t, brokers: 1 < t.replicas < MANY <= brokers and t.name not in _KEPT_APART, _replicas, None
    ),
    "min_isr_low": (
        lambda t, _: t.replicas >= MANY and t.margin == t.replicas - 1, _against_minimum, MIN_ISR
    ),
    "min_isr_equals_replication": (lambda t, _: t.replicas > 1 and t.margin == 0, _against_minimum, MIN_ISR),
    "min_isr_above_replication": (lambda t, _: t.margin is not None and t.margin < 0, _against_minimum, MIN_ISR),
    "unclean_election_enabled": (
        lambda t, _: t.replicas > 1 and t.unclean is not None and t.unclean.is_on, _replicas, UNCLEAN
    ),
    "offsets_topic_weak": (
        lambda t, brokers: t.name == OFFSETS_TOPIC and t.replicas < min(MANY, brokers), _replicas, None
    ),
}  # fmt: skip
"""Rules about single topics: when one breaks it, how it is named, and which of its settings proves it."""


def _topics_at_risk(facts: Facts) -> list[Finding]:
    """What topics are: looked at once, for all rules about them."""
    topics = _topics(facts)
    return [*_topic_faults(facts, topics), *_one_rack(facts, topics), *_transactions(facts, topics)]


def _topic_faults(facts: Facts, topics: Sequence[_Topic]) -> list[Finding]:
    """One finding for each rule, Kafka's own topics apart, however many topics break it."""
    brokers = _broker_count(facts)
    found = []
    for rule_id, (breaks, named, setting) in _FAULTS.items():
        broken = [t for t in topics if breaks(t, brokers)]
        for some in ([t for t in broken if not t.is_internal], [t for t in broken if t.is_internal]):
            if some:
                quotes = [q for t in some[:_NAMED] for q in t.quotes()]
                quotes += [s.quote for t in some[:_NAMED] if (s := _proof(t, setting))]
                found.append(_folded(facts, rule_id, [t.name for t in some], map(named, some), quotes, brokers=brokers))
    return found


def _proof(topic: _Topic, setting: str | None) -> Setting | None:
    return {MIN_ISR: topic.min_isr, UNCLEAN: topic.unclean}.get(setting or "")


def _folded(
    facts: Facts, rule_id: str, subjects: Sequence[str], told: Iterable[str], quotes: Iterable[dict[str, Any]],
    **words: object,
) -> Finding:  # fmt: skip
    names = list(told)
    some = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    at = facts.judged_at
    return finding_of(facts, rule_id, subjects[0], at, at, quotes, more=len(subjects) - 1, told=some, **words)


def _one_rack(facts: Facts, topics: Iterable[_Topic]) -> list[Finding]:
    rack = {b["broker"]: b["rack"] for b in facts.brokers if b["rack"]}
    racks = set(rack.values())
    if len(racks) < 2:
        return []
    alone = [
        (t.name, found)
        for t in topics
        if (found := [p for p in t.partitions if len(p["replicas"]) > 1 and len(_racks_of(p, rack)) == 1])
    ]
    if not alone:
        return []
    quotes = [
        quote_snapshot(
            p["snapshot_id"], p["snapshot_at"], f"{name}-{p['partition']}: replicas {p['replicas']}, all in one rack"
        )
        for name, (p, *_) in alone[:_NAMED]
    ]
    told = (f"{name} ({len(found)} partitions)" for name, found in alone)
    return [_folded(facts, "replicas_in_one_rack", [name for name, _ in alone], told, quotes, racks=len(racks))]


def _racks_of(partition: Row, rack: Mapping[int, str]) -> set[object]:
    """The racks of a partition's replicas; a broker whose rack nobody tells counts as one of its own."""
    return {rack.get(broker, broker) for broker in partition["replicas"]}


def _racks(facts: Facts) -> list[Finding]:
    brokers = sorted(facts.brokers, key=lambda b: b["broker"])
    told = sorted({b["rack"] for b in brokers if b["rack"]})
    without = [b for b in brokers if not b["rack"]]
    if len(brokers) < 2 or (not without and len(told) > 1):
        return []
    names = [f"broker {b['broker']}" for b in without] if told and without else (told or ["none tells one"])
    rule_id = "racks_missing" if told and without else "racks_unknown"
    quotes = [
        quote_snapshot(b["snapshot_id"], b["snapshot_at"], f"broker {b['broker']}: rack {b['rack'] or 'none'}")
        for b in (without or brokers)[:_NAMED]
    ]
    return [_folded(facts, rule_id, [facts.cluster], names, quotes)]


def _transactions(facts: Facts, topics: Iterable[_Topic]) -> list[Finding]:
    """The topic itself where it is there, else the settings with which it will be made."""
    wanted = RULE_BY_ID["transaction_topic_weak"].thresholds
    brokers = _broker_count(facts)
    if brokers < MANY:
        return []
    topic = next((t for t in topics if t.name == TRANSACTIONS_TOPIC), None)
    if topic:
        least = topic.min_isr.number if topic.min_isr else None
        if topic.replicas >= wanted["replicas"] and (least is None or least >= wanted["in sync"]):
            return []
        quotes = [*topic.quotes(), *([topic.min_isr.quote] if topic.min_isr else [])]
        return [_folded(facts, "transaction_topic_weak", [TRANSACTIONS_TOPIC], [_against_minimum(topic)], quotes)]
    weak = [
        (name, setting)
        for name, least in (
            ("transaction.state.log.replication.factor", wanted["replicas"]),
            ("transaction.state.log.min.isr", wanted["in sync"]),
        )
        if (setting := _agreed(facts, name)) and (setting.number or 0) < least
    ]
    told = f"it is not there yet, and {' and '.join(f'{name} is {s.value}' for name, s in weak)}"
    quotes = [s.quote for _, s in weak]
    return [_folded(facts, "transaction_topic_weak", [TRANSACTIONS_TOPIC], [told], quotes)] if weak else []


def _agreed(facts: Facts, name: str) -> Setting | None:
    return facts.broker_settings.of_brokers(name, facts.judged_at)


def _number(facts: Facts, name: str) -> int | None:
    setting = _agreed(facts, name)
    return setting.number if setting else None


def _broker_defaults(facts: Facts) -> list[Finding]:
    found = []
    factor, makes = _agreed(facts, "default.replication.factor"), _agreed(facts, "auto.create.topics.enable")
    if factor and factor.number is not None and factor.number < MANY <= _broker_count(facts):
        made = {True: ", and topics make themselves", False: "", None: ""}[makes.is_on if makes else None]
        quotes = [factor.quote, *([makes.quote] if makes else [])]
        found.append(_folded(facts, "default_replication_low", [facts.cluster], [f"{factor.value}{made}"], quotes))
    balances = _agreed(facts, AUTO_REBALANCE)
    if balances and not balances.is_on:
        found.append(_folded(facts, "auto_rebalance_off", [facts.cluster], [], [balances.quote]))
    return found


def _differences(facts: Facts) -> list[Finding]:
    told, quotes = [], []
    for name in _ALIKE:
        held = {
            b: s
            for b in facts.broker_settings.serving()
            if (s := facts.broker_settings.of_broker(b, name, facts.judged_at))
        }
        values = sorted({s.value for s in held.values()})
        if len(values) > 1:
            told.append(f"{name} is {' or '.join(values)}")
            quotes += [next(s for s in held.values() if s.value == value).quote for value in values]
    return [_folded(facts, "settings_differ", [facts.cluster], told, quotes)] if told else []


def _sessions(facts: Facts) -> list[Finding]:
    """What brokers force on every consumer."""
    found = []
    usual = RULE_BY_ID["session_bounds"].thresholds["ms"]
    least, most = "group.min.session.timeout.ms", "group.max.session.timeout.ms"
    least_ms, most_ms = _number(facts, least), _number(facts, most)
    excluding = [least] if least_ms is not None and least_ms > usual else []
    excluding += [most] if most_ms is not None and most_ms < usual else []
    bounds = [(name, s) for name in excluding if (s := _agreed(facts, name))]
    if bounds:
        told = [f"{name} is {s.value}" for name, s in bounds]
        found.append(_folded(facts, "session_bounds", [facts.cluster], told, [s.quote for _, s in bounds]))
    session, beat = "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms"
    limits = RULE_BY_ID["consumer_sessions_short"].thresholds
    session_ms, beat_ms = _number(facts, session), _number(facts, beat)
    short = [session] if session_ms is not None and session_ms < limits["ms"] else []
    if session_ms and beat_ms and beat_ms > session_ms * limits["share of the session"]:
        short = [session, beat]
    if short:
        settings = [(name, s) for name in short if (s := _agreed(facts, name))]
        told = [f"{name} is {s.value}" for name, s in settings]
        found.append(_folded(facts, "consumer_sessions_short", [facts.cluster], told, [s.quote for _, s in settings]))
    return found


RULES = (_topics_at_risk, _racks, _broker_defaults, _differences, _sessions)
