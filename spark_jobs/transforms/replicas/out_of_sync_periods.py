"""One broker's trouble told once: the times in which it was out of ISRs, over all its partitions."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from spark_jobs.knowledge.isr import CALM_AFTER_MS, CYCLES_WITHIN_MS, OUT_OF_SYNC_ADVICE, REPLICA_LAG_MS
from spark_jobs.transforms.evidence import evidence_of, row_id
from spark_jobs.transforms.windows import OutRow, Row, Window, counted, elapsed_ms, took

ISR_SPANS = (
    "cluster STRING, topic STRING, partition INT, broker INT, happened_at TIMESTAMP, out_of_sync_until TIMESTAMP,"
    " is_back BOOLEAN, shrink_cause STRING, outage_id STRING, removed_by_leader INT, records_behind BIGINT,"
    " isr_size INT,"
    " evidence ARRAY<STRUCT<line_id: STRING, source: STRING, happened_at: TIMESTAMP, text: STRING>>"
)
"""One broker out of one partition's ISR: a shrink with its end. Few of them carry evidence."""

_CALM = timedelta(milliseconds=CALM_AFTER_MS)
_CYCLES_WITHIN = timedelta(milliseconds=CYCLES_WITHIN_MS)
_SAME_TROUBLE = timedelta(milliseconds=2 * REPLICA_LAG_MS)
"""Followers of one slow leader are dropped within this: it looks at them every half of replica.lag.time.max.ms."""
_NEVER = datetime.max.replace(tzinfo=UTC)
_NAMED = 10

_BY_KIND = {
    "outage": "since it was away",
    "slow": "alive, but too slow to keep up with its leaders",
    "disk": "since its log directory had failed",
    "unknown": "and nothing tells why",
}


def spans_of(changes: Sequence[Row]) -> list[OutRow]:
    """Rows of gold.isr_changes as ISR_SPANS: the shrinks alone, slim enough to look at a whole cluster's at once.

    Gives: evidence only for the first and the last of a broker's shrinks with one origin.
    """
    returns = {_key(c, c["happened_at"]): c for c in changes if c["change"] == "expand"}
    by_origin: dict[tuple[object, ...], list[OutRow]] = defaultdict(list)
    for change in changes:
        if change["change"] == "shrink":
            back = returns.get(_key(change, change["out_of_sync_until"]))
            span = {
                **{k: change[k] for k in ("cluster", "topic", "partition", "happened_at", "out_of_sync_until")},
                **{k: change[k] for k in ("shrink_cause", "outage_id", "removed_by_leader", "records_behind")},
                "broker": change["broker"],
                "is_back": back is not None,
                "isr_size": len(change["isr_after"]),
                "evidence": [*change["evidence"], *(back["evidence"] if back else ())],
            }
            by_origin[change["broker"], change["shrink_cause"], change["outage_id"]].append(span)
    for spans in by_origin.values():
        spans.sort(key=_place)
        last = max(spans, key=lambda s: (s["out_of_sync_until"] or _NEVER, *_place(s)))
        for span in spans[1:]:
            span["evidence"] = span["evidence"] if span is last else []
    return [span for spans in by_origin.values() for span in spans]


def _key(change: Row, at: datetime | None) -> tuple[object, ...]:
    return change["topic"], change["partition"], change["broker"], at


def _place(span: Row) -> tuple[datetime, str, int]:
    return span["happened_at"], span["topic"], span["partition"]


def rebuild_out_of_sync_periods(spans: Iterable[Row], outages: Iterable[Row], window: Window) -> list[OutRow]:
    """Rows of gold.out_of_sync_periods: each time that a broker was out of ISRs, over all partitions, once.

    Takes: ISR_SPANS of one cluster, with look-ahead; its rows of gold.broker_outages.
    Order: by start and broker, whatever the order of the spans.
    Keeps: every span belongs to exactly one period; the out_of_sync_periods of one broker do not overlap.
    Odd: troubles of one kind with less than ten minutes between are one; those of two absences are two, unless the
    broker went again before it was back.
    """
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for span in spans:
        by_broker[span["broker"]].append(span)
    merged = [period for broker in sorted(by_broker) for period in merge_spans(by_broker[broker])]
    known = {o["outage_id"]: o for o in outages}
    victims = _victims(merged)
    rows = [_row(period, known, victims, window.end) for period in merged]
    return sorted((r for r in rows if window.holds(r["started_at"])), key=lambda r: (r["started_at"], r["broker"]))


