"""What happened, as blocks that a report shows. Every text in them is harmless already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Quote:
    """One quoted line."""

    at: datetime | None
    source: str
    text: str


@dataclass(frozen=True)
class Evidence:
    """The lines that prove a verdict. `left_out` more stand in the lake."""

    quotes: tuple[Quote, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Link:
    """A word that leads to another place of the page."""

    text: str
    anchor: str


@dataclass(frozen=True)
class Incident:
    """Rebalances with one origin. `rebalances` lead to them, the first of `rebalance_count`."""

    anchor: str
    kind: str
    headline: str
    tone: str
    cause: str
    confidence: str
    planned: bool
    started_at: datetime
    ended_at: datetime | None
    lasted_ms: float | None
    group_ids: tuple[str, ...]
    rebalance_count: int
    rebalances: tuple[Link, ...]
    outage: Link | None
    partition_seconds: float | None
    explanation: str
    advice: str
    evidence: Evidence


@dataclass(frozen=True)
class Contributor:
    """A member whose act fell into a rebalance that another one had begun."""

    who: str
    cause: str
    at: datetime | None


@dataclass(frozen=True)
class Delay:
    """A member the whole group waited for."""

    who: str
    waited_ms: int | None


@dataclass(frozen=True)
class Rebalance:
    """One rebalance, with who began it and who made it long."""

    anchor: str
    group_id: str
    protocol: str
    generations: str
    coordinator: int | None
    started_at: datetime
    duration_ms: int | None
    outcome: str
    tone: str
    cause: str
    confidence: str
    planned: bool
    who: str
    host: str
    reason: str
    members: str
    partition_seconds: float | None
    contributors: tuple[Contributor, ...]
    delayed_by: tuple[Delay, ...]
    incident: Link | None
    explanation: str
    advice: str
    evidence: Evidence


@dataclass(frozen=True)
class Remedy:
    """A setting that would have helped a group. `rebalances` lead to those that would not have been, the first."""

    group_id: str
    setting: str
    option: str
    value_now: int | None
    value_smallest: int | None
    avoided: int
    total: int
    partition_seconds: float | None
    confidence: str
    explanation: str
    rebalances: tuple[Link, ...]
    evidence: Evidence


@dataclass(frozen=True)
class Remedies:
    """What would have helped. `prices` say what each setting costs; `left_out` more stand in the lake."""

    says: str
    remedies: tuple[Remedy, ...]
    left_out: int
    prices: tuple[str, ...]


@dataclass(frozen=True)
class Failover:
    """One change of one partition's leader."""

    anchor: str
    topic: str
    partition: int
    happened_at: datetime
    change: str
    epochs: str
    leaderless: str
    asked: str
    isr: str
    lost: str
    confidence: str
    explanation: str
    evidence: Evidence


@dataclass(frozen=True)
class FailoverGroup:
    """Failovers of one kind and one origin. `partitions` says which in short."""

    title: str
    tone: str
    first_at: datetime
    last_at: datetime
    partitions: str
    longest_leaderless_ms: int | None
    failovers: tuple[Failover, ...]


@dataclass(frozen=True)
class Step:
    """A moment of an outage, with the time since it began."""

    label: str
    at: datetime | None
    after_ms: float | None


@dataclass(frozen=True)
class Outage:
    """One absence of one broker: all of its trouble in one place."""

    anchor: str
    broker: int
    headline: str
    kind: str
    tone: str
    planned: bool
    confidence: str
    gone_ms: float | None
    steps: tuple[Step, ...]
    facts: tuple[str, ...]
    group_ids: tuple[str, ...]
    restart: Link | None
    incidents: tuple[Link, ...]
    failovers: tuple[FailoverGroup, ...]
    explanation: str
    evidence: Evidence


@dataclass(frozen=True)
class BrokerImbalance:
    """How far one broker is from leading what it is preferred for, at the last reading and at its worst.

    `curve` holds (place on the axis in percent, ratio in percent).
    """

    broker: int
    ratio: float | None
    led_elsewhere: int
    preferred_partitions: int
    is_over: bool
    over_since: datetime | None
    worst_ratio: float | None
    worst_at: datetime | None
    over_ms: float
    curve: tuple[tuple[float, float], ...]
    evidence: Evidence


@dataclass(frozen=True)
class LagGroup:
    """Partitions of one topic that one group reads with one verdict."""

    group_id: str
    topic: str
    status: str
    tone: str
    partitions: str
    lag_first: int | None
    lag_last: int | None
    lag_max: int | None
    evidence: Evidence


@dataclass(frozen=True)
class Lag:
    """What became of the lag."""

    says: str
    groups: tuple[LagGroup, ...]


@dataclass(frozen=True)
class Finding:
    """One thing a person should know."""

    anchor: str
    subject: str
    first_at: datetime
    last_at: datetime
    message: str
    evidence: Evidence


@dataclass(frozen=True)
class FindingGroup:
    """What one rule found, with one piece of advice for all of it."""

    rule_id: str
    severity: str
    advice: str
    source: str
    findings: tuple[Finding, ...]
