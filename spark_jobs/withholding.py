"""Rows that break a law of their table are left out of gold, kept, and named: the rest of the night is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from expectations.derive import Expectation, expectations_of
from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.shared.words import counted

MOST_WITHHELD = 0.25
"""Where more of a table's rows than these break its laws, what remains of it would mislead. Our choice, as for breaks
in generations."""

_CUT_AT = 2000

Verdict = Mapping[str, Any]
Frames = Mapping[str, DataFrame]


@dataclass(frozen=True)
class Checked:
    """Tables with what validation found. Of rows that were taken out: `rows` are columns of quality.withheld_rows,
    `sentences` say what to do, `laws` name what they broke by table, `misleads` the tables of which too little is left.
    """

    tables: Frames
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
    frame = found.tables[name]
    told = {f"holds {n}": F.coalesce(F.expr(law.holds), F.lit(True)) for n, law in enumerate(laws)}
    checked, holds = frame.withColumns(told), [F.col(f"`{column}`") for column in told]
    is_sound = reduce(Column.__and__, holds)
    bad = checked.where(~is_sound).select(_row_of(frame, name, laws, holds).alias("row")).select("row.*").collect()
    sound = checked.where(is_sound).drop(*told).persist()
    most = MOST_WITHHELD * (sound.count() + len(bad))
    sentence = (
        f"{counted(len(bad), 'row')} of {name} broke {counted(len(laws), 'law')} of ours: not in gold, but in"
        " quality.withheld_rows. That is a defect of Hindsight. Send us these rows."
    )
    return replace(
        found,
        tables={**found.tables, name: sound},
        rows=(*found.rows, *(row.asDict() for row in bad)),
        sentences=(*found.sentences, sentence),
        misleads=(*found.misleads, *([name] if len(bad) > most else [])),
    )


def _row_of(frame: DataFrame, name: str, laws: Sequence[Expectation], holds: list[Column]) -> Column:
    """A row of quality.withheld_rows but for its run and its window."""
    text = F.substring(F.to_json(F.struct(*frame.columns)), 1, _CUT_AT)
    broken = (F.when(~ok, F.lit(f"{law.name}: {law.says}")) for law, ok in zip(laws, holds, strict=True))
    return F.struct(
        F.lit(name).alias("table"),
        F.sha2(F.to_json(F.struct(*frame.columns)), 256).alias("withheld_row_id"),
        F.col(str(BY_NAME[name].time_column)).alias("happened_at"),
        text.alias("row"),
        F.array_compact(F.array(*broken)).alias("sentences"),
    )
