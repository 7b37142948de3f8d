"""How well an audit called what was done: `python -m lab.drill.score --lake DIR --truth FILE` (docs/design.md, 8)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lab.answers import Answer
from lab.drill import show
from lab.drill.act_expectations import near
from lab.drill.acts import Act, TruthError
from lab.drill.harms import truth_lines
from lab.drill.result import ActOutcome, Score, ScoredVerdict
from lab.drill.rows import SCORED, GoldRow, GoldTables, at_of, id_of, in_words, read_gold
from lab.drill.truth import read_truth
from lab.drill.wrong import FALSE_ALARM, PlayedNight, is_owed
from lab.expectations import OF_ROWS, answer_to


def score(tables: GoldTables, truth: Iterable[str | Mapping[str, Any]]) -> Score:
    """The score of an audit.

    The tables are gold rows by table name (those of SCORED; a missing one counts as empty), as the catalog
    declares them, instants with a zone. The lines are those of a truth file, as text or parsed.
    Raises TruthError where the truth cannot be scored.
    """
    acts = read_truth(truth)
    ordered: GoldTables = {name: sorted(tables.get(name, ()), key=partial(at_of, name)) for name in SCORED}
    answers = [(a, answer_to(str(a.expect), a, acts, ordered)) for a in acts if a.expect is not None]
    night = PlayedNight(
        acts,
        ordered,
        unmet=[a for a, answer in answers if not answer.is_met],
        meeting=frozenset(id(r) for _, answer in answers for r in answer.rows),
    )
    verdicts = [_judged(name, r, night) for name in OF_ROWS for r in ordered.get(name, ())]
    return Score(
        expectations=tuple(_outcome(a, f, ordered) for a, f in answers),
        verdicts=tuple(sorted(verdicts, key=lambda v: (v.table, v.at, v.row_id))),
        false_alarms=tuple(
            verdict_of("rebalances", r, FALSE_ALARM) for r in ordered["rebalances"] if not is_owed(r, night)
        ),
        without_evidence=tuple(_without_evidence(ordered)),
    )


def _judged(table: str, row: GoldRow, night: PlayedNight) -> ScoredVerdict:
    answer = answer_to(table, row, night, night.tables)
    verdict = verdict_of(table, row, next(iter(answer.against), None))
    return replace(verdict, is_confirmed=answer.is_met and id(row) in night.meeting)


def _outcome(act: Act, answer: Answer, ordered: GoldTables) -> ActOutcome:
    return ActOutcome(
        act.at,
        act.action,
        act.scope,
        str(act.expect),
        answer.is_met,
        near=() if answer.is_met else near(act, ordered),
        outcome=answer.outcome,
        cause=act.fields.get("cause"),
        width=_width(answer),
    )


def _width(answer: Answer) -> int | None:
    """How far the bounds of records lie apart in the rows of an answer; None where they have none, or no upper one."""
    bounds = [(row.get("records_low"), row.get("records_high")) for row in answer.rows]
    widths = [high - low for low, high in bounds if low is not None and high is not None]
    return sum(widths) if widths and len(widths) == len(bounds) else None


def _without_evidence(ordered: GoldTables) -> Iterator[ScoredVerdict]:
    for name in SCORED:
        yield from (verdict_of(name, r, None) for r in ordered[name] if not r.get("evidence"))


def verdict_of(table: str, row: GoldRow, wrong: str | None) -> ScoredVerdict:
    """A row of gold as a verdict."""
    return ScoredVerdict(
        table=table,
        row_id=id_of(table, row),
        at=at_of(table, row),
        says=in_words(table, row),
        confidence=str(row.get("confidence") or "unknown"),
        wrong=wrong,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score. Returns 0 where it passes, 1 where it does not, 2 for input that cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.drill.score", description="Score a lake's gold against a truth file."
    )
    parser.add_argument("--lake", required=True, help="the lake that the audit wrote")
    parser.add_argument("--truth", required=True, type=Path, help="the truth.jsonl of the drill")
    parser.add_argument("--minimum", type=float, default=0.9, help="share of expectations that must be met")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    try:
        tables = read_gold(options.lake, needed="rebalances")
        result = score(tables, truth_lines(options.truth))
        if not result.expectations:
            raise TruthError(f"found nothing expected in {options.truth}; a score needs acts with `expect`")
    except (TruthError, OSError) as error:
        print(f"cannot score: {error}", file=sys.stderr)
        return 2
    passes = result.passes(options.minimum)
    print(json.dumps(show.as_json(result, passes), indent=2) if options.json else show.as_text(result, options.minimum))
    return 0 if passes else 1


if __name__ == "__main__":
    sys.exit(main())
