"""A user's own suites are files beside the lake, or where EXPECTATIONS says."""

from __future__ import annotations

from pathlib import Path

import pytest

from expectations.own import own_suites
from kafka_hindsight.engine.local import LocalWorkers
from kafka_hindsight.shared.exits import BAD_INPUT, BadInput
from kafka_hindsight.steps.run import run_step


def test_lake_without_suites_has_none(tmp_path: Path) -> None:
    assert own_suites(None, str(tmp_path)) == {}


def test_suites_lie_in_the_lake_or_in_the_folder_that_is_named(tmp_path: Path) -> None:
    for folder, table in (("lake/expectations", "gold.findings"), ("mine", "silver.events")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{table}.json").write_text('{"expectations": []}')
    (tmp_path / "mine" / "README.md").write_text("no suite")
    assert own_suites(None, f"{tmp_path}/lake").keys() == {"gold.findings"}
    assert own_suites(f"{tmp_path}/mine/", f"{tmp_path}/lake").keys() == {"silver.events"}


def test_each_bad_file_is_one_sentence(tmp_path: Path) -> None:
    for name, text in (("gold.nothing", "{}"), ("gold.findings", "{"), ("gold.incidents", "[]")):
        (tmp_path / f"{name}.json").write_text(text)
    with pytest.raises(BadInput) as refusal:
        own_suites(str(tmp_path), "lake")
    findings, incidents, nothing = refusal.value.sentences
    assert "gold.findings.json is not a suite: JSONDecodeError" in findings
    assert "gold.incidents.json is not a suite" in incidents
    assert "gold.nothing.json names no table that is checked. Needed: TABLE.json of one of gold." in nothing


def test_named_folder_without_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"EXPECTATIONS names .*, and no suite is there"):
        own_suites(str(tmp_path / "lost"), "lake")


def test_bad_suite_ends_audit_before_a_log_is_read(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    (lake / "expectations").mkdir(parents=True)
    (lake / "expectations" / "gold.finding.json").write_text("{}")
    settings = {"logs": str(tmp_path), "lake": str(lake), "run_id": "r", "run_at": "2026-10-01T00:00Z"}
    assert run_step("ingest", settings, LocalWorkers()) == BAD_INPUT
    assert [p.name for p in lake.iterdir() if p.name in ("bronze", "locks")] == []
