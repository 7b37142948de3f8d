"""Declared changes of hindsight.toml: how they are read, and what is said of one that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_hindsight.settings import clusters
from kafka_hindsight.settings.changes import MOST_BYTES, Change, declared_changes
from kafka_hindsight.settings.home import FILE_VARIABLE
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from tests.support.rows import AT

UPGRADE = """
[[changes]]
what = "upgrade"
from = "2026-11-20T02:10+01:00"
to = 2026-11-20T02:40:00
brokers = [1, 2]
summary = "4.0 to 4.1"
"""


@pytest.fixture()
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "hindsight.toml"
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    return path


def test_changes_of_the_file_go_through_the_settings_of_a_run(file: Path) -> None:
    file.write_text(f"{UPGRADE}[alerts]\nrotes = 1\n")
    (upgrade,) = declared_changes()
    assert upgrade == {
        "what": "upgrade", "from": "2026-11-20T01:10:00Z", "to": "2026-11-20T02:40:00Z", "summary": "4.0 to 4.1",
        "cluster": "*", "groups": [], "topics": [], "brokers": [1, 2],
    }  # fmt: skip
    values = {"logs": "/logs", "lake": "/lake", "run_id": "r", "run_at": AT, "changes": [upgrade]}
    (again,) = Settings.of(json.loads(Settings.of(values).to_json())).changes or ()
    assert Change.model_validate(again) == Change.model_validate(upgrade)


def test_without_a_file_nothing_is_declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    monkeypatch.setattr("kafka_hindsight.settings.home.WORK", tmp_path)
    assert declared_changes() == []


@pytest.mark.parametrize(
    ("wrong", "right", "problem"),
    [
        ('"upgrade"', '"patch"', "changes.1.what is 'patch'. Needed: 'upgrade' or 'deployment'. Correct it."),
        ("2026-11-20T02:40:00", '"soon"', "changes.1.to is 'soon'. Needed: an ISO instant, such as"),
        ("2026-11-20T02:40:00", "2026-11-20T01:00:00", "Needed: a to that lies after from. Swap or correct them."),
        ("from =", "start =", "changes.1.from is not set. Needed: when it began, such as 2026-11-20T02:10Z"),
        ("from =", "start =", "start is not known. Needed: one of what, from, to, summary, cluster, groups, topics"),
        ("[1, 2]", "[-1]", "changes.1.brokers.1 is -1. Needed: greater than or equal to 0. Correct it."),
        ("4.0 to 4.1", r"4.0\u001b[31m", "Needed: visible text on one line: no control character,"),
        ("4.0 to 4.1", r"4.0\u202e1.4", "Needed: visible text on one line: no control character,"),
        ("[1, 2]", "[1]\ngroups = ['''a\nb''']", "changes.1.groups.1 is 'a\\nb'. Needed: visible text on one line"),
        ("4.0 to 4.1", "x" * 301, "Needed: at most 300 characters. Correct it."),
        ("4.0 to 4.1", " ", "changes.1.summary is not set. Needed: what was done, in 300 characters at most. Add it."),
    ],
)
def test_wrong_change_is_refused_by_key(file: Path, wrong: str, right: str, problem: str) -> None:
    file.write_text(UPGRADE.replace(wrong, right))
    for read in (declared_changes, clusters.clusters):
        with pytest.raises(BadInput) as refused:
            read()
        assert problem in str(refused.value) and str(file) in str(refused.value)
        assert "\x1b" not in str(refused.value)


def test_more_changes_than_a_command_can_hold_are_refused(file: Path) -> None:
    file.write_text(UPGRADE * (MOST_BYTES // 100))
    with pytest.raises(BadInput, match=r"takes \d+,\d+ bytes. Needed: 64,000 at most. Remove the oldest tables."):
        declared_changes()
