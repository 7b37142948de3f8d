"""Every rebalance in order of time, with a filter."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import Intent
from kafka_hindsight.catalog.rows import Incident, Rebalance
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import change, empty_sentence, member_name
from kafka_hindsight.shared import plain, words

_KIPS = {"consumer": "KIP-848", "streams": "KIP-1071", "share": "KIP-932"}

HEADINGS = ("Start", "Group", "Took", "Cause", "Confidence", "Started by", "Delayed by", "Generation")


def rebalances(page: PageRows) -> Iterator[ui.Block]:
    """A filter, and a row for each rebalance with its story folded below it."""
    if not page.rebalances:
        yield ui.Paragraph(empty_sentence(page, "No rebalance.", "No rebalance"))
        return
    tones = {vocabulary.CAUSES[row.cause].tone for row in page.rebalances}
    yield ui.Filter(tuple((tone, label) for tone, label in vocabulary.FAMILIES.items() if tone in tones))
    yield ui.Table("Rebalances", HEADINGS, tuple(_row(page, row) for row in page.rebalances), "rebalances")


def _row(page: PageRows, row: Rebalance) -> ui.TableRow:
    look, incident = vocabulary.CAUSES[row.cause], page.incidents.get(row.incident_id)
    is_declared = incident is not None and incident.intent == Intent.DECLARED
    took = words.duration(row.duration_ms) or "not known"
    cells = (
        ui.At(row.started_at),
        ui.head(ui.Name(plain.shortened(row.group_id))),
        took if row.outcome == "completed" else (took, " ", ui.Quiet(row.outcome)),
        (ui.Badge(look.label, "cause"), " ", ui.DECLARED) if is_declared else ui.Badge(look.label, "cause"),
        ui.confidence_badge(row.confidence),
        _name(member_name(row), plain.shortened(row.host or "")),
        ui.join(
            [_name(member_name(d), "" if d.waited_ms is None else words.duration(d.waited_ms)) for d in row.delayed_by]
        ),
        change(row.from_generation, row.to_generation) if _is_known(row.from_generation, row.to_generation) else "",
    )
    detail = ui.Expandable(
        row.explanation,
        (ui.Paragraph(row.advice, "advice"), ui.Facts(_facts(page, row)), page.evidence(row.evidence)),
        "",
    )
    return ui.TableRow(cells, plain.anchor("rebalance", row.rebalance_id), look.tone, is_declared, detail)


def _name(name: str, note: str) -> ui.Words:
    return (ui.Name(name) if name else "", (" ", ui.Quiet(note)) if note else "")


def _is_known(before: int | None, after: int | None) -> bool:
    return before is not None or after is not None


def _facts(page: PageRows, row: Rebalance) -> tuple[ui.Fact, ...]:
    incident = page.incidents.get(row.incident_id)
    seconds, members = row.partition_seconds, (row.members_before, row.members_after)
    contributors = [
        (ui.Name(member_name(m)), f" ({m.cause.label}", (", ", ui.At(m.at)) if m.at else "", ")")
        for m in row.contributors or ()
    ]
    facts = (
        row.reason and ui.Fact("Reason in the broker's log", row.reason, is_wide=True),
        contributors and ui.Fact("Other causes", ui.join(contributors), is_wide=True),
        # An incident of one rebalance would lead the reader in a circle.
        incident and incident.rebalance_count > 1 and ui.Fact("Part of", _incident_link(incident)),
        seconds is not None and ui.Fact("Cost", f"{seconds:,.0f} partition-seconds"),
        _is_known(*members) and ui.Fact("Members", change(*members)),
        row.coordinator is not None and ui.Fact("Coordinator", f"broker {row.coordinator}"),
        row.protocol in _KIPS and ui.Fact("Protocol", f"{row.protocol} ({_KIPS[row.protocol]})"),
    )
    return tuple(fact for fact in facts if isinstance(fact, ui.Fact))


def _incident_link(incident: Incident) -> ui.Link:
    label = vocabulary.INCIDENT_LABELS[incident.kind].lower()
    count = words.counted(incident.rebalance_count, "rebalance")
    return ui.Link(f"{label}, {count}", plain.anchor("incident", incident.incident_id))


SECTION = Section(130, "rebalances", "Every rebalance", "Rebalances", rebalances, counts=Rebalance)
