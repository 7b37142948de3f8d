"""What the rules look at, and how a row of gold.findings is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.judgements.brokers.broker_settings import BrokerSettings, Setting
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.knowledge.broker_settings import MIN_ISR
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.shared.durations import LONG_AGO, NEVER


@dataclass(frozen=True)
class Facts:
    """What the rules look at, all of one cluster and one window.

    `unanswered` are readings of groups with an error; `partial` readings that lack a part; `unheard` nodes without a
    log; `lost_brokers` the absences of the window that were not in order, or not over, and those from before that are
    not over; `starts_at` the beginning of the window; `partitions` and `brokers` the
    last reading; `judged_at` the instant of that reading, else the end of the window: the settings at that instant
    are judged.
    """

    cluster: str
    starts_at: datetime = LONG_AGO
    rebalances: Sequence[rows.Rebalance] = ()
    incidents: Sequence[rows.Incident] = ()
    failovers: Sequence[rows.Failover] = ()
    unavailability: Sequence[rows.Unavailability] = ()
    imbalance: Sequence[rows.LeaderImbalance] = ()
    imbalance_periods: Sequence[rows.ImbalancePeriod] = ()
    truncations: Sequence[rows.Truncation] = ()
    lag_verdicts: Sequence[rows.LagVerdict] = ()
    gaps: Sequence[rows.GenerationGap] = ()
    leadership_gaps: Sequence[rows.LeadershipGap] = ()
    unheard: Sequence[rows.MissingBrokerLog] = ()
    unobserved: Sequence[rows.UnobservedSpan] = ()
    coverage: Sequence[rows.Coverage] = ()
    unanswered: Sequence[rows.GroupSnapshot] = ()
    partial: Sequence[rows.SnapshotReading] = ()
    settings: Sequence[rows.MemberSetting] = ()
    outages: Sequence[rows.BrokerOutage] = ()
    lost_brokers: Sequence[rows.BrokerOutage] = ()
    restarts: Sequence[rows.RollingRestart] = ()
    out_of_sync_periods: Sequence[rows.OutOfSyncPeriod] = ()
    isr_spans: Sequence[rows.IsrSpan] = ()
    partitions: Sequence[rows.PartitionSnapshot] = ()
    brokers: Sequence[rows.BrokerSnapshot] = ()
    broker_settings: BrokerSettings = field(default_factory=BrokerSettings)
    judged_at: datetime = NEVER

    def agreed(self, name: str) -> Setting | None:
        """What all brokers agree on for a setting."""
        return self.broker_settings.of_brokers(name, self.judged_at)

    def min_isr_of(self, topic: str) -> int:
        """The topic's min.insync.replicas; 0 where it is not known."""
        setting = self.broker_settings.of_topic(topic, MIN_ISR, self.judged_at)
        return (setting.number or 0) if setting else 0


def finding_of(
    facts: Facts,
    rule_id: str,
    subject: str,
    first_at: datetime,
    last_at: datetime,
    evidence: Iterable[rows.Quote],
    more: int = 0,
    **words: object,
) -> rows.Finding:
    """A row of gold.findings. `more`: how many others the subject stands for; `words`: those that `says` names."""
    rule = RULE_BY_ID[rule_id]
    others = f" and {more} more" if more else ""
    name = subject if rule.subject_kind == "broker" else f"'{subject}'"
    message = rule.says.format(subject=f"{rule.subject_kind} {name}{others}", **words)
    return rows.Finding(
        cluster=facts.cluster,
        finding_id=row_id("finding", facts.cluster, rule_id, subject + others, first_at),
        rule_id=rule_id,
        severity=FindingSeverity(rule.severity),
        subject_kind=rule.subject_kind,
        subject=subject + others,
        first_at=first_at,
        last_at=last_at,
        message=message[0].upper() + message[1:],
        advice=rule.advice,
        source=rule.source,
        evidence=evidence_of(evidence),
    )
