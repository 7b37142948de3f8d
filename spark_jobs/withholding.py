"""Rows that break a law of their table are left out of gold, kept, and named: the rest of the night is published."""

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
"""Where more of a table's rows than these break its laws, what remains of it would mislead. Our choice, as for breaks
in generations."""

_CUT_AT = 2000

Verdict = Mapping[str, Any]
Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Checked:
    """Tables with what validation found. Of rows that were taken out: `rows` are columns of quality.withheld_rows,
    `sentences` say what to do, `laws` name what they broke by table, `misleads` the tables of which too little is left.
    """

    tables: Tables
    verdicts: Sequence[Verdict]
    rows: tuple[Mapping[str, Any], ...] = ()
    sentences: tuple[str, ...] = ()
    misleads: tuple[str, ...] = ()

    def published(self) -> Checked:
        """The same, with what was broken as warnings: the rows that broke it are gone."""
        return replace(self, verdicts=[{**v, "severity": "warning"} if _is_broken(v) else v for v in self.verdicts])


def _is_broken(verdict: Verdict) -> bool:
    return not verdict["success"] and verdict["severity"] == "critical"


def withhold(found: Checked) -> Checked:
    """What remains without the rows that break critical laws; the same where no law is broken that names its rows."""
    broken = [(v["table"], v["expectation"]) for v in found.verdicts if _is_broken(v)]
    for name in dict.fromkeys(table for table, _ in broken):
        laws = [e for e in expectations_of(BY_NAME[name]) if e.holds and (name, e.name) in broken]
        found = _without(found, name, laws) if laws else found
    return found


def _without(found: Checked, name: str, laws: Sequence[Expectation]) -> Checked:
    table = found.tables[name]
    with tables_in_sql({BY_NAME[name].name: table}) as connection:
        holds = evaluate(connection, BY_NAME[name].name, {law.name: law.holds for law in laws})
    is_sound = reduce(pc.and_, holds.columns)
    is_bad = pc.invert(is_sound)
    bad = table.filter(is_bad).to_pylist()
    answers = holds.filter(is_bad).to_pylist()
    sentence = (
        f"{counted(len(bad), 'row')} of {name} broke {counted(len(laws), 'law')} of ours: not in gold, but in"
        " quality.withheld_rows. That is a defect of Hindsight. Send us these rows."
    )
    return replace(
        found,
        tables={**found.tables, name: table.filter(is_sound)},
        rows=(*found.rows, *(_row_of(row, name, laws, kept_) for row, kept_ in zip(bad, answers, strict=True))),
        sentences=(*found.sentences, sentence),
        misleads=(*found.misleads, *([name] if len(bad) > MOST_WITHHELD * len(table) else [])),
    )


def _row_of(
    row: Mapping[str, Any], name: str, laws: Sequence[Expectation], holds: Mapping[str, bool]
) -> dict[str, Any]:
    """A row of quality.withheld_rows but for its run and its window."""
    text = json.dumps(_plain(row), ensure_ascii=False, separators=(",", ":"))
    return {
        "table": name,
        "withheld_row_id": hashlib.sha256(text.encode()).hexdigest(),
        "happened_at": row[str(BY_NAME[name].time_column)],
        "row": text[:_CUT_AT],
        "sentences": [f"{law.name}: {law.says}" for law in laws if not holds[law.name]],
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it, without the columns that hold nothing."""
    match value:
        case dict():
            return {name: _plain(of_it) for name, of_it in value.items() if of_it is not None}
        case list():
            return [_plain(each) for each in value]
        case datetime():
            return f"{value.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    return value
