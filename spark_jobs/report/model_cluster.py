"""What happened to brokers, replicas and data, as blocks. Every text in them is harmless already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from spark_jobs.report.model import BrokerImbalance, Evidence, Link


@dataclass(frozen=True)
class Stop:
    """One broker's stop within a rolling restart: a line of its scorecard. `is_early` is None where nothing tells."""

    broker: int
    outage: Link | None
    kind: str
    down_at: datetime
    gone_ms: float | None
    isr_recovered_ms: int | None
    leadership_restored_ms: int | None
    is_early: bool | None
    led_before: int | None
    elections: int | None


@dataclass(frozen=True)
class Restart:
    """A cluster restarted broker by broker, with its scorecard."""

    anchor: str
    headline: str
    planned: bool
    confidence: str
    started_at: datetime
    ended_at: datetime | None
    facts: tuple[str, ...]
    stops: tuple[Stop, ...]
    explanation: str
    advice: str
    evidence: Evidence


@dataclass(frozen=True)
class Controller:
    """One change of the controller, and why."""

    anchor: str
    at: datetime
    change: str
    epoch: int
    outage: Link | None
    confidence: str
    explanation: str
    evidence: Evidence


@dataclass(frozen=True)
class OutOfSyncPeriod:
    """One broker out of ISRs that it belongs to: its trouble told once."""

    anchor: str
    headline: str
    tone: str
    confidence: str
    started_at: datetime
    ended_at: datetime | None
    facts: tuple[str, ...]
    topics: tuple[str, ...]
    outage: Link | None
    explanation: str
    advice: str
    evidence: Evidence


@dataclass(frozen=True)
class Loss:
    """What an election or a truncation took from a partition, or proved untouched."""

    anchor: str
    partition: str
    at: datetime
    broker: int | None
    what: str
    lost: str
    tone: str
    confidence: str
    explanation: str
    failover: Link | None
    evidence: Evidence


@dataclass(frozen=True)
class Risk:
    """What one partition risked, by how long. Times that nobody can tell are None."""

    anchor: str
    partition: str
    replicas: str
    leaderless: str
    under_min_isr_ms: int | None
    at_min_isr_ms: int | None
    one_from_offline_ms: int | None
    one_from_unclean_ms: int | None
    under_replicated_ms: int | None
    known: str
    evidence: Evidence


@dataclass(frozen=True)
class LossSimulation:
    """What would be lost with one broker or rack."""

    anchor: str
    what: str
    tone: str
    offline: int
    unclean: int
    unwritable: int
    unjudged: int
    leaders: int
    groups: str
    stranded: tuple[str, ...]
    worst: tuple[str, ...]
    message: str
    evidence: Evidence


@dataclass(frozen=True)
class DurabilityRisk:
    """Data lost, data at risk, and what the next loss would cost. `rehearsed_at` is the reading that it rests on."""

    says: tuple[tuple[str, str], ...]
    losses: tuple[Loss, ...]
    losses_left_out: int
    risks: tuple[Risk, ...]
    risks_left_out: int
    loss_simulations: tuple[LossSimulation, ...]
    rehearsed_at: datetime | None


@dataclass(frozen=True)
class ImbalancePeriod:
    """One broker over the gate of imbalance, from when to when, and what left it behind."""

    anchor: str
    headline: str
    tone: str
    since: datetime
    until: datetime | None
    facts: tuple[str, ...]
    outage: Link | None
    explanation: str
    advice: str
    evidence: Evidence


@dataclass(frozen=True)
class Balance:
    """How evenly leaders are spread over one scope, by the definitions that people use."""

    scope: str
    partitions: int
    non_preferred: str
    spread: str
    excess: str
    brokers_off: str
    coordinators: str
    groups: str


@dataclass(frozen=True)
class Imbalance:
    """Leader imbalance over the window."""

    says: str
    readings: int
    last_at: datetime | None
    brokers: tuple[BrokerImbalance, ...]
    imbalance_periods: tuple[ImbalancePeriod, ...]
    balances: tuple[Balance, ...]


@dataclass(frozen=True)
class Trend:
    """One number night by night, oldest first. `bars` are (place, width, height, in percent, what it says)."""

    label: str
    last: str
    usual: str
    bars: tuple[tuple[float, float, float, str], ...]


@dataclass(frozen=True)
class Change:
    """What is new, or gone, against the window before."""

    tone: str
    text: str
    anchor: str


@dataclass(frozen=True)
class History:
    """This night beside those before it."""

    says: str
    changes: tuple[Change, ...]
    trends: tuple[Trend, ...]
