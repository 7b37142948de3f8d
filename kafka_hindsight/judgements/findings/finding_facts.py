"""The facts that the rules look at, and the rows of gold.findings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, Setting
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, row_id
from kafka_hindsight.knowledge.broker_settings import MIN_ISR
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.shared.durations import LONG_AGO, NEVER


@dataclass(frozen=True)
class Facts:
    """The facts of one cluster and one window that the rules look at.

    `refusals` are the lines about those that others refused or held back; `unanswered` readings of groups with an
    error; `partial` readings that lack a part; `missing_logs` nodes without a log; `namings` the brokers' lines that
    name the cluster's id; `truncations` those that no incident of the window counts; `gone_brokers` the absences from
    before the window that are not over; `partitions` and `brokers` the last reading.
    The settings at `judged_at` are judged: the instant of that reading, else the end of the window.
    """

    cluster: str
    starts_at: datetime = LONG_AGO
    rebalances: Sequence[rows.Rebalance] = ()
    incidents: Sequence[rows.Incident] = ()
    failovers: Sequence[rows.Failover] = ()
    imbalance_periods: Sequence[rows.ImbalancePeriod] = ()
    truncations: Sequence[rows.Truncation] = ()
    lag_verdicts: Sequence[rows.LagVerdict] = ()
    gaps: Sequence[rows.GenerationGap] = ()
    leadership_gaps: Sequence[rows.LeadershipGap] = ()
    missing_logs: Sequence[rows.MissingBrokerLog] = ()
    unobserved: Sequence[rows.UnobservedSpan] = ()
    second_starts: Sequence[rows.SecondStart] = ()
    coverage: Sequence[rows.Coverage] = ()
    namings: Sequence[rows.Event] = ()
    refusals: Sequence[rows.Event] = ()
    unanswered: Sequence[rows.GroupSnapshot] = ()
    partial: Sequence[rows.SnapshotReading] = ()
    settings: Sequence[rows.MemberSetting] = ()
    outages: Sequence[rows.BrokerOutage] = ()
    gone_brokers: Sequence[rows.BrokerOutage] = ()
    restarts: Sequence[rows.RollingRestart] = ()
    out_of_sync_periods: Sequence[rows.OutOfSyncPeriod] = ()
    isr_spans: Sequence[rows.IsrSpan] = ()
    partitions: Sequence[rows.PartitionSnapshot] = ()
    brokers: Sequence[rows.BrokerSnapshot] = ()
    broker_settings: BrokerSettings = field(default_factory=BrokerSettings)
    judged_at: datetime = NEVER

    def agreed_setting(self, name: str) -> Setting | None:
        """The value of a setting that all brokers share; None where they differ or it is not known."""
        return self.broker_settings.of_brokers(name, self.judged_at)

    def min_isr_of(self, topic: str) -> int:
        """The topic's min.insync.replicas; 0 where it is not known."""
        setting = self.broker_settings.of_topic(topic, MIN_ISR, self.judged_at)
        return (setting.number or 0) if setting else 0


def finding_of(
    facts: Facts,
    rule_id: str,
    subjects: str | Sequence[str],
    instants: Iterable[datetime],
    evidence: Iterable[rows.Quote],
    **words: object,
) -> rows.Finding:
    """A row of gold.findings, from the first to the last instant. `words` fill the braces of the rule's `says`."""
    rule, ordered = RULE_BY_ID[rule_id], sorted(instants)
    names = [subjects] if isinstance(subjects, str) else subjects
    subject = f"{names[0]} and {len(names) - 1} more" if names[1:] else names[0]
    others = subject.removeprefix(names[0])
    name = subject if rule.subject_kind == "broker" else f"'{names[0]}'{others}"
    message = rule.says.format(subject=f"{rule.subject_kind} {name}", **words)
    return rows.Finding(
        cluster=facts.cluster,
        finding_id=row_id("finding", facts.cluster, rule_id, subject, ordered[0]),
        rule_id=rule_id,
        severity=FindingSeverity(rule.severity),
        subject_kind=rule.subject_kind,
        subject=subject,
        first_at=ordered[0],
        last_at=ordered[-1],
        message=message[0].upper() + message[1:],
        advice=rule.advice,
        source=rule.source,
        evidence=evidence_of(evidence),
    )


def quotes_of(rows_with_evidence: Iterable[Any]) -> list[rows.Quote]:
    """The evidence of all rows."""
    return [quote for row in rows_with_evidence for quote in row.evidence]
