"""Owners of clusters, groups and topics: from the file of clusters to the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_hindsight.report.blocks import Fact, Item
from kafka_hindsight.settings.alerts import owners as owners_of
from kafka_hindsight.settings.home import FILE_VARIABLE
from kafka_hindsight.settings.models import Settings
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_night import night
from tests.support.rows import AT


def test_run_gets_owners_of_a_valid_file_and_none_of_an_invalid_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hindsight.toml"
    assert owners_of() == []
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    file.write_text(
        '[[clusters]]\nname = "prod"\n[[alerts.owners]]\nname = "pay"\nclusters = ["prod"]\ngroups = ["pay-*"]\n'
    )
    (owner,) = owners_of()
    assert owner == {"name": "pay", "clusters": ["prod"], "groups": ["pay-*"], "topics": []}
    wanted = {"logs": "/logs", "lake": "/lake", "run_id": "r", "run_at": AT, "owners": [owner]}
    assert Settings.of(json.loads(Settings.of(wanted).to_json())).owners == [owner]
    file.write_text("[alerts]\nrotes = []\n")
    assert owners_of() == []


def test_page_names_owners_of_each_incident_and_finding() -> None:
    tables, about = night()
    owners = [
        {"name": "ops", "clusters": ["prod-*"]},
        {"name": "data", "topics": ["risky.*"]},
        {"name": "ads", "groups": ["ads-*"]},
        {"name": "lab", "clusters": ["lab"], "groups": ["lab-*"]},
    ]
    page = build_report(tables, about | {"owners": owners})
    facts = {
        view.title[:30]: [seen.text(f.value) for f in seen.found(Fact, view.sections) if f.label.startswith("Owner")]
        for view in page.views
        if view.name.startswith("incident-")
    }
    assert facts["40 to 52 committed records wer"] == ["ops and data"]
    assert facts["Broker 3 was out of sync in 12"] == ["ops"]
    assert facts["Group ads-etl rebalanced 14 ti"] == ["ops and ads"]
    gravest = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert gravest[0].endswith("replay them. Owners: ops and data.")
    findings = [seen.text(item.words) for item in seen.found(Item, seen.section(page, "findings"))]
    assert [text.rpartition(": ")[2] for text in findings] == [
        "ops and data" if "risky.raw" in text else "ops and ads" if "ads-etl" in text else "ops" for text in findings
    ]
    assert [f for f in seen.found(Fact, build_report(*night()).views) if f.label.startswith("Owner")] == []
