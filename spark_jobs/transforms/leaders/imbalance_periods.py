"""How long a broker led too few of the partitions it is preferred for, since when, and what healed it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from spark_jobs.knowledge.imbalance import SPELL_ADVICE
from spark_jobs.transforms.cluster import CLOCKS
from spark_jobs.transforms.evidence import evidence_of, row_id
from spark_jobs.transforms.leaders.imbalance import THRESHOLD
from spark_jobs.transforms.windows import OutRow, Row, took

_NO_TIME = timedelta(0)
_BEGAN = {
    "log_dir_failed": "when a disk failed",
    "unclean_election": "with an unclean election",
    "offline": "when nobody could lead them",
    "leader_restored": "when others took over what nobody had led",
    "reassignment": "with a reassignment",
    "controlled_shutdown": "when it was shut down",
    "broker_unresponsive": "when it was not heard",
    "broker_crash": "when it crashed",
    "preferred_election": "with an election",
    "unknown": "when leaders left it, nobody told why",
}
_HEALED = {
    "automatic_election": "a preferred election of Kafka's own brought leaders back",
    "requested_election": "a preferred election that somebody asked for brought leaders back",
    "preferred_election": "a preferred election brought leaders back",
    "failover": "another change of leader brought leaders back",
}


@dataclass(frozen=True)
class _Turn:
    """An instant at which a broker crossed the gate; `change` is the failover that made it, where one is told."""

    at: datetime
    is_exact: bool
    change: Row | None


def rebuild_imbalance_periods(imbalance: Iterable[Row], failovers: Iterable[Row]) -> list[OutRow]:
    """Rows of gold.imbalance_periods: one for each time that a broker was over the gate.

    Takes: all rows of gold.leader_imbalance of the window, evidence only where a row is over the gate;
    rows of gold.failovers with look-back, of one cluster.
    Order: by broker and time.
    Keeps: the imbalance_periods of one broker do not overlap, and cover exactly the readings that are over the gate.
    Odd: between two readings the changes of leader are replayed; where they lead from the one to the other, the change
    that tips it over is told. Before the first reading they are undone one by one, which is less sure: topics may have
    come since. A reading that does not know the broker ends a period, as it is preferred for nothing then.
    """
    rows = sorted(imbalance, key=lambda r: (r["snapshot_at"], r["broker"]))
    instants = sorted({r["snapshot_at"] for r in rows})
    by_broker: dict[int, dict[datetime, Row]] = defaultdict(dict)
    for row in rows:
        by_broker[row["broker"]][row["snapshot_at"]] = row
    changes: dict[int, list[Row]] = defaultdict(list)
    for f in sorted(failovers, key=lambda f: (f["happened_at"], f["topic"], f["partition"], f["epoch_to"])):
        if f["preferred_leader"] in (f["leader_from"], f["leader_to"]):
            changes[f["preferred_leader"]].append(f)
    return [
        _row(broker, period, _begun(before, period[0], changes[broker]), _ended(period[-1], after, changes[broker]))
        for broker, seen in sorted(by_broker.items())
        for before, period, after in _spells(instants, seen)
    ]


def _spells(
    instants: Sequence[datetime], seen: dict[datetime, Row]
) -> Iterator[tuple[Row | None, list[Row], tuple[datetime, Row | None] | None]]:
    """Each run of readings over the gate, the reading before it, and the one after it, with its instant."""
    before: Row | None = None
    period: list[Row] = []
    for at in instants:
        row = seen.get(at)
        if row is not None and row["over_threshold"]:
            period.append(row)
            continue
        if period:
            yield before, period, (at, row)
        before, period = row, []
    if period:
        yield before, period, None


def _begun(before: Row | None, first: Row, changes: Sequence[Row]) -> _Turn:
    if before is None:
        return _undone(first, changes)
    told = _agreeing(before, first, changes)
    up = [[f for f, is_over in turns if is_over][-1:] for turns in _turns(before, first, told)]
    if all(up) and up[0] == up[1]:
        return _Turn(_within(up[0][0]["happened_at"], before, first), True, up[0][0])
    left = [f for f in _between(before, first, changes) if f["leader_from"] == first["broker"]]
    return _Turn(first["snapshot_at"], False, _commonest(left))


def _ended(last: Row, after: tuple[datetime, Row | None] | None, changes: Sequence[Row]) -> _Turn | None:
    if after is None:
        return None
    at, row = after
    if row is None:
        return _Turn(at, False, None)
    told = _agreeing(last, row, changes)
    down = [[f for f, is_over in turns if not is_over][:1] for turns in _turns(last, row, told)]
    if all(down) and down[0] == down[1]:
        return _Turn(_within(down[0][0]["happened_at"], last, row), True, down[0][0])
    back = [f for f in _between(last, row, changes) if f["leader_to"] == row["broker"]]
    return _Turn(at, False, _commonest(back))


def _between(
    start: Row, end: Row, changes: Sequence[Row], since_late: timedelta = _NO_TIME, until_late: timedelta = _NO_TIME
) -> list[Row]:
    since, until = start["snapshot_at"] + since_late, end["snapshot_at"] + until_late
    return [f for f in changes if since < f["happened_at"] <= until]


def _agreeing(start: Row, end: Row, changes: Sequence[Row]) -> list[Row]:
    """The changes that lead from one reading to the next; none where those told do not.

    Odd: a reading takes a moment, so it may show what happened just after its instant.
    """
    for late in product((_NO_TIME, CLOCKS), repeat=2):
        told = _between(start, end, changes, *late)
        if start["led_elsewhere"] + sum(map(_step, told)) == end["led_elsewhere"]:
            return told
    return []


def _turns(start: Row, end: Row, changes: Sequence[Row]) -> list[list[tuple[Row, bool]]]:
    """The changes at which a broker crosses the gate, and whether it is over it then.

    Gives: by what it was preferred for before, and by what it was after: partitions may have come in between.
    """
    found = []
    for preferred in (start["preferred_partitions"], end["preferred_partitions"]):
        count, is_over, turns = start["led_elsewhere"], _is_over(start["led_elsewhere"], preferred), []
        for f in changes:
            count += _step(f)
            if _is_over(count, preferred) != is_over:
                is_over = not is_over
                turns.append((f, is_over))
        found.append(turns)
    return found


def _within(instant: datetime, start: Row, end: Row) -> datetime:
    at: datetime = max(start["snapshot_at"], min(instant, end["snapshot_at"]))
    return at


def _commonest(changes: Sequence[Row]) -> Row | None:
    """The last of the changes that have the kind and the outage of most."""
    counts = Counter((f["kind"], f["outage_id"]) for f in changes)
    return max(changes, key=lambda f: (counts[f["kind"], f["outage_id"]], f["happened_at"]), default=None)


def _undone(first: Row, changes: Sequence[Row]) -> _Turn:
    """The change that tipped it over before the first reading, as far as the changes told lead back to it."""
    count = first["led_elsewhere"]
    for f in reversed([f for f in changes if f["happened_at"] <= first["snapshot_at"]]):
        count -= _step(f)
        if not 0 <= count <= first["preferred_partitions"]:
            break
        if not _is_over(count, first["preferred_partitions"]):
            return _Turn(f["happened_at"], False, f)
    return _Turn(first["snapshot_at"], False, None)


def _step(failover: Row) -> int:
    """How many more of its preferred partitions are led elsewhere, after a change of leader."""
    preferred = failover["preferred_leader"]
    return int(failover["leader_to"] != preferred) - int(failover["leader_from"] != preferred)


def _is_over(count: int, preferred: int) -> bool:
    return preferred > 0 and count / preferred > THRESHOLD


def _row(broker: int, period: Sequence[Row], begun: _Turn, ended: _Turn | None) -> OutRow:
    worst = max(period, key=lambda r: (r["ratio"], -r["snapshot_at"].timestamp()))
    by, ended_by = begun.change, _healed_by(ended)
    return {
        "cluster": worst["cluster"],
        "imbalance_period_id": row_id(worst["cluster"], "imbalance", broker, period[0]["snapshot_at"]),
        "broker": broker,
        "started_at": begun.at,
        "started_at_is_exact": begun.is_exact,
        "ended_at": ended.at if ended else None,
        "ended_at_is_exact": bool(ended and ended.is_exact),
        "first_reading_at": period[0]["snapshot_at"],
        "last_reading_at": period[-1]["snapshot_at"],
        "readings": len(period),
        "max_ratio": worst["ratio"],
        "worst_at": worst["snapshot_at"],
        "preferred_partitions": worst["preferred_partitions"],
        "led_elsewhere": worst["led_elsewhere"],
        "started_by": by["kind"] if by else None,
        "outage_id": by["outage_id"] if by else None,
        "ended_by": ended_by,
        "explanation": _explained(broker, period[-1], worst, begun, ended, ended_by),
        "advice": SPELL_ADVICE[ended_by],
        "evidence": evidence_of(q for r in (period[0], worst, period[-1]) for q in r["evidence"]),
    }


def _healed_by(ended: _Turn | None) -> str | None:
    if ended is None or ended.change is None:
        return None
    if ended.change["kind"] != "preferred_election":
        return "failover"
    asked = ended.change["requested_by_operator"]
    return "preferred_election" if asked is None else "requested_election" if asked else "automatic_election"


def _explained(broker: int, last: Row, worst: Row, begun: _Turn, ended: _Turn | None, ended_by: str | None) -> str:
    led = f"{worst['led_elsewhere']} of the {worst['preferred_partitions']} partitions that broker {broker}"
    says = f"{led} is preferred for were led elsewhere at worst ({worst['ratio']:.0%})"
    why = f", {_BEGAN[begun.change['kind']]}" if begun.change else ""
    sure = "" if begun.is_exact else "at least "
    says += f", {sure}since {begun.at:%H:%M:%S}{why}."
    if ended is None:
        return f"{says} No election had healed it at {last['snapshot_at']:%H:%M:%S}, when it was read last."
    over = f"It was over after {took(begun.at, ended.at)}"
    how = _HEALED[ended_by] if ended_by else "no change of leader tells how: topics may have come or gone"
    return f"{says} {over}: {how}."
