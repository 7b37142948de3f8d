"""The first screen: what the window asks of its reader, the gravest things that happened, and the figures of harm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kafka_hindsight.catalog.codes import (
    Confidence,
    FindingSeverity,
    Harm,
    InputKind,
    JumpHarm,
    Origin,
    UnavailabilityKind,
    Urgency,
    WitnessKind,
)
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Coverage,
    Failover,
    Finding,
    Incident,
    InputSpan,
    OffsetJump,
    Rebalance,
    Truncation,
    Unavailability,
    WithheldRow,
    Witness,
)
from kafka_hindsight.knowledge.rules import ONGOING_RULES, RULES, UNREAD, UNSEEN, WENT_ON
from kafka_hindsight.knowledge.rules.coverage_rules import BY_CAUSE, CLOCKS_DIFFER
from kafka_hindsight.measures.record_losses import total_loss
from kafka_hindsight.measures.records_moved import records_moved
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, Unused, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.declared_changes import changes_of_window
from kafka_hindsight.report.not_judged import JUDGED, unknown_verdicts
from kafka_hindsight.report.not_known import missing_witnesses, unread_inputs
from kafka_hindsight.report.page_rows import EarlierWindow, PageRows, Section
from kafka_hindsight.report.phrases import declared_label, incident_headline, origin_of, unread_warning
from kafka_hindsight.report.sections import coverage
from kafka_hindsight.report.sections.strip import strip
from kafka_hindsight.report.story_lines import story_sentence
from kafka_hindsight.report.withheld import ADVICE, withheld_sentences
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped, split_by

SENTENCES = 3
MOST_NAMED = 4
UNKNOWNS = 3
"""The most sentences about what is not known that stand beside the badge."""

SQUARES = 30
"""The windows before that a calm page shows as squares: a month of nights."""

_TOGETHER: Mapping[Harm, Sequence[UnavailabilityKind]] = {
    Harm.PARTITIONS_OFFLINE: LEADERLESS,
    Harm.WRITES_REFUSED: NO_WRITES,
}
"""The harms whose incidents share a beginning, with what could not be used."""


def first_screen(page: PageRows) -> Iterator[ui.Block]:
    """The first screen."""
    yield _lead(page)
    yield ui.List(tuple(tiles(page)), "tiles")
    yield from strip(page)
    yield from changes_of_window(page)


def ticket(page: PageRows) -> tuple[ui.Words, ...]:
    """The ticket about the window: its state, what is not covered, and the gravest things that happened."""
    return tuple(_sentences(_lead(page).blocks))


def _sentences(blocks: Iterable[ui.Content]) -> Iterator[ui.Words]:
    for block in blocks:
        if isinstance(block, ui.Paragraph) and block.style != "quiet":
            yield block.words
        elif isinstance(block, ui.List):
            yield from (item.words for item in block.items)


def _lead(page: PageRows) -> ui.Box:
    """The badge, the gaps in coverage, then at most three sentences: what happened, for how long, what to do."""
    findings, asking = page.of(Finding), figures.urgent_first(page.of(Incident))
    planned, urgent = split_by(asking, page.is_planned)
    news, former = split_by(urgent, page.is_news)
    state = page.state
    by_harm = grouped(news, lambda i: (figures.harm_of(i), figures.is_going_on(i)))
    grave = [(harm, rows) for (harm, _), rows in by_harm.items()][:SENTENCES]
    advised = {harm: place for place, (harm, _) in reversed([*enumerate(grave)])}
    # No incident of the window shows what began before it and is not over.
    items = [
        ui.Item((ui.Strong(f"{f.message}."), f" That was before this window. {f.advice}"), "act")
        for f in findings
        if f.rule_id in ONGOING_RULES
    ]
    items += [_sentence(page, harm, rows, advised[harm] == place) for place, (harm, rows) in enumerate(grave)]
    calm = () if items or former or planned else tuple(_calm(page))
    badge = ui.Badge(state.noun.label, f"state {state}")
    not_over = ui.Strong(" Not over.") if any(map(figures.is_going_on, urgent)) else ""
    return ui.Box(
        f"lead {state}",
        (
            ui.Paragraph((badge, not_over, " ", _coverage(page)), "state-line"),
            *_clocks(page),
            *_unknowns(page),
            *_went_on(page),
            *_withheld(page),
            *ui.note(unread_warning(page)),
            *calm,
            *((ui.List(tuple(items), "gravest"),) if items else ()),
            *_in_a_row("Planned, as declared: ", planned),
            *_in_a_row("As in the window before: ", former),
            *_not_judged(page),
            *ui.note(_certainty([_sureness(row, rows) for _, rows in grave for row in _examples(rows)])),
        ),
    )


def _calm(page: PageRows) -> Iterator[ui.Block]:
    """The sentence that nothing happened, and the number of logs, rules and expectations behind it."""
    if not coverage.totals(page).lines_in:
        yield ui.Paragraph(coverage.unread_sentence(page))
        return
    zeros = [kind.noun.zero for kind in WitnessKind if kind not in page.doubtful_zeros | page.went_on]
    if zeros:
        scope = " in what could be read" if unread_warning(page) else ""
        yield ui.Paragraph(f"{words.sentence(words.listed(zeros))}{scope}.")
    checked = [words.counted(len(page.of(Coverage)), "log"), words.counted(len(RULES), "rule")]
    yield ui.Paragraph(f"Checked: {words.listed(checked)}.", "quiet")
    yield from nights_before(page)


def nights_before(page: PageRows) -> Iterator[ui.Block]:
    """The windows before this one, each a letter that leads to its page; the oldest first."""
    squares = [_square(window) for window in page.earlier_windows[-SQUARES:]]
    if squares:
        number = words.counted(len(squares), "window")
        key = ", ".join(f"{urgency.noun.label[0]} {urgency.noun.label.lower()}" for urgency in Urgency)
        yield ui.Paragraph((f"The {number} before ({key}): ", ui.join(squares, " ")), "nights")


def _square(window: EarlierWindow) -> ui.Words:
    state = next((urgency for urgency in Urgency if urgency == window.state), None)
    letter, tone = (state.noun.label[0], str(state)) if state else ("?", "none")
    title = f"{words.instant(window.window_from)}: {tone if state else 'state not known'}"
    return ui.PageLink(letter, window.page, says=title, style=tone) if window.page else ui.Badge(letter, tone)


def _in_a_row(beginning: str, incidents: Sequence[Incident]) -> Iterator[ui.Block]:
    """Incidents that are not new, as they were planned or the window before had them too, in one sentence."""
    if incidents:
        headlines = {incident_headline(row): row for row in reversed(incidents)}
        rows = [*headlines.items()][::-1]
        links = [ui.Link(h, plain.anchor("incident", row.incident_id)) for h, row in rows[:MOST_NAMED]]
        hidden = len(rows) - MOST_NAMED
        more = f"; and {words.counted(hidden, 'more like these', 'more like these')}" if hidden > 0 else ""
        yield ui.Paragraph((beginning, ui.join(links, "; "), more, "."))


def _clocks(page: PageRows) -> Iterator[ui.Block]:
    """The clocks that differ, with what to do: what spans them is not to be trusted."""
    differing = [f for f in page.of(Finding) if f.rule_id == CLOCKS_DIFFER.rule_id]
    if differing:
        yield ui.List(tuple(ui.Item(ui.Strong(f"{f.message}."), "warn") for f in differing[:UNKNOWNS]), "statements")
        yield ui.Paragraph(differing[0].advice, "quiet")


def _unknowns(page: PageRows) -> Iterator[ui.Block]:
    """The events that the logs could not show, in at most three sentences, with what to do about the first."""
    unknowns = missing_witnesses(page.of(Witness))
    items = [ui.Item(ui.Strong(u.sentence(page.day)), "warn") for u in unknowns[:UNKNOWNS]]
    if hidden := len(unknowns) - len(items):
        more = words.counted(hidden, "more gap is", "more gaps are")
        items.append(ui.Item((ui.Link(f"{more} listed with the coverage", "coverage"), "."), "warn"))
    if items:
        yield ui.List(tuple(items), "statements")
        yield ui.Paragraph(f"{unknowns[0].advice} Until then their figures are lower bounds.", "quiet")


def _went_on(page: PageRows) -> Iterator[ui.Block]:
    """The troubles that began before the window, went on in it and were over when the logs end."""
    rule_ids = WENT_ON.keys() - ONGOING_RULES
    items = [ui.Item(ui.Strong(f"{f.message}."), "warn") for f in page.of(Finding) if f.rule_id in rule_ids]
    if items:
        yield ui.List(tuple(items), "statements")


def _withheld(page: PageRows) -> Iterator[ui.Block]:
    """The rows that are withheld from gold, with the reasons."""
    sentences = withheld_sentences(page.of(WithheldRow))
    if sentences:
        yield ui.List(tuple(ui.Item(ui.Strong(s), "warn") for s in sentences), "statements")
        yield ui.Paragraph(f"{ADVICE} Until then figures that count such rows are lower bounds.", "quiet")


def _not_judged(page: PageRows) -> Iterator[ui.Block]:
    """The events of which the evidence does not show the cause, by their number, and inputs that were read in part."""
    causes = unknown_verdicts(row for kind in JUDGED for row in page.of(kind))
    sentences = [*filter(None, [causes]), *unread_inputs(page.of(InputSpan), day=page.day)]
    if sentences:
        yield ui.List(tuple(ui.Item(sentence, "plain") for sentence in sentences), "statements")


def _coverage(page: PageRows) -> str:
    """The gaps in coverage, or the sentence that there is none."""
    unseen = grouped(figures.unseen(page.of(Finding)), lambda f: f.rule_id)
    gaps = []
    for rule, template in UNSEEN.items():
        if (rows := unseen.get(rule)) and rule not in UNREAD:
            counts = [words.stands_for(row.subject) for row in rows]
            count = max(counts) if rule in BY_CAUSE else sum(counts)
            names = f"{rows[0].subject_kind} {rows[0].subject}"
            gaps.append(template.format(names if count == 1 else words.counted(count, rows[0].subject_kind)))
    total = coverage.totals(page)
    lines = [f"{words.counted(total.unread, 'line')} of {words.number(total.lines_in)}"] if total.unread else []
    has_no_line = bool(page.of(Coverage)) and all(row.origin != Origin.BROKER for row in page.of(Coverage))
    is_blind = has_no_line and page.unknown_kinds.issuperset(WitnessKind)
    all_gaps = [*(["the brokers' logs"] if is_blind else []), *lines, *gaps]
    left_out = coverage.left_out_sentence(page) if page.run.left_out else ""
    sentence = f"Not seen: {words.listed(all_gaps, MOST_NAMED)}." if all_gaps else coverage.unread_sentence(page)
    return " ".join(filter(None, (coverage.ids_sentence(page), sentence, left_out)))


def _sentence(page: PageRows, harm: Harm, rows: Sequence[Incident], is_first: bool) -> ui.Item:
    """One sentence about incidents of one harm with links to them, and the advice in the first of that harm."""
    examples = _examples(rows)
    together, sentences = _headlines(page, harm, rows, examples)
    links = [
        ui.Link(f"{s[:1].lower()}{s[1:]}" if i or together else s, plain.anchor("incident", row.incident_id))
        for i, (s, row) in enumerate(zip(sentences, examples))
    ]
    hidden = len(rows) - len(examples)
    more = f"; and {words.counted(hidden, 'more like these', 'more like these')}" if hidden > 0 else ""
    claim: ui.Words = (together, ui.join(links, "; "), more, ".")
    label, owners = page.whose(rows[0].group_ids, rows[0].topics or ())
    ownership = f" {label}: {owners}." if owners else ""
    advice = f" {harm.noun.now}" if is_first else ""
    alone = story_sentence(page, rows[0]) or _share(page, harm, rows[0]) if len(rows) == 1 else ""
    return ui.Item((ui.Strong(claim), alone, advice, ownership), figures.needs(rows[0]))


def _share(page: PageRows, harm: Harm, incident: Incident) -> str:
    """The share of all partitions that an incident left without use; empty where no reading shows how many there are.

    The headline of an incident was written without readings.
    """
    counts = {
        Harm.PARTITIONS_OFFLINE: incident.partitions_offline,
        Harm.WRITES_REFUSED: incident.partitions_refusing,
    }
    count, total = counts.get(harm) or 0, page.partitions or 0
    if not 1 < count <= total:
        return ""
    return f" That is every partition, {total} of {total}." if count == total else f" That is {count} of {total}."


def _headlines(
    page: PageRows, harm: Harm, rows: Sequence[Incident], examples: Sequence[Incident]
) -> tuple[str, list[str]]:
    """A beginning that several incidents share, and the headline of some; after a beginning its origin alone."""
    beginning, headlines = "", [incident_headline(row) for row in examples]
    if harm in _TOGETHER and len(rows) > 1 and not any(map(figures.is_going_on, rows)):
        ids = {row.incident_id for row in rows}
        sums = _unused_in(page, (u for u in page.of(Unavailability) if u.incident_id in ids), harm)
        beginning = f"{sums.clause(partial(_count_words, page))}: "
        headlines = [origin_of(row) or h for row, h in zip(examples, headlines)]
    return beginning, [f"{h}{declared_label(row)}{_doubt(_sureness(row, rows))}" for h, row in zip(headlines, examples)]


def _count_words(page: PageRows, places: Sequence[object]) -> str:
    """The number of partitions, of all where a reading shows that number."""
    total = _of_all(page, len(places))
    noun = words.verb(page.partitions or 0, "partition", "partitions")
    return f"{words.number(len(places))} {total}{noun}" if total else words.counted(len(places), "partition")


def _unused_in(page: PageRows, rows: Iterable[Unavailability], harm: Harm) -> Unused:
    """The partitions that could not be used; at least these where the logs could not show all of them."""
    is_least = any(kind.noun.harm is harm for kind in page.unknown_kinds)
    return replace(unused(rows, _TOGETHER[harm]), is_least=is_least)


def _examples(rows: Sequence[Incident]) -> list[Incident]:
    """Some incidents that stand for all: the first of each headline."""
    return list({incident_headline(row): row for row in reversed(rows)}.values())[::-1][:MOST_NAMED]


def _sureness(example: Incident, rows: Iterable[Incident]) -> Confidence:
    """How sure the headline of an example is: it stands for each incident that has it too."""
    return figures.least_sure(row for row in rows if incident_headline(row) == incident_headline(example))


def _doubt(confidence: Confidence) -> str:
    """The confidence of a cause that is not certain, to stand after its headline."""
    return "" if confidence == Confidence.CERTAIN else f" ({confidence})"


def _certainty(confidences: Sequence[Confidence]) -> str:
    """How sure the causes of these incidents are, in one sentence."""
    doubts = sorted({*confidences} - {Confidence.CERTAIN}, key=[*Confidence].index)
    if not confidences:
        return ""
    return "Causes are certain unless marked." if doubts else "Each of these causes is certain."


def tiles(page: PageRows) -> Iterator[ui.Item]:
    """The figures of harm, and the number of gaps in coverage."""
    incidents, findings = page.of(Incident), page.of(Finding)
    loss, absences = total_loss(page.of(Failover), page.of(Truncation)), figures.absences(page.of(BrokerOutage))
    leaderless, refusing = (_unused_in(page, page.of(Unavailability), h) for h in _TOGETHER)
    groups = figures.groups_stopped(incidents, page.of(Unavailability), page.of(Rebalance))
    critical = sum(finding.severity == FindingSeverity.CRITICAL for finding in findings)
    unseen = figures.unseen(findings)
    anchors = {harm: plain.anchor("incident", rows[0].incident_id) for harm, rows in figures.by_harm(incidents).items()}
    harms = (Harm.RECORDS_LOST, Harm.PARTITIONS_OFFLINE, Harm.WRITES_REFUSED, Harm.CONSUMERS_STOPPED)
    loss_at, offline_at, refusing_at, stopped_at = (anchors.get(harm, "incident-list") for harm in harms)
    manners = (
        (absences.sudden, "crashed or hung"),
        (absences.orderly, "shut down"),
        (absences.not_back, "not seen back"),
    )
    details = ", ".join(f"{words.number(n)} {manner}" for n, manner in manners if n)
    noun = f"{words.verb(absences.most, 'time', 'times')} a broker went down{f': {details}' if details else ''}"
    tone = "bad" if absences.sudden + absences.not_back else "warn"
    if loss.low or loss.high != 0:
        yield _tile(loss.number, "committed records lost", "bad", loss_at)
    else:
        yield _harm(page, WitnessKind.CUTS, (0, 0), "committed records lost", "bad", loss_at)
    yield from _moved(page, JumpHarm.RECORDS_SKIPPED, "records skipped by groups", "bad")
    yield from _moved(page, JumpHarm.RECORDS_READ_AGAIN, "records read again by groups", "warn")
    unusable = ((leaderless, offline_at, WitnessKind.LEADERS), (refusing, refusing_at, WitnessKind.IN_SYNC))
    for sums, anchor, witness in unusable:
        label = _unused(sums, _of_all(page, sums.most))
        is_handed_over = witness is WitnessKind.LEADERS and Harm.PARTITIONS_OFFLINE not in anchors
        yield _harm(page, witness, (len(sums.subjects), sums.most), label, "warn" if is_handed_over else "bad", anchor)
    yield _harm(page, WitnessKind.LIFE, (absences.least, absences.most), noun, tone, "cluster/outages")
    bounds = len(groups.least), len(groups.most)
    noun = words.verb(bounds[1], "group stopped by a failure", "groups stopped by a failure")
    yield _harm(page, WitnessKind.GROUPS, bounds, noun, "warn", stopped_at)
    noun = words.verb(critical, "critical finding", "critical findings")
    yield (_lower_bound if page.unknown_kinds else _figure)(critical, noun, "bad", "findings")
    gaps = len(unseen) + len(missing_witnesses(page.of(Witness))) + len(withheld_sentences(page.of(WithheldRow)))
    yield _figure(gaps, words.verb(gaps, "gap in coverage", "gaps in coverage"), "warn", "coverage")


def _moved(page: PageRows, harm: JumpHarm, label: str, tone: str) -> Iterator[ui.Item]:
    """The records that groups skipped, or read again: at least so many, unless all records of commits were read."""
    moved, records = records_moved(page.of(OffsetJump), harm), page.rows_of(InputSpan, "input", InputKind.RECORDS)
    if moved.low and records and all(span.is_read for span in records):
        yield _tile(moved.number, label, tone, "groups/offset-jumps")
    elif moved.low:
        yield _lower_bound(moved.low, label, tone, "groups/offset-jumps")


def _unused(sums: Unused, total: str) -> str:
    """The partitions that could not be used, without their number and the longest time, which the sentences name."""
    noun = words.verb(sums.most, "partition", "partitions")
    if sums.count is None:
        return f"{total}{noun} may have {sums.noun.participle}, {sums.partition_seconds}"
    claim, open_count = f"{total}{noun} {sums.noun.predicate}", len(sums.still)
    if open_count == len(sums.subjects):
        claim = f"{total}{noun} still {sums.noun.predicate} when the logs end" if open_count else claim
    elif open_count:
        claim = f"{claim}, {words.number(open_count)} of them still when the logs end"
    return f"{claim}, {sums.partition_seconds}" if sums.most else claim


def _of_all(page: PageRows, count: int) -> str:
    """The number of all partitions, to stand between a count of some and their noun; empty where none is witnessed."""
    return f"of {words.number(page.partitions)} " if page.partitions and 0 < count <= page.partitions else ""


def _figure(count: int, label: str, tone: str, anchor: str) -> ui.Item:
    return _tile(words.number(count), label, tone if count else "good", anchor)


def _harm(page: PageRows, kind: WitnessKind, bounds: tuple[int, int], label: str, tone: str, anchor: str) -> ui.Item:
    """A figure of harm: events of a kind, at least and at most."""
    least, most = bounds
    if kind in page.went_on:
        label, tone = f"{label}, not counting what had begun before the window", tone if least else "warn"
        return _tile(words.number_range(least, most), label, tone, anchor)
    if kind in page.unknown_kinds or (most == 0 and kind in page.doubtful_zeros):
        return _lower_bound(least, label, tone, anchor)
    if least < most:
        return _tile(words.number_range(least, most), label, tone if least else "warn", anchor)
    return _figure(least, label, tone, anchor)


def _lower_bound(least: int, label: str, tone: str, anchor: str) -> ui.Item:
    """A figure of which the logs could not show all: a zero is not known."""
    return _tile(f"{words.number(least)}+", label, tone, anchor) if least else _tile("?", label, "unknown", anchor)


def _tile(value: str, label: str, tone: str, anchor: str) -> ui.Item:
    return ui.Item(ui.Link((ui.Strong(value), f" {label}"), anchor), tone)


SECTION = Section("night", 10, "verdict", "", first_screen)
