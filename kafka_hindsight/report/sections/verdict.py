"""The first screen: what the window asks of its reader, the gravest things that happened, and the figures of harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kafka_hindsight.catalog.codes import Confidence, Harm, Origin, UnavailabilityKind
from kafka_hindsight.catalog.rows import BrokerOutage, Coverage, Finding, Incident, Unavailability, ValidationResult
from kafka_hindsight.knowledge.harms import HARM_NOTES
from kafka_hindsight.knowledge.rules import ONGOING_RULES, RULES, UNREAD, UNSEEN
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import absence, declared, incident_headline, unread_first
from kafka_hindsight.report.sections import coverage
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.unavailability import NO_LEADER, NO_WRITES, Unused, unused

SENTENCES = 3
NAMED = 4
NOTHING = (
    "No record was lost, no partition was without a leader, no broker was away, and no group stopped because something"
    " failed."
)
_TOGETHER: Mapping[Harm, tuple[Sequence[UnavailabilityKind], str]] = {
    Harm.PARTITIONS_OFFLINE: (NO_LEADER, "had no leader"),
    Harm.WRITES_REFUSED: (NO_WRITES, "took no writes with acks=all"),
}


def verdict(page: PageRows) -> Iterator[ui.Block]:
    """The first screen."""
    yield _lead(page)
    yield ui.List(tuple(tiles(page)), "tiles")


def _lead(page: PageRows) -> ui.Box:
    """The badge, what could not be seen, then at most three sentences: what happened, for how long, what to do."""
    findings, parts = page.of(Finding), grouped(figures.urgent_first(page.of(Incident)), figures.is_going_on)
    state, going_on = figures.state_of(page.of(Incident), findings, page.run.is_partial), parts.get(True, ())
    first = [(figures.harm_of(going_on[0]), going_on)] if going_on else []
    grave = [*first, *figures.by_harm(parts.get(False, ())).items()][:SENTENCES]
    advised = {harm: place for place, (harm, _) in reversed([*enumerate(grave)])}
    # What went before the window began, and is not over, no incident of the window shows.
    items = [
        ui.Item((ui.Strong(f"{f.message}."), f" That was before this window. {f.advice}"), "act")
        for f in findings
        if f.rule_id in ONGOING_RULES and f.first_at == page.window[0]
    ]
    items += [_sentence(page, harm, rows, advised[harm] == place) for place, (harm, rows) in enumerate(grave)]
    calm = () if items else tuple(_calm(page))
    return ui.Box(
        f"lead {state}",
        (
            ui.Paragraph((ui.Badge(vocabulary.STATES[state], f"state {state}"), " ", _seen(page)), "state-line"),
            *ui.said(unread_first(page)),
            *calm,
            *((ui.List(tuple(items), "gravest"),) if items else ()),
            *ui.said(_certainty([row for _, rows in grave for row in rows])),
        ),
    )


def _calm(page: PageRows) -> Iterator[ui.Block]:
    """That nothing happened, and what was looked at to say so."""
    if not coverage.totals(page).lines_in:
        yield ui.Paragraph(coverage.unread_sentence(page))
        return
    yield ui.Paragraph(absence(page, NOTHING, "No loss, no failure and no group that stopped"))
    evaluated = [row for row in page.of(ValidationResult) if row.success and not row.is_vacuous]
    checked = [words.counted(len(page.of(Coverage)), "log"), words.counted(len(RULES), "rule")]
    expectations = [f"{words.counted(len(evaluated), 'expectation')} on the tables"] if evaluated else []
    yield ui.Paragraph(f"Checked: {words.listed([*checked, *expectations])}.", "quiet")


def _seen(page: PageRows) -> str:
    """What could not be seen, before anything is claimed."""
    unseen = grouped(figures.unseen(page.of(Finding)), lambda f: f.rule_id)
    gaps = []
    for rule, said in UNSEEN.items():
        if (rows := unseen.get(rule)) and rule not in UNREAD:
            subjects = words.counted(sum(words.stands_for(row.subject) for row in rows), rows[0].subject_kind)
            gaps.append(said.format(subjects))
    total = coverage.totals(page)
    lines = [f"{words.counted(total.lost, 'line')} of {words.number(total.lines_in)}"] if total.lost else []
    is_blind = bool(page.of(Coverage)) and all(row.origin != Origin.BROKER for row in page.of(Coverage))
    missed = [*(["the brokers' logs"] if is_blind else []), *lines, *gaps]
    left_out = f" {coverage.left_out_sentence(page)}" if page.run.left_out else ""
    seen = f"Not seen: {words.listed(missed, NAMED)}." if missed else coverage.unread_sentence(page)
    return f"{seen}{left_out}"


def _sentence(page: PageRows, harm: Harm, rows: Sequence[Incident], is_first: bool) -> ui.Item:
    """What happened, each with the way to it, and what to do about it, unless a sentence before has said that."""
    together, sentences = _headlines(page, harm, rows)
    links = [
        ui.Link(f"{s[:1].lower()}{s[1:]}" if i or together else s, plain.anchor("incident", row.incident_id))
        for i, (s, row) in enumerate(zip(sentences, rows))
    ]
    rest = len(rows) - NAMED
    more = f"; and {words.counted(rest, 'more like these', 'more like these')}" if rest > 0 else ""
    what: ui.Words = (together, ui.separated(links, "; "), more, ".")
    label, owners = page.whose(rows[0].group_ids, rows[0].topics or ())
    whose = f" {label}: {owners}." if owners else ""
    advice = f" {HARM_NOTES[harm].now}" if is_first else ""
    return ui.Item((ui.Strong(what), advice, whose), figures.needs(rows[0]))


def _headlines(page: PageRows, harm: Harm, rows: Sequence[Incident]) -> tuple[str, list[str]]:
    """What several did together, and each in words; where each did that, the rest of its headline is enough."""
    headlines = [f"{incident_headline(row)}{declared(row)}" for row in rows[:NAMED]]
    if harm not in _TOGETHER or len(rows) == 1 or any(map(figures.is_going_on, rows)):
        return "", headlines
    kinds, what = _TOGETHER[harm]
    ids = {row.incident_id for row in rows}
    sums = unused((u for u in page.of(Unavailability) if u.incident_id in ids), kinds)
    count = words.counted(len(sums.subjects), "partition")
    return f"{count} {what}, the longest for {words.duration(sums.longest_ms)}: ", [
        headline.partition(": ")[2] or headline for headline in headlines
    ]


def _certainty(rows: Sequence[Incident]) -> str:
    """How sure the sentences are."""
    counts = Counter(row.confidence for row in rows)
    if not rows or counts[Confidence.CERTAIN] == len(rows):
        return "The cause of each is certain." if rows else ""
    counted = words.listed([f"{sure} for {words.number(counts[sure])}" for sure in Confidence if counts[sure]])
    return f"The cause is {counted} of the {words.number(len(rows))} incidents."


def tiles(page: PageRows) -> Iterator[ui.Item]:
    """The figures of harm, and what could not be seen."""
    incidents, findings = page.of(Incident), page.of(Finding)
    lost, away = figures.lost_records(incidents), figures.absences(page.of(BrokerOutage))
    offline, refusing = (unused(page.of(Unavailability), kinds) for kinds in (NO_LEADER, NO_WRITES))
    stopped = figures.groups_stopped(incidents, page.of(Unavailability)).subjects
    critical, unseen = figures.critical(findings), figures.unseen(findings)
    first = {harm: plain.anchor("incident", of[0].incident_id) for harm, of in figures.by_harm(incidents).items()}
    lost_at, offline_at, refusing_at, stopped_at = (
        first.get(harm, "incidents")
        for harm in (Harm.RECORDS_LOST, Harm.PARTITIONS_OFFLINE, Harm.WRITES_REFUSED, Harm.CONSUMERS_STOPPED)
    )
    absences, manners = away.sudden + away.orderly, ((away.orderly, "shut down in order"), (away.gone, "not back"))
    details = "".join(f", {words.number(n)} {manner}" for n, manner in manners if n)
    noun = f"{words.verb(absences, 'absence of a broker', 'absences of brokers')}{details}"
    tone = "bad" if away.sudden + away.gone else "warn"
    yield _tile(lost.number, "committed records lost", "bad" if lost.low or lost.high != 0 else "good", lost_at)
    yield _counted(len(offline.subjects), _unused(offline, "without a leader"), "bad", offline_at)
    yield _counted(len(refusing.subjects), _unused(refusing, "without writes (acks=all)"), "bad", refusing_at)
    yield _counted(absences, noun, tone, "outages")
    noun = words.verb(len(stopped), "group stopped by a failure", "groups stopped by a failure")
    yield _counted(len(stopped), noun, "warn", stopped_at)
    yield _counted(len(critical), words.verb(len(critical), "critical finding", "critical findings"), "bad", "findings")
    noun = words.verb(len(unseen), "gap in what was seen", "gaps in what was seen")
    yield _counted(len(unseen), noun, "warn", "coverage")


def _unused(sums: Unused, what: str) -> str:
    """Which partitions could not be used, the longest time and all of it."""
    clauses = [f"{words.verb(len(sums.subjects), 'partition', 'partitions')} {what}"]
    if sums.still:
        clauses.append(f"{words.number(len(sums.still))} of them when the logs end")
    if sums.longest is not None:
        clauses.append(f"the longest for {words.duration(sums.longest_ms)}")
        clauses.append(words.counted(round(sums.total_ms / 1000), "partition-second"))
    return ", ".join(clauses)


def _counted(count: int, label: str, tone: str, anchor: str) -> ui.Item:
    return _tile(words.number(count), label, tone if count else "good", anchor)


def _tile(value: str, label: str, tone: str, anchor: str) -> ui.Item:
    return ui.Item(ui.Link((ui.Strong(value), f" {label}"), anchor), tone)


SECTION = Section(10, "verdict", "", "Verdict", verdict)
