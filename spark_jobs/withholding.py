"""Rows that break a law of their table are withheld from gold, and named: the rest of the night is published."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.shared.words import counted

MOST_WITHHELD = 0.25
"""If a larger share of a table's rows breaks its laws, the rest would mislead. Our choice, as for breaks in
generations."""

_CUT_AT = 2000

Verdict = Mapping[str, Any]
Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Checked:
    """Tables with their verdicts.

    `docs` are the files of Data Docs. Of withheld rows, `rows` have columns of quality.withheld_rows, and `sentences`
    say what to do. `misleads` names the tables of which too little is left.
    """

    tables: Tables
    verdicts: Sequence[Verdict]
    docs: Mapping[str, bytes] = field(default_factory=dict)
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
    broken = [v for v in checked.verdicts if _is_broken(v) and v["row_numbers"]]
    for name in dict.fromkeys(v["table"] for v in broken):
        checked = _without(checked, name, [v for v in broken if v["table"] == name])
    return checked


def _without(checked: Checked, name: str, laws: Sequence[Verdict]) -> Checked:
    table = checked.tables[name]
    bad = sorted({number for law in laws for number in law["row_numbers"]})
    is_sound = pc.invert(pc.is_in(pa.array(range(len(table))), pa.array(bad)))
    sentence = (
        f"{counted(len(bad), 'row')} of {name} broke {counted(len(laws), 'law')} of its table, and went to"
        " quality.withheld_rows, not to gold. That is a defect of Hindsight. Send us these rows."
    )
    rows = [
        _row_of(row, name, [law for law in laws if number in law["row_numbers"]])
        for number, row in zip(bad, table.take(bad).to_pylist(), strict=True)
    ]
    return replace(
        checked,
        tables={**checked.tables, name: table.filter(is_sound)},
        rows=(*checked.rows, *rows),
        sentences=(*checked.sentences, sentence),
        misleads=(*checked.misleads, *([name] if len(bad) > MOST_WITHHELD * len(table) else [])),
    )


def _row_of(row: Mapping[str, Any], name: str, laws: Sequence[Verdict]) -> dict[str, Any]:
    """A row of quality.withheld_rows without its run and its window."""
    text = json.dumps(_plain(row), ensure_ascii=False, separators=(",", ":"))
    return {
        "table": name,
        "withheld_row_id": hashlib.sha256(text.encode()).hexdigest(),
        "happened_at": row[str(BY_NAME[name].time_column)],
        "row": text[:_CUT_AT],
        "sentences": [f"{law['expectation']}: {law['description']}" for law in laws],
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