def merge_spans(spans: Iterable[Row]) -> list[list[Row]]:
    """The spans of one broker, those of one trouble together, in order."""
    out_of_sync_periods: list[list[Row]] = []
    until = None
    for span in sorted(spans, key=_place):
        end = span["out_of_sync_until"] or _NEVER
        if until is not None and (span["happened_at"] <= until or _is_same(out_of_sync_periods[-1][-1], span, until)):
            out_of_sync_periods[-1].append(span)
            until = max(until, end)
        else:
            out_of_sync_periods.append([span])
            until = end
    return out_of_sync_periods


def _is_same(before: Row, span: Row, until: datetime) -> bool:
    one = before["shrink_cause"] == span["shrink_cause"] and before["outage_id"] == span["outage_id"]
    return bool(one and span["happened_at"] - until <= _CALM)


def _victims(out_of_sync_periods: Iterable[Sequence[Row]]) -> dict[int, list[tuple[datetime, int]]]:
    """Whom each leader dropped and when, of those that no other leader dropped in the same trouble."""
    found: dict[int, list[tuple[datetime, int]]] = defaultdict(list)
    for period in out_of_sync_periods:
        leaders = _leaders(period)
        if len(leaders) == 1:
            found[leaders[0]] += [(s["happened_at"], s["broker"]) for s in period if s["shrink_cause"] == "slow"]
    return found


def _leaders(period: Iterable[Row]) -> list[int]:
    return sorted({s["removed_by_leader"] for s in period if s["shrink_cause"] == "slow"} - {None})


def _row(
    period: Sequence[Row],
    outages: Mapping[str, Row],
    victims: Mapping[int, Sequence[tuple[datetime, int]]],
    end: datetime,
) -> OutRow:
    first = period[0]
    kind = _kind(period)
    outage_id = next((s["outage_id"] for s in period if s["outage_id"]), None)
    suspect, confidence = _judge(period, kind, outages.get(outage_id or ""), victims)
    by_partition: dict[tuple[str, int], list[Row]] = defaultdict(list)
    out_ms: Counter[str] = Counter()
    for span in period:
        by_partition[span["topic"], span["partition"]].append(span)
        out_ms[span["topic"]] += elapsed_ms(
            span["happened_at"], span["out_of_sync_until"] or max(end, span["happened_at"])
        )
    still = [key for key, own in by_partition.items() if any(s["out_of_sync_until"] is None for s in own)]
    row = {
        "cluster": first["cluster"],
        "out_of_sync_period_id": row_id(first["cluster"], "isr_lapse", first["broker"], first["happened_at"]),
        "broker": first["broker"],
        "started_at": first["happened_at"],
        "ended_at": None if still else max(s["out_of_sync_until"] for s in period),
        "kind": kind,
        "outage_id": outage_id,
        "suspected_broker": suspect,
        "removed_by_leader": _leaders(period),
        "partitions": len(by_partition),
        "partitions_out": len(still),
        "shrinks": len(period),
        "expands": sum(s["is_back"] for s in period),
        "flaps": len(period) - len(by_partition),
        "cycles": max(map(_cycles, by_partition.values())),
        "partition_ms": sum(out_ms.values()),
        "records_behind": max((s["records_behind"] for s in period if s["records_behind"] is not None), default=None),
        "worst_topics": sorted(out_ms, key=lambda t: (-out_ms[t], t))[:_NAMED],
        "confidence": confidence,
        "advice": OUT_OF_SYNC_ADVICE[kind],
        "evidence": evidence_of(q for s in period for q in s["evidence"]),
    }
    outages_in_it = {s["outage_id"] for s in period} - {None}
    return {**row, "explanation": _explain(row, outages_in_it, _has_gaps(period))}


