"""A short drill: a real cluster is put through faults, audited as a user would, and told as it was done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from lab.drill.jars import NEWEST
from tools.plain_reader import read_logs

KAFKA = os.environ.get("KAFKA") or NEWEST
SHORT = ("leave", "crash_librdkafka", "coordinator_killed")
"""What every Kafka of the drill can play in a minute. `make drill` plays all."""


def test_short_drill_passes_and_leaves_no_line_unparsed(tmp_path: Path) -> None:
    night = tmp_path / "night"
    command = [
        sys.executable,
        "-m",
        "lab.drill.run",
        "--kafka",
        KAFKA,
        "--scenarios",
        ",".join(SHORT),
        "--keep",
        str(night),
    ]
    # One process audits as Airflow's tasks do: tests/audit/test_sample_night.py.
    environment = os.environ | {"ENGINE": "local"}
    done = subprocess.run(command, cwd=HOME, env=environment, capture_output=True, text=True, timeout=2700)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "PASSED" in done.stdout
    for folder, origin in (("logs", "broker"), ("clients", "client")):
        events, left = read_logs(night / folder, origin, "drill")
        assert events
        assert [r.text for r in left.unparsed] == [], f"Kafka {KAFKA} words a line in a way that we do not know"
