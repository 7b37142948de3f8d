"""How well an audit called what was done: `python -m drill.score --lake DIR --truth FILE` (docs/design.md, 8)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from drill import show
from drill.match import GROUP_RULES, Row, Tables
from drill.match_brokers import BROKER_RULES
from drill.result import Expectation, Score, Verdict
from drill.scored import ROW_IDS, TIME_COLUMNS
from drill.truth import TruthError, read_truth
from drill.wrong import Night, is_owed, wrong_rebalance
from drill.wrong_brokers import (
    wrong_controller,
    wrong_failover,
    wrong_lapse,
    wrong_outage,
    wrong_roll,
    wrong_truncation,
)

RULES = {**GROUP_RULES, **BROKER_RULES}
"""expect → how it is met."""

JUDGES: Mapping[str, Callable[[Row, Night], str | None]] = {
    "broker_outages": wrong_outage,
    "failovers": wrong_failover,
    "controller_changes": wrong_controller,
    "out_of_sync_periods": wrong_lapse,
    "rolling_restarts": wrong_roll,
    "truncations": wrong_truncation,
}
"""Table → why a row of it is wrong; rebalances have to be owed besides."""


def score(tables: Tables, truth: Iterable[str | Mapping[str, Any]]) -> Score:
    """The score of an audit.

    Takes: gold rows by table name (those of TIME_COLUMNS; a missing one counts as empty), as the catalog declares
    them, instants with a zone; the lines of a truth file, as text or parsed.
    Raises: TruthError where the truth cannot be scored.
    """
    acts = read_truth(truth)
    ordered: Tables = {
        name: sorted(tables.get(name, ()), key=itemgetter(column)) for name, column in TIME_COLUMNS.items()
    }
    answers = [(a, RULES[a.expect](a, acts, ordered)) for a in acts if a.expect is not None]
    night = Night(
        acts,
        ordered,
        unmet=[a for a, found in answers if not found.met],
        meeting=frozenset(id(r) for _, found in answers for r in found.rows),
    )
    false_alarms = [
        verdict_of("rebalances", r, "nothing was done that owes it")
        for r in ordered["rebalances"]
        if not is_owed(r, night)
    ]
    owed = [r for r in ordered["rebalances"] if is_owed(r, night)]
    verdicts = [
        *false_alarms,
        *(verdict_of("rebalances", r, wrong_rebalance(r, night)) for r in owed),
        *(verdict_of(name, r, judge(r, night)) for name, judge in JUDGES.items() for r in ordered.get(name, ())),
    ]
    return Score(
        expectations=tuple(
            Expectation(a.at, a.action, a.scope, str(a.expect), f.met, () if f.met else show.near(a, ordered))
            for a, f in answers
        ),
        verdicts=tuple(sorted(verdicts, key=lambda v: (v.table, v.at, v.row_id))),
        false_alarms=tuple(false_alarms),
        without_evidence=tuple(
            verdict_of(name, r, None) for name in TIME_COLUMNS for r in ordered[name] if not r.get("evidence")
        ),
    )


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


def read_gold(lake: str) -> Tables:
    """The gold tables of a lake that are scored; one that was never published is left out."""
    from deltalake import DeltaTable

    folders = {name: f"{lake.rstrip('/')}/gold/{name}" for name in TIME_COLUMNS}
    return {
        name: DeltaTable(folder).to_pyarrow_table().to_pylist()
        for name, folder in folders.items()
        if DeltaTable.is_deltatable(folder)
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score. Gives: 0 where it passes, 1 where it does not, 2 for input that cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m drill.score", description="Score a lake's gold against a truth file."
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
