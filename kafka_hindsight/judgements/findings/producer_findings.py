"""Findings about producers: the weakest of the settings that together decide whether a record is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_hindsight.catalog.rows import Finding, PartitionSnapshot, ProducerSetting, Quote
from kafka_hindsight.judgements.brokers.settings_at import Setting, SettingsInForce
from kafka_hindsight.judgements.findings.durability_findings import Topic, topics_of
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.rule_inputs import LastReading
from kafka_hindsight.knowledge.broker_settings import MIN_ISR, UNCLEAN
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.producer_settings import ACKS, ALL, IDEMPOTENCE, IN_FLIGHT, RETRIES
from kafka_hindsight.knowledge.rules import producer_rules as declared
from kafka_hindsight.shared.grouping import grouped

_NAMED = 3
_UNKNOWN = "not known"


@dataclass(frozen=True)
class _OfTopic:
    """The part of a topic in the chain. What is not known is None."""

    min_isr: Setting | None = None
    unclean: Setting | None = None
    replicas: int | None = None

    @classmethod
    def of(cls, name: str, topic: Topic | None, settings: SettingsInForce) -> _OfTopic:
        return cls(
            settings.of_topic(name, MIN_ISR), settings.of_topic(name, UNCLEAN), topic.replicas if topic else None
        )


_Weak = Callable[[ProducerSetting, _OfTopic], bool]

_LINKS: Sequence[tuple[str, _Weak]] = (
    (
        "acks=0 of {client}: a record counts as written once it is sent, whether a broker gets it or not",
        lambda p, _: p.acks == "0",
    ),
    (
        "acks=1 of {client}: a record that the leader alone has counts as written, and can be lost with it",
        lambda p, _: p.acks == "1",
    ),
    ("a single replica: one disk holds the only copy", lambda _, t: t.replicas == 1),
    (
        "unclean.leader.election.enable=true: a replica that lacks records may become the leader",
        lambda _, t: (t.replicas or 0) > 1 and t.unclean is not None and t.unclean.is_on,
    ),
    (
        "min.insync.replicas=1: acks=all may be the leader alone",
        lambda p, t: (t.replicas or 0) > 1 and p.acks == ALL and t.min_isr is not None and t.min_isr.number == 1,
    ),
    ("retries=0 of {client}: a record that is refused once is given up", lambda p, _: p.retries == 0),
    (
        "enable.idempotence=false of {client}: batches that are sent again may be written twice, and out of order",
        lambda p, _: p.is_idempotent is False and p.retries != 0 and (p.max_in_flight or 0) > 1,
    ),
)
"""The links of the chain with the conditions under which they are weak, the weakest first. A setting that is not known
is not weak. Source: Kafka's documentation of these settings; Replication, Availability and Durability Guarantees."""


@dataclass(frozen=True)
class _Chain:
    """The settings of the producers of one topic with those of the topic, or of one producer whose topics are unknown.

    `weakest` is the place of the weakest link among _LINKS.
    """

    subject: str
    producers: Sequence[ProducerSetting]
    topic: _OfTopic
    quotes: Sequence[Quote]

    @cached_property
    def weakest(self) -> tuple[int, ProducerSetting] | None:
        weak = ((n, p) for n, (_, is_weak) in enumerate(_LINKS) for p in self.producers if is_weak(p, self.topic))
        return next(weak, None)

    @property
    def words(self) -> str:
        of_topic = [_of_topic(self.topic)] if self.topic != _OfTopic() else []
        return "; ".join([*map(_of_producer, self.producers[:_NAMED]), *of_topic])


def _weakest_links(
    cluster: str,
    producer_settings: Sequence[ProducerSetting],
    partitions: LastReading[PartitionSnapshot],
    settings_in_force: SettingsInForce,
) -> Iterator[Finding]:
    """One finding for all topics with one weakest link, and for all producers with one whose topics are not known."""
    topics = {t.name: t for t in topics_of(partitions, settings_in_force)}
    writers: defaultdict[str, list[ProducerSetting]] = defaultdict(list)
    for setting in producer_settings:
        for name in setting.topics or ():
            writers[name].append(setting)
    of_topics = []
    for name, own in sorted(writers.items()):
        topic, in_force = topics.get(name), _OfTopic.of(name, topics.get(name), settings_in_force)
        quotes = [s.quote for s in (in_force.min_isr, in_force.unclean) if s] + ([topic.quote] if topic else [])
        of_topics.append(_Chain(name, own, in_force, quotes))
    alone = [_Chain(_client(p), [p], _OfTopic(), ()) for p in producer_settings if not p.topics]
    for rule, chains in ((declared.WEAKEST_LINK, of_topics), (declared.PRODUCER_WEAK, alone)):
        weak = [(*chain.weakest, chain) for chain in chains if chain.weakest]
        for link, of_link in sorted(grouped(weak, lambda w: w[0]).items()):
            yield _finding(cluster, rule, link, [(p, chain) for _, p, chain in of_link], settings_in_force)


def _finding(
    cluster: str,
    rule: Rule,
    link: int,
    weak: Sequence[tuple[ProducerSetting, _Chain]],
    settings_in_force: SettingsInForce,
) -> Finding:
    producer, first = weak[0]
    words = {"link": _LINKS[link][0].format(client=_client(producer)), "chain": first.words}
    quotes = [q for p, chain in weak[:_NAMED] for q in (*p.evidence, *chain.quotes)]
    instants = [*(p.first_seen_at for p, _ in weak), *([settings_in_force.at] if first.quotes else ())]
    return finding_of(cluster, rule, list(dict.fromkeys(c.subject for _, c in weak)), instants, quotes, **words)


def _client(setting: ProducerSetting) -> str:
    return setting.client_id or setting.source


def _of_producer(p: ProducerSetting) -> str:
    idempotence = None if p.is_idempotent is None else str(p.is_idempotent).lower()
    values = {ACKS: p.acks, RETRIES: p.retries, IDEMPOTENCE: idempotence, IN_FLIGHT: p.max_in_flight}
    return f"{_client(p)} has {_pairs(values)}"


def _of_topic(t: _OfTopic) -> str:
    values = {MIN_ISR: t.min_isr and t.min_isr.value, "replicas": t.replicas, UNCLEAN: t.unclean and t.unclean.value}
    return f"the topic has {_pairs(values)}"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={_UNKNOWN if value is None else value}" for name, value in values.items())


RULES = (_weakest_links,)
