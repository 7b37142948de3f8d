"""Labels and quiet times, held against the rows of an audit (tests/truth/README.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause, Confidence
from lab.answers import EXACT, MISSED, RIGHT, WEAKER, WRONG, Answer, Expectation
from lab.drill.rows import GoldRow, GoldTables, at_of
from lab.truth.labels import VERDICTS, Label, QuietTime, Truth

REACH = {"rebalances": timedelta(seconds=2), "broker_outages": timedelta(seconds=60)}
_REACH = timedelta(seconds=30)
"""How far the row of a label may start from it; the row of an outage begins at the last sign of life."""

BLAMES = {v.split(".")[0]: v.split(".")[1] for v in VERDICTS if v not in ("broker_outages.start_failure",)}
"""Table → the column that names a cause: a row in a quiet time that has one there other than unknown is invented."""

SECOND_STARTS = "second_starts"
"""The table of starts that failed beside a broker that served: none was an outage."""

SURE = (Confidence.CERTAIN, Confidence.LIKELY)
SAY_NO_MORE = (Confidence.UNKNOWN, *(cause for cause in Cause if cause.noun.is_silent_end))
"""Codes that say by themselves that the lines show no more: right without a higher confidence."""


def _label(label: Label, truth: Truth, tables: GoldTables) -> Answer:
    """The nearest row of the label's subject names a right code, and is as sure as that code needs."""
    row = _row(label, tables)
    if row is None or row.get(label.column) is None:
        nearest = _nearest(label, tables.get(label.table, ()))
        return Answer(MISSED, (nearest,) if nearest else ())
    code, confidence = str(row[label.column]), str(row["confidence"])
    is_sure = confidence in SURE or code in SAY_NO_MORE or label.column == "start_failure"
    is_right = code in label.right
    outcome = EXACT if is_right and is_sure else WRONG if confidence in SURE and not is_right else WEAKER
    return Answer(outcome, rows=(row,))


def _row(label: Label, tables: GoldTables) -> GoldRow | None:
    """The nearest row of that subject; of a failed start that start beside a live broker, or the outage of it."""
    own = [row for row in tables.get(label.table, ()) if label.is_of(row)]
    if label.column == "start_failure":
        beside = [row for row in tables.get(SECOND_STARTS, ()) if label.is_of(row)]
        if second := next((r for r in beside if abs(r["happened_at"] - label.at) <= _REACH), None):
            return second
        slack = REACH["broker_outages"]
        around = [r for r in own if r["down_at"] - slack <= label.at and (r["up_at"] is None or label.at <= r["up_at"])]
        return max(around, key=lambda r: r["down_at"], default=None)
    near = [row for row in own if abs(at_of(label.table, row) - label.at) <= REACH.get(label.table, _REACH)]
    return min(near, key=lambda r: abs(at_of(label.table, r) - label.at), default=None)


def _nearest(label: Label, rows: Iterable[GoldRow]) -> str:
    """The row nearest to a label that no row answers."""
    own = [(at_of(label.table, row), row) for row in rows if label.is_of(row)]
    at, row = min(own, key=lambda pair: abs(pair[0] - label.at), default=(label.at, None))
    return f"no row; the nearest is {row.get(label.column)} at {at:%Y-%m-%d %H:%M:%S}" if row else ""


def _quiet(quiet: QuietTime, truth: Truth, tables: GoldTables) -> Answer:
    """No row blames something in a quiet time."""
    invented = tuple(_invented(quiet, tables))
    return Answer(WRONG if invented else RIGHT, invented)


def _invented(quiet: QuietTime, tables: GoldTables) -> Iterator[str]:
    for table, column in BLAMES.items():
        for row in tables.get(table, ()):
            at, code = at_of(table, row), str(row.get(column))
            is_blame = code not in ("unknown", "first") and row.get("confidence") != Confidence.UNKNOWN
            if table != "incidents" and is_blame and quiet.holds(at, row):
                yield f"{table} {at:%Y-%m-%d %H:%M:%S} {code}, {row.get('confidence')}: {row.get('explanation')}"


QUIET = "quiet"

OF_LABELS: Mapping[str, Expectation] = {
    **{v: Expectation((v.split(".")[0],), _label) for v in VERDICTS if v != "broker_outages.start_failure"},
    "broker_outages.start_failure": Expectation(("broker_outages", SECOND_STARTS), _label),
    QUIET: Expectation(tuple(BLAMES), _quiet),
}
"""A label's row has a right code; in a quiet time nothing is blamed."""
