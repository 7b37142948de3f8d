"""The tool that reads one log in every layout and envelope, and in two of these."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab import combinations
from tests.support.logs import line, resigned

LOG = "".join(resigned(n, f"01:44:29,{n}00") for n in range(4)) + line("x", logger="kafka.Other")


def test_complete_layout_combinations_give_same_events(tmp_path: Path) -> None:
    wanted = combinations.events_of(LOG, tmp_path)
    assert len(wanted) == 4
    for layout, wraps in (("strimzi", ("cri", "docker")), ("ecs", ("loki", "colours")), ("msk", ("otlp",))):
        assert combinations.less(LOG, layout, wraps, wanted, tmp_path) is None


def test_missing_events_are_counted(tmp_path: Path) -> None:
    wanted = combinations.events_of(LOG + resigned(5), tmp_path)
    assert combinations.less(LOG, "strimzi", ("cri",), wanted, tmp_path) == "1 events missing, 0 others"


def test_drawn_combinations_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "server.log"
    log.write_text(LOG)
    assert combinations.main([str(log), "--some", "3", "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"3 combinations of 4 events: \d give the same, \d carry less, 0 lose what they carry", printed)
