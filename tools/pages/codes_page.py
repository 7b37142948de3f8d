"""docs/codes.md: the vocabularies that other programs read."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import (
    Cause,
    Code,
    Confidence,
    ControllerChangeCause,
    FailoverKind,
    FindingSeverity,
    Fingerprint,
    Harm,
    ImbalanceEnd,
    IncidentKind,
    IsrChangeKind,
    Origin,
    OutageKind,
    Outcome,
    OutOfSyncKind,
    Protocol,
    RemedySetting,
    StallKind,
    StartFailure,
    TruncationVerdict,
    UnavailabilityKind,
)
from tools.pages.markdown import as_table, page

CONTRACT: dict[str, type[Code]] = {
    "rebalances.cause": Cause,
    "rebalances.protocol": Protocol,
    "rebalances.outcome": Outcome,
    "incidents.kind": IncidentKind,
    "incidents.harm": Harm,
    "incidents.fingerprint": Fingerprint,
    "failovers.kind": FailoverKind,
    "broker_outages.kind": OutageKind,
    "broker_outages.start_failure": StartFailure,
    "controller_changes.cause": ControllerChangeCause,
    "isr_changes.change": IsrChangeKind,
    "isr_changes.shrink_cause, out_of_sync_periods.kind": OutOfSyncKind,
    "truncations.verdict": TruncationVerdict,
    "unavailability.kind": UnavailabilityKind,
    "imbalance_periods.ended_by": ImbalanceEnd,
    "partition_stalls.kind": StallKind,
    "remedies.setting": RemedySetting,
    "findings.severity": FindingSeverity,
    "events.origin": Origin,
    "confidence, in every table": Confidence,
}
"""The vocabularies that other programs read, by the column that holds them."""


def codes_page() -> str:
    """The codes of each vocabulary, with their meanings."""
    parts = [
        "Columns of gold hold these codes. Read them as text, and expect new ones"
        " ([what stays](upgrading.md#what-stays))."
    ]
    for column, vocabulary in CONTRACT.items():
        codes = as_table(("Code", "Means"), [(f"`{c.value}`", c.meaning) for c in vocabulary])
        parts += [f"## {column}", (vocabulary.__doc__ or "").strip(), codes]
    return page("Codes", "kafka_hindsight/catalog/", parts)
