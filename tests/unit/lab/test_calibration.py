"""The page of calibration, from the counts that drills left."""

from __future__ import annotations

from lab.drill.calibration import LEDGER, Drill, Month, VerdictCount, calibration_page, read_ledger, written_ledger
from lab.drill.canary_score import CanaryCounts
from lab.drill.result import BoundsCount

OUTAGES = VerdictCount("broker_outages", "broker logs", "certain", 20, 0, 12)
UNCOUNTED = VerdictCount("broker_outages", "broker logs", "certain", 20, 0)
LEFT = VerdictCount("rebalances", "broker logs and client logs", "likely", 10, 1)
GUESSED = VerdictCount("rebalances", "snapshots", "unknown", 4, 0)
MEASURED = CanaryCounts(12, 11, 9, 0, swept=30, missing_all=4, missing_one=7, losses_wrong=0)
NEW = Drill("20261122T120000-4.3.1-7", "4.3.1", "combined", 40, 40, (OUTAGES, LEFT, GUESSED), MEASURED)
BOUNDS = BoundsCount(22, 21, 17, open=1, width_middle=0, width_most=150, balanced=24, books=25)
TRACED = Drill("20261122T130000-4.4.0-9", "4.4.0", "combined", 80, 79, (OUTAGES,), None, BOUNDS)
OLD = Drill("20261122T110000-2.6.3-8", "2.6.3", "zookeeper", 30, 29, (UNCOUNTED,))


MONTH = Month("month-1", "4.3.1", "combined", 5, 28, 420, 42, right=600, doubtful=8, wrong=0, played=532, missed=3)


def test_calibration_page_counts_verdicts_by_kafka_witness_and_table() -> None:
    rows = calibration_page([OLD, NEW, MONTH, NEW]).splitlines()
    assert "| 4.3.1 | combined | 2 | 80 of 80 | 40 of 40; 24 of 40 confirmed | 18 of 20 |  |" in rows
    assert "| 2.6.3 | zookeeper | 1 | 29 of 30 | 20 of 20 |  |  |" in rows
    assert "| broker logs and client logs |  | 18 of 20 |  |" in rows
    assert "| `broker_outages` | 60 of 60; 24 of 40 confirmed |  |  |" in rows
    assert any(row.startswith("Of 1 of the 3 drills no count of confirmed verdicts was kept") for row in rows)
    assert "no count of confirmed" not in calibration_page([NEW])
    assert "| 4.3.1 | combined | 5 | 28 | 42 of 420 | 600 | 8 | 0 | 529 of 532 played |" in rows
    assert rows.index("| 4.3.1 | combined | 2 | 80 of 80 | 40 of 40; 24 of 40 confirmed | 18 of 20 |  |") < rows.index(
        "| 2.6.3 | zookeeper | 1 | 29 of 30 | 20 of 20 |  |  |"
    )


def test_calibration_page_has_row_per_drill_with_canaries() -> None:
    rows = calibration_page([OLD, NEW, MONTH]).splitlines()
    assert "| 4.3.1 | combined | 12 | 11 | 9 | 0 | 30 | 4 of acks=all, 7 of acks=1 | 0 |" in rows
    assert not any(row.startswith("| 2.6.3 | zookeeper | 1") and "acks" in row for row in rows)


def test_calibration_page_has_bounds_of_drills_whose_members_print() -> None:
    rows = calibration_page([OLD, TRACED]).splitlines()
    assert "| 4.4.0 | combined | 22 | 21 | 17 | 0, 150 | 1 | 24 of 25 |" in rows
    assert "## Records skipped and read again" not in calibration_page([OLD, NEW])


def test_drill_ledger_survives_round_trip() -> None:
    kept = {d.name: d for d in (NEW, OLD, MONTH, TRACED)}
    assert read_ledger(written_ledger(kept)) == kept
    assert written_ledger(kept).index(OLD.name) < written_ledger(kept).index(NEW.name)


def test_first_scores_stay_as_they_were_written() -> None:
    ledger = LEDGER.read_text(encoding="utf-8")
    assert written_ledger(read_ledger(ledger)) == ledger
