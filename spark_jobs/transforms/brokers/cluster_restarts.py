"""A cluster restarted broker by broker, told as one story with a scorecard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from spark_jobs.knowledge.isr import RESTART_ADVICE, RESTART_GAP_MS
from spark_jobs.transforms.evidence import evidence_of, row_id
from spark_jobs.transforms.windows import OutRow, Row, elapsed_ms, took

_GAP = timedelta(milliseconds=RESTART_GAP_MS)
_QUOTED = 2


def rebuild_rolling_restarts(
    outages: Iterable[Row], isr_spans: Sequence[Row], known_brokers: Collection[int]
) -> tuple[list[OutRow], dict[str, str]]:
    """Rows of gold.rolling_restarts, and the restart of each outage that belongs to one.

    Takes: rows of gold.broker_outages of one cluster with their impact and rebalances; its ISR_SPANS; every
    broker that is known of.
    Gives: two brokers at least that were shut down in order and came back, each once, one after another. A broker that
    crashed in between and came back belongs to it, and makes it unplanned.
    Order: by start.
    Keeps: an outage belongs to one restart at most.
    Odd: a cluster that is stopped as a whole, so that all were away at once, is not restarted broker by broker.
    """
    back = sorted((o for o in outages if o["up_at"] is not None), key=lambda o: (o["down_at"], o["broker"]))
    rows = []
    home: dict[str, str] = {}
    for chain in _chains([o for o in back if o["kind"] == "controlled_shutdown"]):
        members = _with_crashes(chain, [o for o in back if o["kind"] != "controlled_shutdown"])
        row = _row(members, isr_spans, known_brokers)
        rows.append(row)
        home |= {o["outage_id"]: row["restart_id"] for o in members}
    return rows, home


def _chains(planned: Sequence[Row]) -> list[list[Row]]:
    """Stops that follow one another, the nearest joined first: so the second stop of a broker parts two restarts
    where they lie farthest apart."""
    chain_of = {n: [n] for n in range(len(planned))}
    waits = sorted((_waited(before, after), n) for n, (before, after) in enumerate(pairwise(planned)))
    for waited, n in waits:
        chain = [*chain_of[n], *chain_of[n + 1]]
        if waited <= _GAP and len({planned[i]["broker"] for i in chain}) == len(chain):
            chain_of |= dict.fromkeys(chain, chain)
    chains = [[planned[i] for i in chain] for n, chain in chain_of.items() if n == chain[0]]
    return [c for c in chains if len(c) > 1 and max(o["down_at"] for o in c) >= min(o["up_at"] for o in c)]


def _waited(before: Row, after: Row) -> timedelta:
    """How long after a broker was well again the next one was stopped."""
    well_at = max(before["up_at"], before["isr_recovered_at"] or before["up_at"])
    waited: timedelta = after["down_at"] - well_at
    return max(timedelta(), waited)


def _with_crashes(chain: Sequence[Row], others: Iterable[Row]) -> list[Row]:
    """The chain with the first crash in between of each broker that was not restarted otherwise."""
    crashed: dict[int, Row] = {}
    for outage in others:
        is_between = chain[0]["down_at"] < outage["down_at"] < chain[-1]["down_at"]
        if is_between and outage["broker"] not in {o["broker"] for o in chain}:
            crashed.setdefault(outage["broker"], outage)
    return sorted([*chain, *crashed.values()], key=lambda o: (o["down_at"], o["broker"]))


def _row(members: Sequence[Row], isr_spans: Sequence[Row], known_brokers: Collection[int]) -> OutRow:
    first = members[0]
    ids = {o["outage_id"] for o in members}
    spans = [s for s in isr_spans if s["outage_id"] in ids]
    scorecard = [_score(o, members[:i], spans) for i, o in enumerate(members)]
    is_complete = {*known_brokers} <= {o["broker"] for o in members}
    row = {
        "cluster": first["cluster"],
        "restart_id": row_id(first["cluster"], "rolling_restart", *(o["outage_id"] for o in members)),
        "started_at": first["down_at"],
        "ended_at": max(o["up_at"] for o in members),
        "brokers": [o["broker"] for o in members],
        "planned": all(o["planned"] for o in members),
        "is_complete": is_complete,
        "scorecard": scorecard,
        "elections": sum(o["elections"] or 0 for o in members),
        "rebalances": sum(o["rebalances"] or 0 for o in members),
        "max_under_replicated": _most_at_once(spans),
        "confidence": "likely" if is_complete and len(members) > 2 else "possible",
        "advice": RESTART_ADVICE[any(s["is_early"] for s in scorecard)],
        "evidence": evidence_of(q for o in members for q in o["evidence"][:_QUOTED]),
    }
    return {**row, "explanation": _explain(row)}


def _score(outage: Row, before: Sequence[Row], spans: Iterable[Row]) -> OutRow:
    down_at = outage["down_at"]
    recovered, restored = outage["isr_recovered_at"], outage["leadership_restored_at"]
    return {
        **{k: outage[k] for k in ("broker", "outage_id", "kind", "down_at", "up_at", "partitions_led_before")},
        "isr_recovered_ms": elapsed_ms(down_at, recovered) if recovered else None,
        "leadership_restored_ms": elapsed_ms(down_at, restored) if restored else None,
        "is_early": is_early(down_at, before, spans) if before else False,
        "elections": outage["elections"] or 0,
    }


def is_early(down_at: datetime, before: Sequence[Row], spans: Iterable[Row]) -> bool | None:
    """Whether a broker was stopped while one restarted before it was still missing from an ISR; null: nothing tells."""
    if any(o["up_at"] > down_at for o in before):
        return True
    ids = {o["outage_id"] for o in before}
    own = [s for s in spans if s["outage_id"] in ids]
    if any(
        s["happened_at"] <= down_at and (s["out_of_sync_until"] is None or s["out_of_sync_until"] > down_at)
        for s in own
    ):
        return True
    seen = {o["outage_id"] for o in before if o["isr_recovered_at"] and o["isr_recovered_at"] <= down_at}
    return False if {s["outage_id"] for s in own} | seen >= ids else None


def _most_at_once(spans: Iterable[Row]) -> int:
    """The most partitions that lacked a broker at one instant; a partition that lacks two counts once."""
    ends = [(s["happened_at"], 1, s) for s in spans]
    ends += [(s["out_of_sync_until"], -1, s) for s in spans if s["out_of_sync_until"] is not None]
    lacking: Counter[tuple[str, int]] = Counter()
    missing = most = 0
    for _, step, span in sorted(ends, key=lambda e: e[:2]):
        key = span["topic"], span["partition"]
        missing -= lacking[key] > 0
        lacking[key] += step
        missing += lacking[key] > 0
        most = max(most, missing)
    return most


def _explain(row: Row) -> str:
    scores = row["scorecard"]
    order = ", ".join(str(b) for b in row["brokers"])
    who = f"{'All ' if row['is_complete'] else ''}{len(scores)} brokers"
    says = f"{who} were restarted one after another in {took(row['started_at'], row['ended_at'])}: {order}."
    known = sorted(s["isr_recovered_ms"] for s in scores if s["isr_recovered_ms"] is not None)
    if known:
        which = "Each" if len(known) == len(scores) else f"{len(known)} of them"
        says += f" {which} was back in every ISR after {_span(known)}."
    for score in scores:
        if score["is_early"]:
            says += f" Broker {score['broker']} was stopped while one before it was missing from an ISR."
        if score["kind"] != "controlled_shutdown":
            says += f" Broker {score['broker']} was not shut down in order ({score['kind']})."
    return f"{says} At most {row['max_under_replicated']} partitions lacked a replica at once."


def _span(known: Sequence[int]) -> str:
    low, high = round(known[0] / 1000, 1), round(known[-1] / 1000, 1)
    return f"{low} s" if low == high else f"{low} to {high} s"
