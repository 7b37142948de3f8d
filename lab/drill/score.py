"""How well an audit called what was done: `python -m lab.drill.score --lake DIR --truth FILE` (docs/design.md, 8)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from lab.drill import show
from lab.drill.match import GROUP_RULES, Answer, Row, Tables
from lab.drill.match_brokers import BROKER_RULES
from lab.drill.result import Expectation, Score, Verdict
from lab.drill.scored import ROW_IDS, TIME_COLUMNS
from lab.drill.truth import Act, TruthError, read_truth
from lab.drill.wrong import Night, is_owed, wrong_rebalance
from lab.drill.wrong_brokers import (
    wrong_controller,
    wrong_failover,
    wrong_lapse,
    wrong_outage,
    wrong_roll,
    wrong_truncation,
)

RULES = {**GROUP_RULES, **BROKER_RULES}
"""expect → how it is met."""

FALSE_ALARM = "nothing was done that causes it"


def wrong_or_false_alarm(row: Row, night: Night) -> str | None:
    """Why a rebalance is wrong: one that nothing caused is a false alarm, whatever it says."""
    return wrong_rebalance(row, night) if is_owed(row, night) else FALSE_ALARM


JUDGES: Mapping[str, Callable[[Row, Night], str | None]] = {
    "rebalances": wrong_or_false_alarm,
    "broker_outages": wrong_outage,
    "failovers": wrong_failover,
    "controller_changes": wrong_controller,
    "out_of_sync_periods": wrong_lapse,
    "rolling_restarts": wrong_roll,
    "truncations": wrong_truncation,
}
"""Table → why a row of it is wrong."""


def score(tables: Tables, truth: Iterable[str | Mapping[str, Any]]) -> Score:
    """The score of an audit.

    The tables are gold rows by table name (those of TIME_COLUMNS; a missing one counts as empty), as the catalog
    declares them, instants with a zone. The lines are those of a truth file, as text or parsed.
    Raises TruthError where the truth cannot be scored.
    """
    acts = read_truth(truth)
    ordered: Tables = {
        name: sorted(tables.get(name, ()), key=itemgetter(column)) for name, column in TIME_COLUMNS.items()
    }
    answers = [(a, RULES[a.expect](a, acts, ordered)) for a in acts if a.expect is not None]
    night = Night(
        acts,
        ordered,
        unmet=[a for a, answer in answers if not answer.met],
        meeting=frozenset(id(r) for _, answer in answers for r in answer.rows),
    )
    verdicts = [verdict_of(name, r, judge(r, night)) for name, judge in JUDGES.items() for r in ordered.get(name, ())]
    return Score(
        expectations=tuple(_expectation(a, f, ordered) for a, f in answers),
        verdicts=tuple(sorted(verdicts, key=lambda v: (v.table, v.at, v.row_id))),
        false_alarms=tuple(
            verdict_of("rebalances", r, FALSE_ALARM) for r in ordered["rebalances"] if not is_owed(r, night)
        ),
        without_evidence=tuple(_without_evidence(ordered)),
    )


def _expectation(act: Act, answer: Answer, ordered: Tables) -> Expectation:
    near = () if answer.met else show.near(act, ordered)
    return Expectation(act.at, act.action, act.scope, str(act.expect), answer.met, near)


def _without_evidence(ordered: Tables) -> Iterator[Verdict]:
    for name in TIME_COLUMNS:
        yield from (verdict_of(name, r, None) for r in ordered[name] if not r.get("evidence"))


def verdict_of(table: str, row: Row, wrong: str | None) -> Verdict:
    """A row of gold as a verdict."""
    return Verdict(
        table=table,
        row_id=str(row.get(ROW_IDS[table])),
        at=row[TIME_COLUMNS[table]],
        says=show.in_words(table, row),
        confidence=str(row.get("confidence") or "unknown"),
        wrong=wrong,
    )


def read_gold(lake: str, names: Iterable[str] = tuple(TIME_COLUMNS)) -> Tables:
    """Gold tables of a lake, by default those that are scored; one that was never published is left out."""
    from deltalake import DeltaTable

    folders = {name: f"{lake.rstrip('/')}/gold/{name}" for name in names}
    # deltalake's own to_pyarrow_table() reads with threads of Arrow's, and aborted the process at its exit in 4 of 20
    # runs; without threads it did in none of 20.
    return {
        name: DeltaTable(folder).to_pyarrow_dataset().to_table(use_threads=False).to_pylist()
        for name, folder in folders.items()
        if DeltaTable.is_deltatable(folder)
    }


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
        tables = read_gold(options.lake)
        if "rebalances" not in tables:
            raise TruthError(f"found no gold.rebalances in {options.lake}; it must be a lake that an audit published")
        result = score(tables, options.truth.read_text(encoding="utf-8").splitlines())
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
