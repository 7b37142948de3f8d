"""Coverage: the lines that were read and those that were not, before anything is claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from kafka_hindsight.catalog.codes import InputKind, Origin, WitnessKind
from kafka_hindsight.catalog.rows import (
    Coverage,
    Failover,
    Finding,
    GenerationGap,
    InputSpan,
    LeaderImbalance,
    LeadershipGap,
    Rebalance,
    ValidationResult,
    WithheldRow,
    Witness,
)
from kafka_hindsight.knowledge.layouts import CUTS
from kafka_hindsight.knowledge.rules.coverage_rules import BROKER_LOG_MISSING
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.not_known import missing_witnesses, unread_inputs
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import change, partition_name
from kafka_hindsight.report.withheld import withheld_sentences
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

# The tone of a sentence (good, plain, warn), and the sentence.
Statement = tuple[str, str]

GAPS_OPEN = 6
LEADER_GAPS = 60
SILENT_BROKERS = 12
NOT_READ = 60
LAYOUTS_SHOWN = 6
_STILL_ARRIVE = (
    "Whether these logs still arrive: hindsight collection prints it. In Airflow: Browse, Kafka Hindsight: collection."
)
SOURCE_HEADINGS = (
    "Source", "Lines", "With information", "Nothing of use", "No pattern", "Broken", "Longest silence", "First", "Last",
    "Layouts",
)  # fmt: skip


def coverage(page: PageRows) -> Iterator[ui.Block]:
    """Statements about what was read, then the breaks and the sources one by one."""
    yield from ui.statements([statement for part in STATEMENTS for statement in part(page)])
    yield from ui.statements([("warn", sentence) for sentence in withheld_sentences(page.of(WithheldRow))])
    yield from ui.statements([("warn", str(warning)) for warning in page.run.warnings or ()])
    yield from _gaps(page)
    yield from _leader_gaps(page)
    yield from _sources(page)
    yield from ui.note(_STILL_ARRIVE, page.of(Coverage))
    for reason, names in _files_not_read(page).items():
        yield ui.Expandable(f"Files not read{reason}", (ui.names(names, NOT_READ),))


@dataclass(frozen=True)
class Totals:
    """Physical lines of all sources, by their fate."""

    lines_in: int
    events: int
    ignored: int
    unparsed: int
    quarantined: int

    @property
    def unread(self) -> int:
        """Lines that could not be read."""
        return self.unparsed + self.quarantined

    @property
    def accounted(self) -> int:
        """Lines whose fate is known."""
        return self.events + self.ignored + self.unread


def totals(page: PageRows) -> Totals:
    """The sums over all sources."""
    rows = page.of(Coverage)
    return Totals(**{f.name: sum(getattr(row, f.name) for row in rows) for f in fields(Totals)})


def unread_sentence(page: PageRows) -> str:
    """How many lines could not be read: `2 lines of 1.9 million could not be read`."""
    total = totals(page)
    if not page.of(Coverage):
        return "The lake has no coverage of this window, so it is not known which lines were not read."
    if not total.lines_in:
        return "No line was read, so nothing is known about what happened."
    if not total.unread:
        scope = " of this cluster" if page.run.left_out else ""
        return f"All {words.counted(total.lines_in, 'line')}{scope} could be read."
    return f"{words.counted(total.unread, 'line')} of {words.number(total.lines_in)} could not be read."


def left_out_sentence(page: PageRows) -> str:
    """The lines that are left out: `Not part of this audit: 40 lines of 2 days in 3 files (reason)`."""
    return f"Not part of this audit: {words.listed(page.run.left_out or ())}."


def ids_sentence(page: PageRows) -> str:
    """The ids of a cluster that has several in the window; empty if it has one."""
    ids = page.run.cluster_ids or ()
    if len(ids) < 2:
        return ""
    return (
        f"The cluster has {words.counted(len(ids), 'id')}, one after the other: {words.listed(ids)}. It was formatted,"
        " or several clusters wrote its logs."
    )


def broken_expectations(page: PageRows) -> list[ValidationResult]:
    """Expectations that did not hold."""
    return [r for r in page.of(ValidationResult) if not r.success]


def _lines(page: PageRows) -> Iterator[Statement]:
    total, sources = totals(page), words.counted(len(page.of(Coverage)), "source")
    lines = words.counted(total.lines_in, "line")
    if not total.lines_in:
        yield "warn", unread_sentence(page)
    elif total.accounted != total.lines_in:
        accounted = words.number(total.accounted)
        yield "warn", f"The account of lines does not balance: {lines} were read, the fate of {accounted} is known."
    else:
        fates = (
            (total.events, "carries information", "carry information"),
            (total.ignored, "is known to carry nothing of use", "are known to carry nothing of use"),
            (total.unparsed, "matches no pattern", "match no pattern"),
            (total.quarantined, "is broken", "are broken"),
        )
        parts = [f"{words.number(count)} {words.verb(count, one, many)}" for count, one, many in fates if count]
        yield "warn" if total.unread else "good", f"{lines} of {sources}: {words.listed(parts)}."


def _replaced(page: PageRows) -> Iterator[Statement]:
    """The lines in which bytes are not UTF-8."""
    if count := sum(row.replaced_lines or 0 for row in page.of(Coverage)):
        verb = words.verb(count, "holds", "hold")
        yield (
            "plain",
            f"{words.counted(count, 'line')} {verb} bytes that are not UTF-8: a mark stands for each of these bytes.",
        )


def _layouts(page: PageRows) -> Iterator[Statement]:
    """The sources counted by layout, where any layout is not a default one of Kafka or librdkafka."""
    counts = Counter(layout for row in page.of(Coverage) for layout in row.layouts or ())
    if not counts.keys() <= CUTS.keys():
        first = counts.most_common(LAYOUTS_SHOWN)
        parts = [f"{plain.shortened(name)} in {words.counted(n, 'source')}" for name, n in first]
        more = [f"{len(counts) - LAYOUTS_SHOWN} more"] if len(counts) > LAYOUTS_SHOWN else []
        yield "plain", f"Layouts of the lines: {words.listed([*parts, *more])}."


def _generations(page: PageRows) -> Iterator[Statement]:
    """Whether rebalances are missing; empty where no broker's log shows a group."""
    gaps = [row for row in page.of(GenerationGap) if row.explained_by is None]
    explained = len(page.of(GenerationGap)) - len(gaps)
    note = f" {words.counted(explained, 'further break')} {words.verb(explained, 'is', 'are')} explained."
    if gaps:
        groups = words.counted(len({row.group_id for row in gaps}), "group")
        missing = sum(max(0, row.next_generation - row.after_generation - 1) for row in gaps)
        bound = f": at least {words.counted(missing, 'rebalance')} {words.verb(missing, 'is', 'are')} missing here"
        breaks = f"{words.counted(len(gaps), 'break')} in the generations of {groups}"
        has = words.verb(len(gaps), "has", "have")
        yield "warn", f"{breaks} {has} no explanation{bound if missing else ''}.{note if explained else ''}"
    elif page.of(Rebalance) and WitnessKind.GROUPS not in page.unknown_kinds:
        yield "good", f"No generation of a group is missing.{note if explained else ''}"


