"""Incidents: rebalances with one origin, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spark_jobs.catalog.rows import BrokerOutage, Incident, Rebalance
from spark_jobs.report import blocks as ui
from spark_jobs.report import plain, vocabulary
from spark_jobs.report.page_rows import PageRows, Section
from spark_jobs.report.phrases import incident_headline
from spark_jobs.shared import words

SHOWN_OPEN = 3
SHOWN_IN_FULL = 200
LINKS_PER_INCIDENT = 60


def incidents(page: PageRows) -> Iterator[ui.Block]:
    """The incidents, worst first: unplanned ones, then by cost, by the rebalances they made, and by their cause."""
    rows = sorted(page.of(Incident), key=_cost)
    if not rows:
        yield ui.Paragraph("No incident.")
    for i, row in enumerate(rows[:SHOWN_IN_FULL]):
        yield _incident(page, row, is_open=i < SHOWN_OPEN and not row.planned)
    lesser = rows[SHOWN_IN_FULL:]
    if lesser:
        table = ui.Table(
            "Lesser incidents", ("Start", "What", "Sure", "Rebalances"), tuple(_lesser(page, row) for row in lesser)
        )
        yield ui.Expandable(words.counted(len(lesser), "lesser incident"), (table,))


def _cost(incident: Incident) -> tuple[object, ...]:
    return (
        incident.planned,
        -(incident.partition_seconds or 0.0),
        -incident.rebalance_count,
        list(vocabulary.CAUSES).index(incident.cause),
        incident.started_at,
        incident.incident_id,
    )


def _incident(page: PageRows, row: Incident, is_open: bool) -> ui.Entry:
    look, anchor = vocabulary.CAUSES[row.cause], plain.anchor("incident", row.incident_id)
    lasted = (" (", words.duration(words.elapsed_ms(row.started_at, row.ended_at)), ")")
    seconds = "" if row.partition_seconds is None else f"{row.partition_seconds:,.0f} partition-seconds"
    links = [_link(page, r, several_groups=len(row.group_ids) > 1) for r in page.rebalances_of.get(row.incident_id, ())]
    outage = page.outage_link(row.outage_id)
    kind = f"{vocabulary.INCIDENT_LABELS[row.kind]}, {'planned' if row.planned else 'not planned'} "
    facts = (
        ui.Fact("Kind", (kind, ui.Address(anchor, "incident"))),
        ui.Fact("Cause", (ui.Badge(look.label, f"cause t-{look.tone}"), f", {row.confidence}")),
        ui.Fact(
            "From, to",
            (ui.At(row.started_at), (" to ", ui.At(row.ended_at), lasted) if row.ended_at else ", still open"),
        ),
        ui.Fact("Cost", f"{seconds} stopped" if seconds else "not known: no log shows how many partitions stopped"),
        *((ui.Fact("Outage", outage),) if outage else ()),
        ui.Fact("Group" if len(row.group_ids) == 1 else "Groups", _groups(row), is_wide=len(row.group_ids) > 1),
        *((ui.Fact("Rebalance", links[0]),) if len(links) == 1 else ()),
    )
    return ui.Entry(
        incident_headline(page, row),
        (
            ui.Paragraph(row.explanation),
            ui.what_to_do(row.advice),
            ui.Facts(facts),
            *((_rebalances(row, links),) if len(links) > 1 else ()),
            page.evidence(row.evidence),
        ),
        anchor=anchor,
        tone=look.tone,
        when=ui.At(row.started_at),
        badges=ui.badges(row.planned, row.confidence),
        cost=words.counted(row.rebalance_count, "rebalance") + (f" · {seconds}" if row.partition_seconds else ""),
        is_open=is_open,
        brief=row.explanation,
        advice=row.advice,
    )


def _groups(row: Incident) -> ui.Block:
    return ui.names([plain.shortened(g) for g in row.group_ids], 24)


def _link(page: PageRows, rebalance: Rebalance, several_groups: bool) -> ui.Link:
    group = f" {plain.shortened(rebalance.group_id, 32)}" if several_groups else ""
    at = words.instant(rebalance.started_at, page.day)
    return ui.Link(f"{at}{group}", plain.anchor("rebalance", rebalance.rebalance_id))


def _rebalances(row: Incident, links: Sequence[ui.Link]) -> ui.Expandable:
    shown = links[:LINKS_PER_INCIDENT]
    rest = row.rebalance_count - len(shown)
    words_of_links = ui.linked(shown, f"and {rest} more in the table" if rest > 0 else "")
    summary = f"Its {words.counted(row.rebalance_count, 'rebalance')}"
    return ui.Expandable(summary, (ui.Paragraph(words_of_links, "links"),))


def _lesser(page: PageRows, row: Incident) -> ui.TableRow:
    rebalances = page.rebalances_of.get(row.incident_id, ())
    count = str(row.rebalance_count)
    first = ui.Link(count, plain.anchor("rebalance", rebalances[0].rebalance_id)) if rebalances else count
    headline = ui.Badge(incident_headline(page, row), f"cause t-{vocabulary.CAUSES[row.cause].tone}")
    cells = (ui.At(row.started_at), headline, row.confidence, (first, ", planned" if row.planned else ""))
    return ui.TableRow(cells, plain.anchor("incident", row.incident_id), "incident")


READS = (Incident, Rebalance, BrokerOutage)
SECTION = Section(50, "incidents", "Incidents, worst first", "Incidents", incidents, READS, counts=Incident)
