"""The settings of a run are printed once: by its first step."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_hindsight.catalog.steps import BY_NAME, STEPS
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.steps import run


@pytest.mark.parametrize("name", BY_NAME)
def test_first_step_alone_prints_the_settings(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "perform", lambda *_: {})
    settings = {"logs": "/logs", "lake": str(tmp_path / "lake"), "run_id": "night", "run_at": "2026-11-21T02:00Z"}
    assert run.run_step(name, settings, LocalWorkers()) == 0
    assert ("logs = /logs" in capsys.readouterr().out) == (name not in {step.name for step in STEPS[1:]})