def _leaders(page: PageRows) -> Iterator[Statement]:
    """The breaks in the leader epochs that nothing explains."""
    unknown = [row for row in page.of(LeadershipGap) if row.explained_by is None]
    if unknown:
        partitions = words.counted(len({(row.topic, row.partition) for row in unknown}), "partition")
        breaks = f"{words.counted(len(unknown), 'break')} in the leader epochs of {partitions}"
        has = words.verb(len(unknown), "has", "have")
        yield "warn", f"{breaks} {has} no explanation: the leader in between is unknown."
    elif page.of(Failover) and WitnessKind.LEADERS not in page.unknown_kinds:
        yield "good", "Every leader epoch that was seen follows from the one before."


_MISSING = {
    Origin.BROKER: "no broker's log",
    Origin.CLIENT: "no client's log (often only that shows why a member left, or how long it was busy)",
    Origin.SNAPSHOT: "no snapshot of the cluster (lag, imbalance and who owned what come from those)",
}
_OUTSIDE = {
    Origin.BROKER: "No line of the brokers' logs lies in this window.",
    Origin.CLIENT: "No line of the client logs lies in this window.",
    Origin.SNAPSHOT: "No snapshot that shows leaders and replicas lies in this window.",
}


def _missing_input(page: PageRows) -> Iterator[Statement]:
    """The kinds of input that the run did not have, and those without a line in the window."""
    origins = {row.origin for row in page.of(Coverage)} | {row.origin for row in page.of(LeaderImbalance)}
    inputs = page.run.inputs or ()
    missing = [label for origin, label in _MISSING.items() if origin not in (*origins, *inputs)]
    if missing:
        yield "warn", f"The input holds {words.listed(missing)}."
    yield from (("warn", label) for origin, label in _OUTSIDE.items() if origin in inputs and origin not in origins)


