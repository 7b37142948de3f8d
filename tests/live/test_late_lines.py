"""Lines that a shipper delivers hours late into a topic of real brokers change the window that they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.conftest import GuardedCluster
from tests.support.late_lines import LOG, LateNight
from tests.support.logs import lay
from tests.support.sources import in_order, produce, with_topic


def test_late_lines_of_a_topic_change_their_window(
    cluster: GuardedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_topic(cluster.bootstrap, "late-logs", 3)
    settings = f'settings = {{"bootstrap.servers" = "{cluster.bootstrap}"}}'
    lay(tmp_path, {"late.toml": f'kind = "kafka"\ntopic = "late-logs"\n{settings}\n'})
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(tmp_path))

    def deliver(lines: list[str]) -> None:
        produce(in_order(cluster.bootstrap), "late-logs", {LOG: lines})

    LateNight(tmp_path).play(tmp_path, "source://late", deliver)
