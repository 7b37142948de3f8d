"""`hindsight clusters`: the file is checked whole, and its schema refuses what the check refuses."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kafka_hindsight.cli import clusters_file
from kafka_hindsight.cli import main as cli
from kafka_hindsight.settings.home import FILE_VARIABLE, HOME

OPERATIONS = (HOME / "docs" / "operations.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"<!-- example: hindsight.toml -->\n```toml\n(.+?)```", OPERATIONS, flags=re.DOTALL)
(MANY,) = re.findall(r"<!-- example: many clusters -->\n```toml\n(.+?)```", OPERATIONS, flags=re.DOTALL)
SCHEMA = Draft202012Validator(json.loads(clusters_file.schema_text()))


def toml_as_json(text: str) -> Any:
    """TOML as JSON: an instant is a text."""
    return json.loads(json.dumps(tomllib.loads(text), default=datetime.isoformat))


def check_file(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    (folder / "h.toml").write_text(text)
    code = cli.main(["clusters", "check", "--file", str(folder / "h.toml")])
    return code, *capsys.readouterr()


def test_docs_example_is_listed_by_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, listing, errors = check_file(tmp_path, EXAMPLE, capsys)
    assert (code, errors) == (0, "")
    assert "  orders: /var/log/kafka/orders into /srv/lake, labelled prod\n" in listing
    assert "  payments: s3a://logs/payments into s3a://lakes/payments\n" in listing
    assert "  alerts pager: page of critical, to hindsight_alerts_pager or HINDSIGHT_ALERTS_PAGER\n" in listing
    assert [error for text in (EXAMPLE, MANY) for error in SCHEMA.iter_errors(toml_as_json(text))] == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('lake = "/srv/lake"', 'lakes = "/srv/lake"'),
        ('name = "orders"', 'name = "a/b"'),
        ('labels = ["prod"]', 'labels = "prod"'),
        ('logs_tz = "Europe/Berlin"', 'log_tz = "Europe/Berlin"'),
        ('severities = ["critical"]', "severities = []"),
        ('severities = ["critical"]', 'severities = ["grave"]'),
        ('name = "pager"', 'name = "Pager"'),
        ('name = "pager"', 'name = "pager"\nurl = "json://x"'),
        ('groups = ["pay-*"]', 'groups = "pay-*"'),
    ],
)
def test_schema_and_check_refuse_same_files(
    right: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert right in EXAMPLE
    text = EXAMPLE.replace(right, wrong, 1)
    assert list(SCHEMA.iter_errors(toml_as_json(text)))
    code, _, errors = check_file(tmp_path, text, capsys)
    assert code == 2
    assert "Needed: " in errors


def test_problems_of_clusters_and_alerts_are_reported_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "[[clusters]]\nname = 'a'\nlogs = 'x'\nlog_tz = 'UTC'\n[[alerts.receivers]]\nname = 'x'\n"
    code, _, errors = check_file(tmp_path, text, capsys)
    assert code == 2
    assert "clusters.a.log_tz is not known" in errors
    assert "h.toml: receivers.x.severities is not set. Needed: the severities" in errors


def test_check_without_file_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    assert cli.main(["clusters", "check"]) == 2
    assert "There is no hindsight.toml. Needed: " in capsys.readouterr().err


def test_printed_schema_equals_docs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["clusters", "schema"]) == 0
    assert capsys.readouterr().out == (HOME / "docs" / clusters_file.SCHEMA_PAGE).read_text(encoding="utf-8")