def _missing_logs(page: PageRows) -> Iterator[Statement]:
    """The brokers whose logs were not read, and what is less sure because of it."""
    rows = sorted(page.rows_of(Finding, "rule_id", BROKER_LOG_MISSING.rule_id), key=lambda r: r.subject)
    yield from (("warn", f"{words.sentence(row.message)}.") for row in rows[:SILENT_BROKERS])


def _silence(page: PageRows) -> Iterator[Statement]:
    silences = [(row.longest_silence_ms, row.source) for row in page.of(Coverage) if row.longest_silence_ms is not None]
    if silences:
        longest, source = max(silences)
        length = f"The longest silence was {words.duration(longest)}, in {plain.shortened(source)}"
        yield "plain", f"{length}. A process without anything to log is silent too."


def _expectations(page: PageRows) -> Iterator[Statement]:
    """How many expectations on the tables were evaluated and held, and how many had no row to judge."""
    vacuous = sum(bool(r.is_vacuous) for r in page.of(ValidationResult))
    evaluated, broken = len(page.of(ValidationResult)) - vacuous, len(broken_expectations(page))
    how_many = words.counted(evaluated, "evaluated expectation")
    sentence = f"All {how_many} on the tables held."
    if broken:
        sentence = f"{words.number(broken)} of {how_many} on the tables did not hold."
    elif not evaluated:
        sentence = "No expectation was evaluated."
    if vacuous:
        sentence += f" {words.counted(vacuous, 'further expectation')} had no row to judge."
    if page.of(ValidationResult):
        yield "warn" if broken else "good", sentence


def _not_read(page: PageRows) -> Iterator[Statement]:
    yield from (("warn", left_out_sentence(page)),) if page.run.left_out else ()
    for reason, names in _files_not_read(page).items():
        yield "plain", f"{words.counted(len(names), 'file')} {words.verb(len(names), 'was', 'were')} not read{reason}."


def _files_not_read(page: PageRows) -> Mapping[str, Sequence[str]]:
    """The files that were not read, by the reason that follows each name in brackets; after a colon, or empty."""
    parts = [str(file).rpartition(" (") for file in page.run.files_not_read or ()]
    by_reason = grouped(parts, lambda p: p[1] and f": {plain.shortened(p[2].removesuffix(')'), 200)}")
    return {why: [plain.shortened(name or rest, 200) for name, _, rest in own] for why, own in by_reason.items()}


def _gaps(page: PageRows) -> Iterator[ui.Block]:
    rows = sorted(page.of(GenerationGap), key=lambda r: r.explained_by is not None)
    if rows:
        headings = ("Seen", "Group", "Generations", "Explained by")
        table = ui.PlainTable("Breaks in the generations", headings, tuple(map(_gap, rows)))
        summary = f"{words.counted(len(rows), 'break')} in the generations"
        yield ui.Expandable(summary, (table,), is_open=len(rows) <= GAPS_OPEN)