def _has_gaps(period: Sequence[Row]) -> bool:
    """Whether the broker was back everywhere in between."""
    until = period[0]["out_of_sync_until"] or _NEVER
    for span in period[1:]:
        if span["happened_at"] > until:
            return True
        until = max(until, span["out_of_sync_until"] or _NEVER)
    return False


def _kind(period: Sequence[Row]) -> str:
    """What began it; a replica that moved away, or a shrink that nobody explains, gives way to what is known."""
    kinds = [s["shrink_cause"] for s in period]
    return str(next((k for k in kinds if k not in ("reassignment", "unknown")), kinds[0]))


def _cycles(spans: Sequence[Row]) -> int:
    """The most of one partition's shrinks that were followed by a return, within half an hour."""
    starts = sorted(s["happened_at"] for s in spans if s["is_back"])
    return max((i + 1 - bisect_left(starts, at - _CYCLES_WITHIN) for i, at in enumerate(starts)), default=0)


def _judge(
    period: Sequence[Row], kind: str, outage: Row | None, victims: Mapping[int, Sequence[tuple[datetime, int]]]
) -> tuple[int | None, str]:
    """The broker that the trouble points to, and how sure that is.

    Source: each leader judges its own followers by what they fetch from it (Partition.isFollowerOutOfSync). Whom
    several leaders drop is slow himself; a leader that alone drops several is what they have in common.
    """
    broker = period[0]["broker"]
    if kind == "outage":
        return broker, str(outage["confidence"]) if outage else "likely"
    if kind == "disk":
        return broker, "likely"
    if kind != "slow":
        return None, "likely" if kind == "reassignment" else "unknown"
    leaders = _leaders(period)
    if len(leaders) > 1:
        return broker, "likely"
    start, end = period[0]["happened_at"] - _SAME_TROUBLE, period[-1]["happened_at"] + _SAME_TROUBLE
    together = {victim for leader in leaders for at, victim in victims.get(leader, ()) if start <= at <= end}
    return (leaders[0], "likely") if len(together) > 1 else (broker, "possible")


def _explain(row: Row, outages: set[str], has_gaps: bool) -> str:
    many = counted(row["partitions"], "partition")
    if row["kind"] == "reassignment":
        return f"Broker {row['broker']} left the ISR of {many}, since its replicas were moved to other brokers."
    if row["ended_at"] is None:
        lasted = "and is not back in all"
    elif has_gaps:
        lasted = f"again and again for {took(row['started_at'], row['ended_at'])}"
    else:
        lasted = f"for {took(row['started_at'], row['ended_at'])}"
    says = f"Broker {row['broker']} was out of the ISR of {many} {lasted}, {_BY_KIND[row['kind']]}."
    if row["kind"] == "slow":
        says += _explain_slow(row)
    if len(outages) > (row["kind"] == "outage"):
        again = "It was away in it" if row["kind"] != "outage" else "It went again before it was back"
        says += f" {again}{f', {len(outages)} times' if len(outages) > 1 else ''}."
    if row["flaps"]:
        says += f" Partitions lost it again {counted(row['flaps'], 'time')}."
    return says


def _explain_slow(row: Row) -> str:
    leaders = ", ".join(map(str, row["removed_by_leader"]))
    says = f" It was dropped by leader{'s' if len(row['removed_by_leader']) > 1 else ''} {leaders}"
    if row["records_behind"]:
        says += f", up to {row['records_behind']} records behind"
    says += ": it had not caught up for replica.lag.time.max.ms (30 s by default)."
    if row["suspected_broker"] != row["broker"]:
        return f"{says} Leader {row['suspected_broker']} dropped others at the same time, and it alone: it is slow."
    if row["confidence"] == "possible":
        return f"{says} Only one leader says so: broker {row['broker']}, that leader, or the way between them is slow."
    return f"{says} Several leaders say so: it is broker {row['broker']} that is slow."
