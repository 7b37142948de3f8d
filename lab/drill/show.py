"""The score in words: one line for each row, a readable table, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from kafka_hindsight.shared.plain import visible
from lab.drill.match import AFTER, SHARED_BEFORE, Row, Tables
from lab.drill.result import Score, Verdict
from lab.drill.scored import TIME_COLUMNS
from lab.drill.truth import (
    AUTOMATIC_ELECTION,
    BROKERS_ROLLED,
    CONTROLLER_CHANGE,
    FAILED_START,
    FAILOVER_KINDS,
    FINDING,
    FOLLOWER_REFUSED,
    IMBALANCE,
    ISR_LAPSE,
    LOG_DIR_FAILED,
    NO_FAILOVER,
    NO_FINDING,
    OUTAGE_KINDS,
    QUORUM_LOST,
    RECORDS_LOST,
    RECORDS_TRUNCATED,
    UNDER_MIN_ISR,
    Act,
)

NEAR_OUTAGE = timedelta(minutes=2)
NEAR_ROLL = timedelta(minutes=10)
MAX_NEAR = 6


def in_words(table: str, row: Row) -> str:
    """One row of gold in a line."""
    confidence = row.get("confidence", "")
    if table == "rebalances":
        contributors = ", ".join(f"{c['cause']} {_member(c)}" for c in row.get("contributors") or ())
        shared = f" with {contributors}" if contributors else ""
        return f"{row['group_id']}: {row['cause']} {_member(row)} ({confidence}){shared}"
    say = _WORDS.get(table, _incident)
    return f"{say(row)} ({confidence})" if confidence else say(row)


def _outage(row: Row) -> str:
    failed = f", {row['failed_starts']} failed starts: {row['start_failure']}" if row.get("failed_starts") else ""
    return f"broker {row['broker']}: {row['kind']}{failed}"


def _failover(row: Row) -> str:
    bounds = (row.get("records_lost_low"), row.get("records_lost_high"))
    loss = f", {bounds[0]} to {bounds[1]} records lost" if bounds != (None, None) else ""
    leaders = f"leader {row.get('leader_from')} to {row.get('leader_to')}"
    return f"{row['topic']}-{row['partition']}: {row['kind']}, {leaders}{loss}"


def _imbalance(row: Row) -> str:
    return f"broker {row['broker']}: ratio {row.get('ratio')}"


def _controller(row: Row) -> str:
    return f"controller {row['controller_from']} to {row['controller_to']}, epoch {row['epoch']}"


def _lapse(row: Row) -> str:
    return f"broker {row['broker']} out of {row['partitions']} ISRs, {row['shrinks']} times: {row['kind']}"


def _roll(row: Row) -> str:
    early = [s["broker"] for s in row["scorecard"] if s["is_early"]]
    return f"brokers {row['brokers']} restarted, too early {early}"


def _truncation(row: Row) -> str:
    return f"{row['topic']}-{row['partition']}: {row['records_cut']} records cut off, {row['verdict']}"


def _risk(row: Row) -> str:
    return f"{row['topic']}-{row['partition']}: {row['under_min_isr_ms']} ms under min.insync.replicas"


def _finding(row: Row) -> str:
    return f"{row['rule_id']}: {row['message']}"


def _incident(row: Row) -> str:
    return f"{row['kind']} of {', '.join(row.get('group_ids') or ())}"


_WORDS: Mapping[str, Callable[[Row], str]] = {
    "broker_outages": _outage,
    "failovers": _failover,
    "leader_imbalance": _imbalance,
    "controller_changes": _controller,
    "out_of_sync_periods": _lapse,
    "rolling_restarts": _roll,
    "truncations": _truncation,
    "partition_risks": _risk,
    "findings": _finding,
}


def _member(member: Row) -> str:
    return str(member.get("client_id") or member.get("instance_id") or member.get("member_id") or "nobody")


def near(act: Act, tables: Tables) -> tuple[str, ...]:
    """The audit's rows about the act's scope around its time, each with its distance from the act."""
    if act.expect in (*OUTAGE_KINDS, FAILED_START):
        return _around(act, "broker_outages", tables, NEAR_OUTAGE, NEAR_OUTAGE, ("broker", act.broker))
    if act.expect == UNDER_MIN_ISR:
        return _around(act, "partition_risks", tables, timedelta(days=1), timedelta(days=1), ("topic", act.topic))
    if act.expect in (FINDING, NO_FINDING):
        return _around(act, "findings", tables, NEAR_ROLL, NEAR_ROLL, ("rule_id", act.fields.get("rule")))
    if act.expect == BROKERS_ROLLED:
        return _around(act, "rolling_restarts", tables, NEAR_ROLL, AFTER, ("brokers", None))
    table, column = _ABOUT.get(str(act.expect), ("rebalances", "group_id"))
    value = {"group_id": act.group, "topic": act.topic, "broker": act.broker}.get(column)
    return _around(act, table, tables, SHARED_BEFORE, AFTER, (column, value))


_ABOUT: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys((*FAILOVER_KINDS, AUTOMATIC_ELECTION, NO_FAILOVER, RECORDS_LOST), ("failovers", "topic")),
    LOG_DIR_FAILED: ("failovers", "leader_from"),
    RECORDS_TRUNCATED: ("truncations", "topic"),
    IMBALANCE: ("leader_imbalance", "broker"),
    **dict.fromkeys((ISR_LAPSE, FOLLOWER_REFUSED), ("out_of_sync_periods", "broker")),
    **dict.fromkeys((CONTROLLER_CHANGE, QUORUM_LOST), ("controller_changes", "controller_to")),
}
"""expect → the table that should have shown it, and the column that names what the act was done to."""


def _around(
    act: Act, table: str, tables: Tables, before: timedelta, after: timedelta, scope: tuple[str, object]
) -> tuple[str, ...]:
    column, value = scope
    at = TIME_COLUMNS[table]
    rows = [
        row for row in tables.get(table, ()) if -before <= row[at] - act.at <= after and value in (None, row[column])
    ]
    nearest = sorted(rows, key=lambda r: abs(r[at] - act.at))[:MAX_NEAR]
    return tuple(
        f"{(row[at] - act.at).total_seconds():+.1f} s {in_words(table, row)}"
        for row in sorted(nearest, key=itemgetter(at))
    )


def as_text(score: Score, minimum: float) -> str:
    """The score as a readable page. Control characters in names are made visible."""
    return "\n".join(visible(line) for line in _lines(score, minimum))


def _lines(score: Score, minimum: float) -> Iterator[str]:
    total = len(score.expectations)
    verdict = "PASSED" if score.passes(minimum) else "FAILED"
    yield f"{verdict}: {score.met} of {total} expectations met ({score.share_met:.1%}, needed {minimum:.0%})"
    yield ""
    yield f"{'expected':<28}{'met':>5}{'all':>5}"
    for expect in sorted({e.expect for e in score.expectations}):
        of = [e for e in score.expectations if e.expect == expect]
        yield f"{expect:<28}{sum(e.met for e in of):>5}{len(of):>5}"
    yield ""
    yield f"{'confidence':<28}{'wrong':>5}{'all':>5}{'right':>8}"
    for c in score.calibration:
        yield f"{c.confidence:<28}{c.wrong:>5}{c.verdicts:>5}{c.share_right:>8.1%}"
    if score.unmet:
        yield ""
        yield f"unmet ({len(score.unmet)})"
    for e in score.unmet:
        yield f"  {_clock(e.at)} {e.action} of {e.scope} expects {e.expect}"
        yield from (f"      found {row}" for row in e.near or ("nothing near",))
    yield from _verdicts("certain but wrong", score.certain_but_wrong)
    yield from _verdicts("false alarms", score.false_alarms)
    yield from _verdicts("without evidence", score.without_evidence)


def _verdicts(title: str, verdicts: Iterable[Verdict]) -> Iterator[str]:
    rows = list(verdicts)
    if rows:
        yield ""
        yield f"{title} ({len(rows)})"
    for v in rows:
        yield f"  {_clock(v.at)} {v.table} {v.says}" + (f": {v.wrong}" if v.wrong else "")


def _clock(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")[11:23]


def as_json(score: Score, passes: bool) -> dict[str, Any]:
    """The score as JSON."""
    return {
        "passes": passes,
        "expectations": len(score.expectations),
        "met": score.met,
        "share_met": round(score.share_met, 4),
        "unmet": [_plain(e) for e in score.unmet],
        "certain_but_wrong": [_plain(v) for v in score.certain_but_wrong],
        "false_alarms": [_plain(v) for v in score.false_alarms],
        "without_evidence": [_plain(v) for v in score.without_evidence],
        "calibration": [asdict(c) | {"share_right": round(c.share_right, 4)} for c in score.calibration],
    }


def _plain(item: Any) -> dict[str, Any]:
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in asdict(item).items()}
