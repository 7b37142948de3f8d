"""What the rules look at, and how a row of gold.findings is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from spark_jobs.catalog.codes import FindingSeverity
from spark_jobs.catalog.rows import (
    BrokerOutage,
    BrokerSnapshot,
    Coverage,
    Failover,
    Finding,
    GenerationGap,
    GroupSnapshot,
    ImbalancePeriod,
    Incident,
    IsrSpan,
    LagVerdict,
    LeaderImbalance,
    LeadershipGap,
    MemberSetting,
    MissingBrokerLog,
    OutOfSyncPeriod,
    PartitionSnapshot,
    Quote,
    Rebalance,
    RollingRestart,
    SnapshotReading,
    Truncation,
    UnobservedSpan,
)
from spark_jobs.knowledge.broker_settings import MIN_ISR
from spark_jobs.knowledge.rules import RULE_BY_ID
from spark_jobs.transforms.brokers.broker_settings import BrokerSettings, Setting
from spark_jobs.transforms.evidence import evidence_of, row_id

_NEVER_ENDED = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Facts:
    """What the rules look at, all of one cluster and one window.

    `unanswered` are readings of groups with an error; `partial` readings that lack a part; `unheard` nodes without a
    log; `partitions` and `brokers` the last reading; `judged_at` the instant of that reading, else the end of the
    window: the settings at that instant are judged.
    """

    cluster: str
    rebalances: Sequence[Rebalance] = ()
    incidents: Sequence[Incident] = ()
    failovers: Sequence[Failover] = ()
    imbalance: Sequence[LeaderImbalance] = ()
    imbalance_periods: Sequence[ImbalancePeriod] = ()
    truncations: Sequence[Truncation] = ()
    lag_verdicts: Sequence[LagVerdict] = ()
    gaps: Sequence[GenerationGap] = ()
    leadership_gaps: Sequence[LeadershipGap] = ()
    unheard: Sequence[MissingBrokerLog] = ()
    unobserved: Sequence[UnobservedSpan] = ()
    coverage: Sequence[Coverage] = ()
    unanswered: Sequence[GroupSnapshot] = ()
    partial: Sequence[SnapshotReading] = ()
    settings: Sequence[MemberSetting] = ()
    outages: Sequence[BrokerOutage] = ()
    restarts: Sequence[RollingRestart] = ()
    out_of_sync_periods: Sequence[OutOfSyncPeriod] = ()
    isr_spans: Sequence[IsrSpan] = ()
    partitions: Sequence[PartitionSnapshot] = ()
    brokers: Sequence[BrokerSnapshot] = ()
    broker_settings: BrokerSettings = field(default_factory=BrokerSettings)
    judged_at: datetime = _NEVER_ENDED

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
    evidence: Iterable[Quote],
    more: int = 0,
    **words: object,
) -> Finding:
    """A row of gold.findings. `more`: how many others the subject stands for; `words`: those that `says` names."""
    rule = RULE_BY_ID[rule_id]
    others = f" and {more} more" if more else ""
    message = rule.says.format(subject=f"{rule.subject_kind} '{subject}'{others}", **words)
    return Finding(
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
