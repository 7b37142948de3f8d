"""What canaries write down of their successes, and what a sweep finds missing."""

from __future__ import annotations

from lab.drill.canary_rows import WRITE_ALL, WRITE_ONE, Series, Stalls, missing, value_of

START = 1_795_507_200.0  # 2026-11-24T08:00:00Z


def _series(stalls: Stalls | None = None) -> Series:
    return Series("orders", 3, WRITE_ALL, stalls or Stalls())


def test_canary_gap_reaches_from_last_success_to_next() -> None:
    series = _series()
    assert series.succeed(START) is None
    assert series.succeed(START + 0.15) is None
    series.fail(START + 1.4, "_MSG_TIMED_OUT")
    series.fail(START + 1.6, "NOT_ENOUGH_REPLICAS")
    assert series.succeed(START + 4) == {
        "row": "gap",
        "topic": "orders",
        "partition": 3,
        "kind": "write_all",
        "from": "2026-11-24T08:00:00.150+00:00",
        "to": "2026-11-24T08:00:04.000+00:00",
        "ms": 3850,
        "first_failure_at": "2026-11-24T08:00:01.400+00:00",
        "errors": {"_MSG_TIMED_OUT": 1, "NOT_ENOUGH_REPLICAS": 1},
        "own_stall_ms": 0,
    }
    assert series.succeed(START + 4.6) is None, "600 ms are not a gap"
    assert not series.errors and series.first_failure_at is None


def test_canary_gap_open_at_end_has_no_end() -> None:
    series = _series()
    series.succeed(START)
    gap, summary = series.end(START + 60)
    assert (gap["to"], gap["ms"]) == (None, 60_000)
    assert (summary["last_at"], summary["until"]) == ("2026-11-24T08:00:00.000+00:00", "2026-11-24T08:01:00.000+00:00")
    assert (summary["ok"], summary["gaps"], summary["gap_ms"]) == (1, 1, 60_000)


def test_canary_has_no_gap_before_first_success() -> None:
    series = _series()
    series.fail(START + 5, "_UNKNOWN_PARTITION")
    assert series.succeed(START + 9) is None
    [summary] = _series().end(START)
    assert (summary["first_at"], summary["last_at"], summary["ok"]) == (None, None, 0)


def test_own_stall_of_canary_is_counted_within_gap() -> None:
    stalls = Stalls()
    series = _series(stalls)
    series.succeed(START)
    stalls.add(START + 0.5, START + 0.7)
    stalls.add(START + 1, START + 3)
    gap = series.succeed(START + 2.5)
    assert gap and gap["own_stall_ms"] == 1500


def test_sweep_lists_missing_acknowledged_offsets() -> None:
    acked = {WRITE_ALL: {0: 0, 1: 3, 2: 4}, WRITE_ONE: {0: 1, 1: 2, 2: 5}}
    held = {value_of(WRITE_ALL, 0), value_of(WRITE_ALL, 1), value_of(WRITE_ONE, 0), b"record 7"}
    assert missing(acked, held) == {
        **{"acked_all": 3, "acked_one": 3, "missing_all": 1, "missing_one": 2},
        **{"offsets_all": [4], "offsets_one": [2, 5]},
    }
