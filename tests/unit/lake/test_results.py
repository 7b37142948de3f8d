"""What a step leaves in its run's folder, and who finds it there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_hindsight.lake.results import Result, forget_result, leave_result, read_result


def test_result_of_a_step_is_read_by_run_and_name_until_it_is_removed(tmp_path: Path) -> None:
    result = Result(2, ["LOGS names /x.\n\x1b[2J"], "local-1")
    leave_result(str(tmp_path), "r", "ingest", Result(1))
    leave_result(f"{tmp_path}/", "r", "ingest", result)
    assert read_result(str(tmp_path), "r", "ingest") == result
    assert read_result(str(tmp_path), "r", "publish") is read_result(str(tmp_path), "other", "ingest") is None
    forget_result(str(tmp_path), "r", "ingest")
    forget_result(str(tmp_path), "r", "ingest")
    assert read_result(str(tmp_path), "r", "ingest") is None


@pytest.mark.parametrize("lake", ["nowhere://lake", "/dev/null/lake"])
def test_unreachable_lake_has_no_result_and_raises_nothing(lake: str) -> None:
    leave_result(lake, "r", "ingest", Result(0))
    assert read_result(lake, "r", "ingest") is None
    forget_result(lake, "r", "ingest")
