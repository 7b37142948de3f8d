"""Rows that break a law of their table are withheld from gold, and named: the rest of the night is published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from expectations.derive import Expectation, expectations_of
from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.shared.words import counted
from kafka_hindsight.sql.predicates import evaluate, tables_in_sql

MOST_WITHHELD = 0.25
"""If a larger share of a table's rows breaks its laws, the rest would mislead. Our choice, as for breaks in
generations."""

_CUT_AT = 2000

Verdict = Mapping[str, Any]
Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Checked:
    """Tables with their verdicts.

    Of withheld rows, `rows` have columns of quality.withheld_rows, and `sentences` say what to do. `misleads` names the
    tables of which too little is left.
    """

    tables: Tables
    verdicts: Sequence[Verdict]
    rows: tuple[Mapping[str, Any], ...] = ()
    sentences: tuple[str, ...] = ()
    misleads: tuple[str, ...] = ()

    def with_warnings(self) -> Checked:
        """The same, with broken critical laws as warnings: the rows that broke them are withheld."""
        return replace(self, verdicts=[{**v, "severity": "warning"} if _is_broken(v) else v for v in self.verdicts])


def _is_broken(verdict: Verdict) -> bool:
    return not verdict["success"] and verdict["severity"] == "critical"


def withhold(checked: Checked) -> Checked:
    """Withhold the rows that break critical laws, as far as laws name rows."""
    broken = [(v["table"], v["expectation"]) for v in checked.verdicts if _is_broken(v)]
    for name in dict.fromkeys(table for table, _ in broken):
        laws = [e for e in expectations_of(BY_NAME[name]) if e.holds and (name, e.name) in broken]
        checked = _without(checked, name, laws) if laws else checked
    return checked


def _without(checked: Checked, name: str, laws: Sequence[Expectation]) -> Checked:
    table = checked.tables[name]
    with tables_in_sql({BY_NAME[name].name: table}) as connection:
        holds = evaluate(connection, BY_NAME[name].name, {law.name: law.holds for law in laws})
    is_sound = reduce(pc.and_, holds.columns)
    is_bad = pc.invert(is_sound)
    bad = table.filter(is_bad).to_pylist()
    answers = holds.filter(is_bad).to_pylist()
    sentence = (
        f"{counted(len(bad), 'row')} of {name} broke {counted(len(laws), 'law')} of its table, and went to"
        " quality.withheld_rows, not to gold. That is a defect of Hindsight. Send us these rows."
    )
    return replace(
        checked,
        tables={**checked.tables, name: table.filter(is_sound)},
        rows=(*checked.rows, *(_row_of(row, name, laws, answer) for row, answer in zip(bad, answers, strict=True))),
        sentences=(*checked.sentences, sentence),
        misleads=(*checked.misleads, *([name] if len(bad) > MOST_WITHHELD * len(table) else [])),
    )


def _row_of(
    row: Mapping[str, Any], name: str, laws: Sequence[Expectation], holds: Mapping[str, bool]
) -> dict[str, Any]:
    """A row of quality.withheld_rows without its run and its window."""
    text = json.dumps(_plain(row), ensure_ascii=False, separators=(",", ":"))
    return {
        "table": name,
        "withheld_row_id": hashlib.sha256(text.encode()).hexdigest(),
        "happened_at": row[str(BY_NAME[name].time_column)],
        "row": text[:_CUT_AT],
        "sentences": [f"{law.name}: {law.says}" for law in laws if not holds[law.name]],
    }


def _plain(value: Any) -> Any:
    """A value for JSON, without columns that are null."""
    match value:
        case dict():
            return {name: _plain(of_it) for name, of_it in value.items() if of_it is not None}
        case list():
            return [_plain(each) for each in value]
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    return value