def _gap(row: GenerationGap) -> ui.TableRow:
    return ui.row(
        ui.At(row.seen_at),
        ui.Cell(ui.Name(plain.shortened(row.group_id)), "id"),
        change(row.after_generation, row.next_generation),
        row.explained_by or ui.Badge("nothing: evidence is missing here", "lost"),
    )


def _leader_gaps(page: PageRows) -> Iterator[ui.Block]:
    rows = sorted(page.of(LeadershipGap), key=lambda r: r.explained_by is not None)
    if rows:
        headings = ("Seen", "Partition", "Epochs", "Leader", "What is known")
        table_rows = tuple(_leader_gap(page, row) for row in rows[:LEADER_GAPS])
        table = ui.PlainTable("Breaks in the leader epochs", headings, table_rows)
        summary = f"{words.counted(len(table_rows), 'break')} in the leader epochs"
        note = ui.left_out_note(len(rows) - LEADER_GAPS, "quality.leadership_gaps")
        yield ui.Expandable(summary, (table, *note))


def _leader_gap(page: PageRows, row: LeadershipGap) -> ui.TableRow:
    return ui.row(
        ui.At(row.seen_at),
        ui.Cell(ui.Name(partition_name(row.topic, row.partition)), "id"),
        change(row.after_epoch, row.next_epoch),
        change(words.leader(row.leader_before), words.leader(row.leader_after)),
        ui.Cell(page.evidence(row.evidence, row.explanation), "wide" if row.explained_by else "wide warn"),
        anchor=plain.anchor("break", f"{row.topic}-{row.partition} {row.topic_incarnation} {row.next_epoch}"),
    )


def _sources(page: PageRows) -> Iterator[ui.Block]:
    # Sources with unread lines come first, then those with the longest silence: a reader looks for holes.
    rows = sorted(
        page.of(Coverage), key=lambda r: (-(r.unparsed + r.quarantined), -(r.longest_silence_ms or 0), r.source)
    )
    if rows:
        table = ui.PlainTable("Sources", SOURCE_HEADINGS, tuple(map(_source, rows)), "numbers")
        yield ui.Expandable(f"{words.counted(len(rows), 'source')}, line by line", (table,))


def _source(row: Coverage) -> ui.TableRow:
    return ui.row(
        ui.head((ui.Name(plain.shortened(row.source)), " ", ui.Quiet(row.origin)), "id"),
        words.exact(row.lines_in),
        words.exact(row.events),
        words.exact(row.ignored),
        ui.Cell(words.exact(row.unparsed), "bad" if row.unparsed else ""),
        ui.Cell(words.exact(row.quarantined), "bad" if row.quarantined else ""),
        words.duration(row.longest_silence_ms),
        ui.At(row.first_at),
        ui.At(row.last_at),
        ui.join([ui.Name(plain.shortened(name)) for name in (row.layouts or ())[:LAYOUTS_SHOWN]]),
    )


def _witnesses(page: PageRows) -> Iterator[Statement]:
    """The events that the logs could not show, each with the reason and what to do."""
    for unknown in missing_witnesses(page.of(Witness)):
        yield "warn", f"{unknown.sentence(page.day)} {unknown.advice}"


def _inputs(page: PageRows) -> Iterator[Statement]:
    """The inputs beside the brokers' logs that were read in a part of the window alone; records that were not read."""
    yield from (("warn", sentence) for sentence in unread_inputs(page.of(InputSpan), day=page.day))
    spans = page.rows_of(InputSpan, "input", InputKind.RECORDS)
    if spans and not any(span.is_read for span in spans):
        noun = InputKind.RECORDS.noun
        yield "plain", f"{words.sentence(noun.missing)}: clients' logs and readings alone may show {noun.events}."


STATEMENTS = (
    _witnesses, _inputs, _lines, _replaced, _layouts, _generations, _leaders, _missing_input, _missing_logs, _silence,
    _expectations, _not_read,
)  # fmt: skip
SECTION = Section("coverage", 10, "coverage", "", coverage)
