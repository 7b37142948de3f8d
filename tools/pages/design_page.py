"""The generated parts of docs/design.md: the tables of section 4 and the codes of section 5."""

from __future__ import annotations

import re

from kafka_hindsight.catalog import TABLES
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
    LagStatus,
    LossScope,
    MoveEffect,
    Origin,
    OutageKind,
    Outcome,
    OutOfSyncKind,
    Protocol,
    RemedySetting,
    StartFailure,
    TruncationVerdict,
    UnavailabilityKind,
)
from tools.pages.markdown import as_table

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
    "coordinator_moves.effect": MoveEffect,
    "imbalance_periods.ended_by": ImbalanceEnd,
    "lag_verdicts.status": LagStatus,
    "remedies.setting": RemedySetting,
    "loss_simulations.scope_kind": LossScope,
    "findings.severity": FindingSeverity,
    "events.origin": Origin,
    "confidence, in every table": Confidence,
}
"""The vocabularies that other programs read, by the column that holds them."""

_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end of generated -->)", re.DOTALL)


def design_page(text: str) -> str:
    """The page with its parts generated from the catalog. Raises: KeyError for an unknown part."""
    parts = {"tables": _tables(), "codes": _codes()}
    return _PART.sub(lambda m: f"{m[1]}\n{parts[m[2]]}\n{m[3]}", text)


def _tables() -> str:
    layers = dict.fromkeys(t.layer for t in TABLES)
    return "\n".join(f"**{layer}**\n\n{_layer(layer)}" for layer in layers)


def _layer(layer: str) -> str:
    rows = [
        (
            f"[`{t.name}`](tables.md#{t.full_name.replace('.', '')})",
            t.grain,
            ", ".join(f"`{c}`" for c in t.column_names),
        )
        for t in TABLES
        if t.layer == layer
    ]
    return as_table(("Table", "One row is", "Columns"), rows)


def _codes() -> str:
    return "\n".join(
        f"**{column}**: {(vocabulary.__doc__ or '').strip()}\n\n"
        + as_table(("Code", "Means"), [(f"`{c.value}`", c.meaning) for c in vocabulary])
        for column, vocabulary in CONTRACT.items()
    )
