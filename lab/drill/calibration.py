"""How often acts confirmed and contradicted verdicts of each confidence, over all drills.

Run it with `python -m lab.drill.calibration DRILL...`.

It scores each drill's folder (lake/, clients/, truth.jsonl, cluster.json), keeps its counts in docs/calibration.jsonl,
one line a drill, and writes docs/calibration.md from all lines of that file. The same for folders of lab.drill.month.
How long rebalances took is kept in docs/durations.jsonl, of folders whose members printed what they saw;
`--durations` counts nothing else, as of recordings.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.settings.home import HOME
from lab.answers import DOUBTFUL, RIGHT, WRONG
from lab.drill.acts import TruthError
from lab.drill.calm_score import KEPT, calm_parts, read_reasons, read_windows
from lab.drill.calm_score import REASONS as CALM_REASONS
from lab.drill.canary_score import HEADS, CanaryCounts, cells, compare_folder
from lab.drill.durations import HEADS as DURATION_HEADS
from lab.drill.durations import counts_of, duration_rows, of_folder, read_counts, with_counts
from lab.drill.harms import truth_lines
from lab.drill.month import MONTH, agreement_of
from lab.drill.producers import CANARY
from lab.drill.result import BoundsCount, ScoredVerdict, bounds_of
from lab.drill.rows import GoldRow, GoldTables, at_of, id_of, read_gold
from lab.drill.score import score
from lab.drill.story_score import HEADS as STORY_HEADS
from lab.drill.story_score import KEPT as STORIES
from lab.drill.story_score import cells as story_cells
from lab.drill.story_score import read_counts as read_story_counts
from lab.truth.labels import APART
from lab.truth.tables import figures, from_text, reasons_table, section
from tools.pages.markdown import as_table, page

LEDGER = HOME / "docs" / "calibration.jsonl"
DURATIONS = HOME / "docs" / "durations.jsonl"
STRANGERS = HOME / "docs" / "truth.jsonl"
FIRST, NEWEST = HOME / "docs" / "strangers_first.jsonl", HOME / "docs" / "strangers.jsonl"
"""The scores of the folders that are kept apart: the first, which nothing writes again, and the newest."""
REASONS = APART / "reasons.toml"
PAGE = HOME / "docs" / "calibration.md"

_ABOUT = (
    "Each verdict that an audit gave on a drill is compared with what the drill had done ([how](drill.md)). A cell has"
    " the number of verdicts that no act contradicts, of all with that confidence, and of how many an act shows that"
    " they are right: *confirmed*. Most verdicts are of what follows from an act, and no act expects them: that nothing"
    " contradicts them does not show that they are right. `unknown` claims nothing and is left out. Each drill was"
    " audited with the code of its day, and faults that it found have been corrected since."
)

_ABOUT_CANARIES = (
    "A row for each drill with canaries: clients outside of every group that wrote to its partitions and read them back"
    " ([how](drill.md#canaries)). Only what lasted longer than 1.5 s is compared."
)
_ABOUT_DURATIONS = (
    "Members that print each call of their rebalance listener show when a rebalance began and ended for them. A start"
    " is inside where no member that stayed gave up partitions before the row's start or after its end; an end, where"
    " the last member had its assignment within 300 ms of the row's end; a cost, where the partition-seconds without an"
    " owner lie between the row's bounds. The lengths are from the row's instant to that of the first or last member,"
    " the middle one and the farthest; the width of a cost is in partition-seconds. A row without an end names none, as"
    " the lines do not show one."
)
_ABOUT_MONTHS = (
    "A night laid end to end for weeks, with files taken out at random, and audited as one folder"
    " ([how](drill.md#months)). A reader of its own compares the absences of brokers with what was done. Between two"
    " nights all brokers are away. A doubtful absence leaves its kind open, or holds two and says that no log of that"
    " time is at hand."
)
_ABOUT_STRANGERS = (
    "Folders of logs that people committed to public repositories, with labels that were written before they were"
    " audited ([the truth set](../tests/truth/README.md), which says what the figures are): `make truth`."
)
_ABOUT_APART = (
    "Twenty more folders, listed before any of them was opened, none replaced afterwards, and labelled before their"
    " first audit ([how](../tests/truth/strangers/README.md)). The first score was taken with the code of that day,"
    " which had never met them. It stays; the newest one stands below it."
)
_ABOUT_OFFSETS = (
    "Times a group went on elsewhere than where it had come to, as its members printed it: a row is within where it has"
    " the harm and the cause, and its bounds hold the number of records, and exact where it has both offsets. Widths"
    " are how many records the bounds lie apart, in the middle and at most. A book balances where the records that"
    " members read of a partition are those between its first and last position, with those read again and gone, and"
    " without those skipped."
)
_ABOUT_CALM = (
    "A day on which nothing fails, ten minutes at a time ([how](drill.md#a-calm-day)): the badge, how many alerts call"
    " on-call, and how many incidents, findings and standing facts the report has. Below, each sentence with a"
    " person's judgement."
)
_ABOUT_STORIES = (
    "Incidents that led to one another are joined by rules with a proof each, never because they overlap. The truth of"
    " a night knows its chains: a broker that went first is why another one's death left no replica in sync, brokers"
    " that were away together are why their controllers had no majority, and a log that was cut is why its group went"
    " on elsewhere. A link that the truth does not know is wrong. A first score was taken with the rules as they were"
    " first written."
)
_OFFSETS = ("Kafka", "cluster", "jumps", "within bounds", "exact", "widths", "without an upper bound", "books balance")
_MONTHS = ("Kafka", "cluster", "brokers", "days", "files missing", "absences right", "doubtful", "wrong", "found")
_LEVELS = (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE)


@dataclass(frozen=True)
class VerdictCount:
    """Verdicts of one table, one confidence and one set of witnesses.

    `wrong`, `confirmed`: how many of them an act contradicts and confirms; `confirmed` is None of drills that were
    scored before these were counted.
    """

    table: str
    witness: str
    confidence: str
    verdicts: int
    wrong: int
    confirmed: int | None = None


@dataclass(frozen=True)
class Month:
    """A month of a recorded night with files missing, as the absences in its audit agree with what was done."""

    name: str
    kafka: str
    mode: str
    brokers: int
    days: int
    files: int
    missing: int
    right: int
    doubtful: int
    wrong: int
    played: int
    missed: int


@dataclass(frozen=True)
class Drill:
    """One drill, as its audit was scored.

    `canaries` None: it had none; `offsets` None: no member printed what it read.
    """

    name: str
    kafka: str
    mode: str
    expected: int
    met: int
    counts: tuple[VerdictCount, ...]
    canaries: CanaryCounts | None = None
    offsets: BoundsCount | None = None


def count(folder: Path) -> Drill | Month:
    """Score a drill's folder, or a month's. Raises TruthError or OSError where it cannot be scored."""
    return _count_month(folder) if (folder / MONTH).exists() else _count_drill(folder)


def _count_month(folder: Path) -> Month:
    layout, agreement = json.loads((folder / MONTH).read_text(encoding="utf-8")), agreement_of(folder)
    fields = {name: layout[name] for name in ("kafka", "mode", "brokers", "days", "files")}
    fields |= {verdict: agreement.counts[verdict] for verdict in (RIGHT, DOUBTFUL, WRONG)}
    return Month(
        folder.name, **fields, missing=len(layout["missing"]), played=agreement.played, missed=len(agreement.missed)
    )


def _count_drill(folder: Path) -> Drill:
    tables = read_gold(str(folder / "lake"), needed="rebalances")
    result = score(tables, truth_lines(folder / "truth.jsonl"))
    cluster = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))
    clients = {path.relative_to(folder / "clients").as_posix() for path in (folder / "clients").rglob("*.log")}
    witnesses = _witnesses(tables, clients)
    verdicts = Counter((v.table, witnesses[_key(v)], v.confidence) for v in result.verdicts)
    wrong = Counter((v.table, witnesses[_key(v)], v.confidence) for v in result.verdicts if v.wrong)
    confirmed = Counter((v.table, witnesses[_key(v)], v.confidence) for v in result.verdicts if v.is_confirmed)
    counts = tuple(VerdictCount(*of, verdicts[of], wrong[of], confirmed[of]) for of in sorted(verdicts))
    measured = compare_folder(folder, str(folder / "lake")).counts if (folder / CANARY).exists() else None
    offsets = bounds_of(result.jumps, result.books) if result.books else None
    played = cluster["kafka"], cluster["mode"], len(result.expectations), result.met
    return Drill(folder.name, *played, counts, measured, offsets)


def _key(verdict: ScoredVerdict) -> tuple[object, ...]:
    return verdict.table, verdict.row_id, verdict.at


def _witnesses(tables: GoldTables, clients: set[str]) -> dict[tuple[object, ...], str]:
    return {
        (name, id_of(name, row), at_of(name, row)): _witness(row, clients)
        for name, rows in tables.items()
        for row in rows
    }


def _witness(row: GoldRow, clients: set[str]) -> str:
    """The witnesses in the evidence of a row."""
    witnesses = {_said_by(quote["source"], clients) for quote in row.get("evidence") or ()}
    return " and ".join(sorted(witnesses)) or "none"


def _said_by(source: str, clients: set[str]) -> str:
    if source == "snapshots":
        return "snapshots"
    if source.startswith("__consumer_offsets-"):
        return "group records"
    return "client logs" if source in clients else "broker logs"


def calibration_page(
    scores: Sequence[Drill | Month],
    strangers: str = "",
    apart: Sequence[str] = (),
    durations: str = "",
    calm: Sequence[str] = (),
    stories: str = "",
) -> str:
    """The page, from the counts of all drills and months, and the score on logs of strangers (lab.truth.tables).

    `apart`: the parts about the folders that are kept apart. `durations`: the file that keeps those of rebalances.
    `calm`: the parts about calm days. `stories`: the file that keeps how right links between incidents were.
    """
    drills, months = [k for k in scores if isinstance(k, Drill)], [k for k in scores if isinstance(k, Month)]
    kafkas = sorted({(d.kafka, d.mode) for d in drills}, key=lambda k: (_number(k[0]), k[1]), reverse=True)
    by_kafka = [
        (kafka, mode, str(len(own)), f"{sum(d.met for d in own)} of {sum(d.expected for d in own)}", *_cells(_all(own)))
        for kafka, mode in kafkas
        for own in [[d for d in drills if (d.kafka, d.mode) == (kafka, mode)]]
    ]
    parts = (
        _ABOUT,
        *_without_confirmations(drills),
        "## By Kafka",
        as_table(("Kafka", "cluster", "drills", "expectations met", *_LEVELS), by_kafka),
        "## By witness",
        as_table(("evidence", *_LEVELS), _grouped(drills, lambda c: c.witness)),
        "## By table",
        as_table(("table of gold", *_LEVELS), _grouped(drills, lambda c: f"`{c.table}`")),
        *_against_canaries(drills),
        *_of_offsets(drills),
        *_of_durations(durations),
        *_of_stories(stories),
        *(("## Calm days", _ABOUT_CALM, *calm) if calm else ()),
        "## Months with files missing",
        _ABOUT_MONTHS,
        as_table(_MONTHS, map(_month_cells, months)),
        *(("## Logs of strangers", _ABOUT_STRANGERS, section(*from_text(strangers))) if strangers else ()),
        *apart,
    )
    command = "python -m lab.drill.calibration"
    return page("Verdicts that acts confirmed and contradicted", "docs/calibration.jsonl", parts, command)


def _without_confirmations(drills: Sequence[Drill]) -> Iterator[str]:
    """The sentence about the drills of which the kept counts do not show what was confirmed."""
    old = sum(all(c.confirmed is None for c in d.counts) for d in drills)
    if old:
        yield (
            f"Of {old} of the {len(drills)} drills no count of confirmed verdicts was kept, and their lakes are gone: a"
            " cell counts them of the others, and has none where all are old. Their score also took the death of a"
            " static member, or of an application of Kafka Streams, for right where the drill had closed it."
        )


def _against_canaries(drills: Iterable[Drill]) -> tuple[str, ...]:
    rows = [(d.kafka, d.mode, *cells(d.canaries)) for d in drills if d.canaries]
    return ("## Against canaries", _ABOUT_CANARIES, as_table(("Kafka", "cluster", *HEADS), rows)) if rows else ()


def _of_offsets(drills: Iterable[Drill]) -> tuple[str, ...]:
    rows = [(d.kafka, d.mode, *_offset_cells(d.offsets)) for d in drills if d.offsets]
    return ("## Records skipped and read again", _ABOUT_OFFSETS, as_table(_OFFSETS, rows)) if rows else ()


def _offset_cells(count: BoundsCount) -> tuple[str, ...]:
    widths = f"{count.width_middle:g}, {count.width_most}"
    return (
        *map(str, (count.played, count.within, count.exact)),
        widths,
        str(count.open),
        f"{count.balanced} of {count.books}",
    )


def _of_durations(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    table = as_table(DURATION_HEADS, duration_rows(read_counts(text)))
    return "## How long rebalances took", _ABOUT_DURATIONS, table


def _of_stories(text: str) -> tuple[str, ...]:
    if not text:
        return ()
    return "## One story", _ABOUT_STORIES, as_table(STORY_HEADS, map(story_cells, read_story_counts(text)))


def _month_cells(month: Month) -> tuple[str, ...]:
    played = f"{month.played - month.missed} of {month.played} played"
    shape = (month.kafka, month.mode, str(month.brokers), str(month.days), f"{month.missing} of {month.files}")
    return *shape, str(month.right), str(month.doubtful), str(month.wrong), played


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _all(drills: Iterable[Drill]) -> list[VerdictCount]:
    return [c for d in drills for c in d.counts if c.confidence in _LEVELS]


def _grouped(drills: Iterable[Drill], by: Callable[[VerdictCount], str]) -> Iterator[tuple[str, ...]]:
    counts = _all(drills)
    for name in sorted({by(c) for c in counts}):
        yield name, *_cells([c for c in counts if by(c) == name])


def _cells(counts: Sequence[VerdictCount]) -> Iterator[str]:
    for level in _LEVELS:
        own = [c for c in counts if c.confidence == level]
        verdicts, wrong = sum(c.verdicts for c in own), sum(c.wrong for c in own)
        counted = [c for c in own if c.confirmed is not None]
        of_known = f"{sum(c.confirmed or 0 for c in counted)} of {sum(c.verdicts for c in counted)}"
        confirmed = f"; {of_known} confirmed" if counted else ""
        yield f"{verdicts - wrong} of {verdicts}{confirmed}" if verdicts else ""


def read_ledger(text: str) -> dict[str, Drill | Month]:
    """The drills and months of the file that keeps them, by name."""
    return {score.name: score for score in map(_score_of, map(json.loads, text.splitlines()))}


def _score_of(fields: dict[str, Any]) -> Drill | Month:
    counts = fields.get("counts")
    if counts is None:
        return Month(**fields)
    measured = CanaryCounts(**fields["canaries"]) if fields.get("canaries") else None
    offsets = BoundsCount(**fields["offsets"]) if fields.get("offsets") else None
    verdicts = tuple(VerdictCount(**c) for c in counts)
    return Drill(**{**fields, "counts": verdicts, "canaries": measured, "offsets": offsets})


def written_ledger(drills: Mapping[str, Drill | Month]) -> str:
    """The file that keeps the drills, by their names, which begin with their time, and the months."""
    return "".join(json.dumps(_fields_of(drills[name])) + "\n" for name in sorted(drills))


def _fields_of(score: Drill | Month) -> dict[str, Any]:
    """The fields of a score. What was not counted of a verdict is left out, so that older lines stay as they are."""
    fields = asdict(score)
    if isinstance(score, Drill):
        fields["counts"] = [{k: v for k, v in count.items() if v is not None} for count in fields["counts"]]
        if score.offsets is None:
            del fields["offsets"]
    return fields


def main(arguments: Sequence[str] | None = None) -> int:
    """Score folders. Returns 0, or 2 where a folder cannot be scored."""
    parser = argparse.ArgumentParser(prog="python -m lab.drill.calibration", description="Write docs/calibration.md.")
    parser.add_argument("drills", nargs="+", type=Path, help="folders below .drill/, each audited")
    parser.add_argument("--durations", action="store_true", help="only how long rebalances took")
    options = parser.parse_args(arguments)
    drills = read_ledger(LEDGER.read_text(encoding="utf-8")) if LEDGER.exists() else {}
    for folder in options.drills:
        try:
            if not options.durations:
                drills[folder.name] = count(folder)
            _keep_durations(folder)
        except (TruthError, OSError) as error:
            print(f"cannot score {folder}: {error}", file=sys.stderr)
            return 2
    if not options.durations:
        LEDGER.write_text(written_ledger(drills), encoding="utf-8")
    write_page()
    return 0


def _keep_durations(folder: Path) -> None:
    before = read_counts(_text_of(DURATIONS))
    DURATIONS.write_text(with_counts(before, counts_of(folder, of_folder(folder))), encoding="utf-8")


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write_page() -> None:
    """Write docs/calibration.md from what is kept of all drills, and of the newest score on logs of strangers."""
    drills = read_ledger(LEDGER.read_text(encoding="utf-8"))
    apart = _apart(*(path.read_text(encoding="utf-8") for path in (FIRST, NEWEST, REASONS)))
    scores = [drills[name] for name in sorted(drills)]
    calm = [*calm_parts(read_windows(_text_of(KEPT)), read_reasons(_text_of(CALM_REASONS)))]
    page_text = calibration_page(scores, _text_of(STRANGERS), apart, _text_of(DURATIONS), calm, _text_of(STORIES))
    PAGE.write_text(page_text, encoding="utf-8")


def _apart(first: str, newest: str, reasons: str) -> tuple[str, ...]:
    """The parts of the page about the folders that are kept apart: the first score, its misses, the newest score."""
    labelled, quiet = from_text(first)
    return (
        "## Twenty folders apart",
        _ABOUT_APART,
        "### The first score",
        section(labelled, quiet),
        "What was not exact, and why:",
        reasons_table(labelled, tomllib.loads(reasons)),
        "### The newest score",
        "\n".join(f"- {line}" for line in figures(*from_text(newest))),
    )


if __name__ == "__main__":
    sys.exit(main())
