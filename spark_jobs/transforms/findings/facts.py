"""What the rules look at, and how a row of gold.findings is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from spark_jobs.knowledge.broker_settings import MIN_ISR
from spark_jobs.knowledge.rules import RULE_BY_ID
from spark_jobs.transforms.brokers.broker_settings import BrokerSettings
from spark_jobs.transforms.evidence import evidence_of, row_id

Row = Mapping[str, Any]

_NEVER_ENDED = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Facts:
    """What the rules look at, all of one cluster and one window: rows of the tables of these names.

    `isr_spans` are ISR_SPANS; `unanswered` rows of bronze.group_snapshots with an error; `partial` rows of
    bronze.snapshot_readings that lack a part; `unheard` what `find_missing_broker_logs` gives;
    `partitions` and `brokers`
    rows of bronze.partition_snapshots and broker_snapshots at the last reading; `judged_at` the instant of that
    reading, else the end of the window: what is set up then is judged.
    """

    cluster: str
    rebalances: Sequence[Row] = ()
    incidents: Sequence[Row] = ()
    failovers: Sequence[Row] = ()
    imbalance: Sequence[Row] = ()
    imbalance_periods: Sequence[Row] = ()
    truncations: Sequence[Row] = ()
    lag_verdicts: Sequence[Row] = ()
    gaps: Sequence[Row] = ()
    leadership_gaps: Sequence[Row] = ()
    unheard: Sequence[Row] = ()
    coverage: Sequence[Row] = ()
    unanswered: Sequence[Row] = ()
    partial: Sequence[Row] = ()
    settings: Sequence[Row] = ()
    outages: Sequence[Row] = ()
    restarts: Sequence[Row] = ()
    out_of_sync_periods: Sequence[Row] = ()
    isr_spans: Sequence[Row] = ()
    partitions: Sequence[Row] = ()
    brokers: Sequence[Row] = ()
    broker_settings: BrokerSettings = field(default_factory=BrokerSettings)
    judged_at: datetime = _NEVER_ENDED

    def min_isr_of(self, topic: str) -> int:
        """The topic's min.insync.replicas; 0 where nobody tells."""
        setting = self.broker_settings.of_topic(topic, MIN_ISR, self.judged_at)
        return (setting.number or 0) if setting else 0


def finding_of(
    facts: Facts,
    rule_id: str,
    subject: str,
    first_at: datetime,
    last_at: datetime,
    evidence: Iterable[dict[str, Any]],
    more: int = 0,
    **words: object,
) -> dict[str, Any]:
    """A row of gold.findings. `more`: how many others the subject stands for."""
    rule = RULE_BY_ID[rule_id]
    others = f" and {more} more" if more else ""
    message = rule.says.format(subject=f"{rule.subject_kind} '{subject}'{others}", **words)
    subject += others
    return {
        "cluster": facts.cluster,
        "finding_id": row_id("finding", facts.cluster, rule_id, subject, first_at),
        "rule_id": rule_id,
        "severity": rule.severity,
        "subject_kind": rule.subject_kind,
        "subject": subject,
        "first_at": first_at,
        "last_at": last_at,
        "message": message[0].upper() + message[1:],
        "advice": rule.advice,
        "source": rule.source,
        "evidence": evidence_of(evidence),
    }
