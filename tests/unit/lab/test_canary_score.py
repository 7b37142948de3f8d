"""The ledger and the losses of an audit against what canaries measured."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lab.drill.acts import TruthError
from lab.drill.canary_score import CanaryCounts, Comparison, compare, main, read_canaries

NIGHT = datetime(2026, 11, 24, 8, tzinfo=UTC)
WRITER = {
    "socket.timeout.ms": 1000,
    "reconnect.backoff.max.ms": 300,
    "retry.backoff.max.ms": 200,
    "topic.metadata.refresh.fast.interval.ms": 100,
}
SETTINGS = {"row": "settings", "every_ms": 150, "writer": WRITER}
"""A gap may begin 0.168 s before an outage (see `_alive`), and end 2.75 s after it."""

Row = dict[str, Any]


def _at(seconds: float) -> str:
    return (NIGHT + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def _alive(kind: str, first: float = 0, until: float = 100) -> Row:
    times = {"first_at": _at(first), "last_at": _at(until), "until": _at(until), "normal_p99_ms": 168}
    return {"row": "summary", "topic": "orders", "partition": 0, "kind": kind, **times}


def _gap(start: float, end: float | None, kind: str = "write_all", stall: int = 0) -> Row:
    length = round(((100 if end is None else end) - start) * 1000)
    times = {"from": _at(start), "to": None if end is None else _at(end), "ms": length, "own_stall_ms": stall}
    return {"row": "gap", "topic": "orders", "partition": 0, "kind": kind, "errors": {}, **times}


def _swept(missing_all: list[int], missing_one: list[int], partition: int = 0) -> Row:
    counts = {"missing_all": len(missing_all), "missing_one": len(missing_one)}
    offsets = {"offsets_all": missing_all, "offsets_one": missing_one}
    return {"row": "sweep", "topic": "orders", "partition": partition, **counts, **offsets}


def _interval(start: float, end: float | None, kind: str = "no_leader", low: float = 0, high: float | None = 90) -> Row:
    return {
        **{"topic": "orders", "partition": 0, "kind": kind},
        "started_at": NIGHT + timedelta(seconds=start),
        "ended_at": None if end is None else NIGHT + timedelta(seconds=end),
        "earliest_start_at": None,
        "latest_end_at": None,
        "low_ms": round(low * 1000),
        "high_ms": None if high is None else round(high * 1000),
    }


def _unclean(low: int | None, high: int | None) -> Row:
    bounds = {"records_lost_low": low, "records_lost_high": high}
    return {"topic": "orders", "partition": 0, "kind": "unclean_election", **bounds}


def _compared(rows: list[Row], ledger: list[Row], truth: tuple[Row, ...] = (), **tables: list[Row]) -> Comparison:
    alive = [_alive(kind) for kind in ("write_all", "write_one", "read")]
    return compare(read_canaries([SETTINGS, *alive, *rows], truth), {"unavailability": ledger, **tables})


def _both(start: float, end: float | None) -> list[Row]:
    return [_gap(start, end), _gap(start, end, "write_one")]


def test_gap_within_interval_is_met() -> None:
    comparison = _compared(_both(10, 20), [_interval(10.1, 18, low=7.5, high=8)])
    assert comparison.unmatched == ()
    assert (
        comparison.counts.gaps,
        comparison.counts.met,
        comparison.counts.intervals,
        comparison.counts.without_gap,
    ) == (1, 1, 1, 0)


def test_gap_may_exceed_interval_only_by_client_waits() -> None:
    late = _compared(_both(10, 20.9), [_interval(10.1, 18)])
    assert "nothing from 08:00:18" in late.unmatched[0]
    early = _compared(_both(9.5, 20), [_interval(10.1, 18)])
    assert "nothing from 08:00:09" in early.unmatched[0]


def test_gap_may_reach_bounds_of_interval() -> None:
    bounds = {"earliest_start_at": NIGHT + timedelta(seconds=6), "latest_end_at": NIGHT + timedelta(seconds=25)}
    assert _compared(_both(7, 26), [_interval(10.1, 18) | bounds]).unmatched == ()
    assert "nothing from 08:00:05" in _compared(_both(5, 26), [_interval(10.1, 18) | bounds]).unmatched[0]
    assert "nothing from 08:00:25" in _compared(_both(7, 28), [_interval(10.1, 18) | bounds]).unmatched[0]


def test_gap_may_be_met_by_consecutive_intervals() -> None:
    hung, leaderless = _interval(10, 14, "acks_all_hung"), _interval(16, 22)
    assert _compared([_gap(10, 22), _gap(16, 22, "write_one")], [leaderless, hung]).unmatched == ()
    apart = _compared([_gap(10, 22), _gap(16, 22, "write_one")], [_interval(10, 12, "acks_all_hung"), leaderless])
    assert "nothing from 08:00:12.000000 to 08:00:16" in apart.unmatched[0]


def test_gap_without_interval_is_named() -> None:
    comparison = _compared(_both(10, 20), [])
    assert comparison.unmatched == (
        "orders-0 write_all 2026-11-24 08:00:10.000 to 08:00:20.000: the ledger has nothing",
    )
    assert (comparison.counts.gaps, comparison.counts.met) == (1, 0)


def test_gap_longer_than_high_bound_is_named() -> None:
    assert "4.0 s at most" in _compared(_both(10, 20), [_interval(9, 20, high=4)]).unmatched[0]
    assert _compared(_both(10, 20), [_interval(9, 20, high=None)]).unmatched == ()


def test_open_gap_is_met_by_open_interval_only() -> None:
    assert _compared(_both(40, None), [_interval(40.1, None, high=None)]).unmatched == ()
    assert "nothing from 08:01:00" in _compared(_both(40, None), [_interval(40.1, 60)]).unmatched[0]


def test_interval_without_gap_is_named() -> None:
    comparison = _compared([], [_interval(10, 20)])
    assert comparison.unmatched == (
        "orders-0 no_leader 2026-11-24 08:00:10.000 to 08:00:20.000: the canary write_one went on",
    )
    assert (comparison.counts.intervals, comparison.counts.without_gap) == (1, 1)


def test_leaderless_interval_needs_gap_of_acks_1() -> None:
    assert "write_one went on" in _compared([_gap(10, 20)], [_interval(10.1, 18)]).unmatched[0]
    assert _compared([_gap(10, 20)], [_interval(10.1, 18, "acks_all_refused")]).unmatched == ()


def test_interval_with_low_bound_above_gap_is_named() -> None:
    comparison = _compared(_both(10, 13), [_interval(9, 30, low=15)])
    assert comparison.unmatched[0].endswith("15.0 s at least, and the canary write_one had 3.0 s")


def test_short_gaps_and_own_stalls_are_not_compared() -> None:
    comparison = _compared([*_both(10, 11.4), _gap(20, 24, stall=2800)], [_interval(40, 41.2)])
    assert (comparison.counts.gaps, comparison.counts.intervals, comparison.unmatched) == (0, 0, ())


def test_interval_outside_canary_lifetime_is_not_compared() -> None:
    assert _compared([], [_interval(-30, 1), _interval(101, None)]).counts.intervals == 0
    assert _compared([], [{**_interval(10, 20), "partition": 1}]).counts.intervals == 0
    assert _compared([], [{**_interval(10, 20), "kind": "no_consumer", "partition": None}]).counts.intervals == 0


def test_interval_beyond_canary_is_judged_by_low_bound() -> None:
    rows = [_alive("write_one", until=12), {**_alive("read"), "partition": 1}]
    assert (
        compare(read_canaries([SETTINGS, *rows]), {"unavailability": [_interval(10, 20, low=9)]}).counts.intervals == 0
    )
    certain = compare(read_canaries([SETTINGS, *rows]), {"unavailability": [_interval(10, 20, low=9.9)]})
    assert certain.counts.without_gap == 1
    is_open = [_interval(10, None, low=89.8, high=None)]
    assert compare(read_canaries([SETTINGS, *rows]), {"unavailability": is_open}).counts.without_gap == 1


def test_times_without_logs_or_with_moved_clock_are_not_compared() -> None:
    rotated = ({"at": _at(5), "action": "logs_rotated", "keeps": True},)
    truth = (*rotated, {"at": _at(25), "action": "logs_rotated", "keeps": False})
    assert _compared([*_both(10, 20), *_both(60, 70)], [_interval(60, 70)], truth).unmatched == ()
    moved = tuple({"at": _at(at), "action": "broker_clock_set", "ahead_s": s} for at, s in ((5, 7), (25, 0)))
    assert _compared(_both(10, 20), [_interval(17, 27)], moved).counts.gaps == 0


def test_loss_equals_records_missing_from_sweep() -> None:
    lost = _swept([105, 107], [104, 106, 109])
    assert _compared([lost], [], failovers=[_unclean(6, 6)]).unmatched == ()
    assert _compared([lost], [], failovers=[_unclean(0, None)]).unmatched == ()
    assert "0 to 0 records lost, and 5" in _compared([lost], []).unmatched[0]
    assert "4 to 4 records lost" in _compared([lost], [], failovers=[_unclean(4, 4)]).unmatched[0]
    assert "60 to 60 records lost" in _compared([lost], [], failovers=[_unclean(60, 60)]).unmatched[0]


def test_loss_not_confirmed_by_sweep_is_named() -> None:
    cut = {"topic": "orders", "partition": 0, "records_cut": 3, "verdict": "committed_lost"}
    comparison = _compared([_swept([], [104])], [], truncations=[cut])
    assert comparison.unmatched == ("orders-0: 3 records lost at least, and the sweep found each acknowledged one",)
    assert _compared([_swept([], [104])], [], truncations=[{**cut, "verdict": "uncommitted"}]).unmatched == ()
    assert _compared([_swept([], [], partition=1)], [], truncations=[cut]).unmatched == (), "it was not swept"


def test_unclean_election_may_lose_what_acks_1_alone_wrote() -> None:
    """As on 3.9.2 with ZooKeeper: acks=all was refused, and the offsets that acks=1 missed were those of the audit."""
    lost = _swept([], [104, 105, 106])
    assert _compared([lost], [], failovers=[_unclean(3, 3)]).unmatched == ()
    assert _compared([lost], []).unmatched == ()
    assert "60 to 60 records lost" in _compared([lost], [], failovers=[_unclean(60, 60)]).unmatched[0]
    assert "found each acknowledged one" in _compared([_swept([], [])], [], failovers=[_unclean(3, 3)]).unmatched[0]


def test_unfinished_canaries_cannot_be_compared() -> None:
    with pytest.raises(TruthError, match="their end"):
        read_canaries([SETTINGS, _gap(10, 20)])


def test_lake_without_unavailability_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "canary.jsonl").write_text(json.dumps(SETTINGS))
    assert main([str(tmp_path), str(tmp_path / "lake")]) == 2
    assert "found no gold.unavailability" in capsys.readouterr().err


def test_canary_counts_sum_over_sweeps() -> None:
    rows = [_swept([5], [6, 7]), _swept([], [1], partition=1)]
    counts = _compared(rows, [], failovers=[_unclean(3, 3)]).counts
    assert counts == CanaryCounts(0, 0, 0, 0, swept=2, missing_all=1, missing_one=3, losses_wrong=0)
