"""The brokers' part of the verdict: restarts, outages, leaders, and what became of the data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime

from spark_jobs.report import plain, words
from spark_jobs.report.brokers import lost_records
from spark_jobs.report.durability_risk import exposure, worst_rehearsal
from spark_jobs.report.page_rows import Night, Row, outage_at
from spark_jobs.report.restarts import restarts

RESTARTS_NAMED = 2


def cluster_sentences(night: Night, told: set[str]) -> tuple[str, ...]:
    """What the brokers went through, but for outages that are told already: they stand by id in `told`."""
    return (
        _outages(night, told),
        *_restarts(night),
        _failovers(night),
        _truncations(night),
        _exposure(night),
        _slow(night),
        _rehearsal(night),
    )


def _restarts(night: Night) -> list[str]:
    rows = restarts(night)
    said = [
        f"{'planned: ' if r.planned else ''}{r.headline[:1].lower() + r.headline[1:] if r.planned else r.headline}"
        f", {_when(night, r.started_at, r.ended_at)}."
        for r in rows[:RESTARTS_NAMED]
    ]
    rest = len(rows) - RESTARTS_NAMED
    return [*said, *([f"{words.counted(rest, 'further rolling restart')}."] if rest > 0 else [])]


def _when(night: Night, start: datetime, end: datetime | None) -> str:
    first = words.minute(start, night.day)
    if end is None:
        return f"from {first}, and it was not over by the end"
    last = words.minute(end, night.day)
    return f"at {first}" if last == first else f"from {first} to {last}"


def _outages(night: Night, told: set[str]) -> str:
    restarts = {row["restart_id"] for row in night.rows("gold.rolling_restarts")}
    rows = [o for o in night.outages.values() if o["outage_id"] not in told and o["restart_id"] not in restarts]
    sudden = [_absence(night, row) for row in rows if not row["planned"]]
    planned = [row for row in rows if row["planned"]]
    last_of = {row["broker"]: row for row in night.outages.values()}
    gone = [broker for broker, last in last_of.items() if last["up_at"] is None]
    said = []
    if sudden:
        said.append(("also " if told - {""} else "") + words.listed(sudden, at_most=4))
    if len(planned) == 1:
        said.append(f"planned: {outage_at(night, planned[0])}")
    elif planned:
        said.append(f"{len(planned)} planned shutdowns, of {_brokers({row['broker'] for row in planned})}")
    if gone:
        said.append(f"{_brokers(gone)} had not come back by the end")
    return " ".join(f"{words.sentence(s)}." for s in said)


def _absence(night: Night, outage: Row) -> str:
    gone = words.elapsed_ms(outage["down_at"], outage["up_at"])
    return outage_at(night, outage) + (f" for {words.duration(gone)}" if gone is not None else "")


def _brokers(brokers: Collection[int]) -> str:
    return (
        f"{words.verb(len(brokers), 'broker', 'brokers')} {words.listed([str(b) for b in sorted(brokers)], at_most=6)}"
    )


def _failovers(night: Night) -> str:
    rows = night.rows("gold.failovers")
    if not rows:
        return ""
    kinds: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    said = [words.counted(len(rows), "leader change")]
    if kinds["offline"]:
        said.append(f"a partition was left without a leader {words.times(len(kinds['offline']))}")
    if kinds["unclean_election"]:
        low, high = _bounds(kinds["unclean_election"])
        lost = f" that lost {lost_records(low, high)}" if high or low else ""
        said.append(f"{words.counted(len(kinds['unclean_election']), 'unclean election')}{lost}")
    return ", ".join(said) + "."


def _bounds(rows: Sequence[Row]) -> tuple[int | None, int | None]:
    lows = [r["records_lost_low"] for r in rows if r["records_lost_low"] is not None]
    highs = [r["records_lost_high"] for r in rows if r["records_lost_high"] is not None]
    return (sum(lows) if lows else None), (sum(highs) if len(highs) == len(lows) and highs else None)


def _truncations(night: Night) -> str:
    lost = [row for row in night.rows("gold.truncations") if row["verdict"] == "committed_lost"]
    return f"{words.counted(len(lost), 'truncation')} took committed records." if lost else ""


def _exposure(night: Night) -> str:
    return " ".join(said for _, said in exposure(night))


def _slow(night: Night) -> str:
    slow = {row["broker"] for row in night.rows("gold.out_of_sync_periods") if row["kind"] == "slow"}
    if not slow:
        return ""
    return f"{words.sentence(_brokers(slow))} fell out of sync though alive."


def _rehearsal(night: Night) -> str:
    worst = worst_rehearsal(night)
    if worst is None:
        return ""
    harms = (("partitions_offline", "would have no leader"), ("partitions_unclean", "would lose records"))
    said = [f"{words.counted(worst[column], 'partition')} {harm}" for column, harm in harms if worst[column]]
    lost = f"{worst['scope_kind']} {plain.shortened(worst['scope'], 48)}"
    return f"Were {lost} lost now, {words.listed(said)}." if said else ""
