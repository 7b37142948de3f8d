"""The first screen: what the window asks of its reader, the gravest things that happened, and the figures of harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import Confidence, Harm
from kafka_hindsight.catalog.rows import BrokerOutage, Coverage, Finding, Incident, ValidationResult
from kafka_hindsight.knowledge.harms import HARM_NOTES
from kafka_hindsight.knowledge.rules import RULES, UNREAD, UNSEEN
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, vocabulary
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import incident_headline
from kafka_hindsight.report.sections import coverage
from kafka_hindsight.report.unread_logs import absence, unread_first
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

SENTENCES = 3
NAMED = 4
NOTHING = (
    "No record was lost, no partition was offline, no broker was away unplanned, and no group stopped because something"
    " failed."
)


def lead(page: PageRows) -> ui.Box:
    """The badge, what could not be seen, then at most three sentences: what happened, for how long, what to do."""
    state = figures.state_of(page.of(Incident), page.of(Finding))
    grave = [
        (harm, rows) for harm, rows in figures.by_harm(page.of(Incident)).items() if HARM_NOTES[harm].state != "calm"
    ][:SENTENCES]
    items = [_sentence(page, harm, rows) for harm, rows in grave]
    calm = () if items else tuple(_calm(page))
    return ui.Box(
        f"lead {state}",
        (
            ui.Paragraph((ui.Badge(vocabulary.STATES[state], f"state {state}"), " ", _seen(page)), "state-line"),
            *ui.said(unread_first(page)),
            *calm,
            *((ui.List(tuple(items), "gravest"),) if items else ()),
            *ui.said(_certainty([row for _, rows in grave for row in rows])),
            *ui.said(_planned(page)),
        ),
    )


def _calm(page: PageRows) -> Iterator[ui.Block]:
    """That nothing happened, and what was looked at to say so."""
    if not coverage.totals(page).lines_in:
        yield ui.Paragraph(coverage.unread_sentence(page))
        return
    yield ui.Paragraph(absence(page, NOTHING, "No loss, no failure and no group that stopped"))
    held = [row for row in page.of(ValidationResult) if row.success and not row.is_vacuous]
    checked = [words.counted(len(page.of(Coverage)), "log"), words.counted(len(RULES), "rule")]
    expectations = [f"{words.counted(len(held), 'expectation')} on the tables"] if held else []
    yield ui.Paragraph(f"Checked: {words.listed([*checked, *expectations])}.", "quiet")


def _seen(page: PageRows) -> str:
    """What could not be seen, before anything is claimed."""
    found = grouped(figures.unseen(page.of(Finding)), lambda f: f.rule_id)
    gaps = [
        said.format(_subjects(found[rule])) for rule, said in UNSEEN.items() if rule in found and rule not in UNREAD
    ]
    total = coverage.totals(page)
    lines = [f"{words.counted(total.lost, 'line')} of {words.number(total.lines_in)}"] if total.lost else []
    missed = [*lines, *gaps]
    return f"Not seen: {words.listed(missed, NAMED)}." if missed else coverage.unread_sentence(page)


def _subjects(rows: Sequence[Finding]) -> str:
    return words.counted(sum(words.stands_for(row.subject) for row in rows), rows[0].subject_kind)


def _sentence(page: PageRows, harm: Harm, rows: Sequence[Incident]) -> ui.Item:
    """What happened, each with the way to it, and what to do about the worst of it."""
    said = [incident_headline(row) for row in rows[:NAMED]]
    links = [
        ui.Link(f"{s[:1].lower()}{s[1:]}" if i else s, plain.anchor("incident", row.incident_id))
        for i, (s, row) in enumerate(zip(said, rows))
    ]
    rest = len(rows) - NAMED
    more = f"; and {words.counted(rest, 'more like these', 'more like these')}" if rest > 0 else ""
    what: ui.Words = (ui.separated(links, "; "), more, ".")
    label, owners = page.whose(rows[0].group_ids, rows[0].topics or ())
    whose = f" {label}: {owners}." if owners else ""
    return ui.Item((ui.Strong(what), " ", HARM_NOTES[harm].now, whose), HARM_NOTES[harm].state)


def _certainty(rows: Sequence[Incident]) -> str:
    """How sure the sentences are."""
    counts = Counter(row.confidence for row in rows)
    if not rows or counts[Confidence.CERTAIN] == len(rows):
        return "The cause of each is certain." if rows else ""
    said = words.listed([f"{sure} for {words.number(counts[sure])}" for sure in Confidence if counts[sure]])
    return f"The cause is {said} of the {words.number(len(rows))} incidents."


def _planned(page: PageRows) -> str:
    """Planned work, told apart."""
    rows = [i for i in figures.ranked(page.of(Incident)) if i.planned and figures.harm_of(i) == Harm.PLANNED]
    said = [incident_headline(row) for row in sorted(rows, key=lambda i: i.started_at)]
    more = f"; and {words.number(len(said) - NAMED)} more" if len(said) > NAMED else ""
    return f"Planned: {'; '.join(f'{s[:1].lower()}{s[1:]}' for s in said[:NAMED])}{more}." if said else ""


def tiles(page: PageRows) -> Iterator[ui.Tile]:
    """The figures of harm, and what could not be seen."""
    incidents, findings = page.of(Incident), page.of(Finding)
    lost, offline = figures.lost_records(incidents), figures.offline(incidents)
    away, stopped = figures.absences(page.of(BrokerOutage)), figures.groups_stopped(incidents)
    critical, unseen = figures.critical(findings), figures.unseen(findings)
    first = {harm: rows[0] for harm, rows in figures.by_harm(incidents).items()}
    yield _tile(
        lost.number, "committed records lost", bool(lost.low or lost.high != 0), "bad", _at(first, Harm.RECORDS_LOST)
    )
    yield _tile(
        *_offline(offline),
        bool(offline.partitions),
        "bad",
        _at(first, Harm.PARTITIONS_OFFLINE),
    )
    planned = f", {words.number(away.planned)} planned" if away.planned else ""
    noun = words.verb(away.unplanned, "unplanned absence of a broker", "unplanned absences of brokers")
    yield _tile(words.number(away.unplanned), f"{noun}{planned}", bool(away.unplanned), "bad", "outages")
    noun = words.verb(len(stopped), "group stopped by a failure", "groups stopped by a failure")
    yield _tile(words.number(len(stopped)), noun, bool(stopped), "warn", _at(first, Harm.CONSUMERS_STOPPED))
    noun = words.verb(len(critical), "critical finding", "critical findings")
    yield _tile(words.number(len(critical)), noun, bool(critical), "bad", "findings")
    noun = words.verb(len(unseen), "gap in what was seen", "gaps in what was seen")
    yield _tile(words.number(len(unseen)), noun, bool(unseen), "warn", "coverage")


def _offline(offline: figures.Offline) -> tuple[str, str]:
    """The longest time that a partition was offline, and how many were."""
    if not offline.partitions:
        return "0", "partitions offline"
    longest = words.duration(offline.longest_ms) or "0 s"
    count = words.counted(offline.partitions, "partition")
    which = count if offline.partitions == 1 else f"the longest of {count}"
    return f"{longest}{'+' if offline.is_open else ''}", f"offline at least: {which}"


def _at(first: dict[Harm, Incident], harm: Harm) -> str:
    return plain.anchor("incident", first[harm].incident_id) if harm in first else "incidents"


def _tile(value: str, label: str, is_bad: bool, tone: str, anchor: str) -> ui.Tile:
    return ui.Tile(value, label, tone if is_bad else "good", anchor)
