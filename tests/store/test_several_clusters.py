"""The logs of two clusters in one folder: an audit of each by the command line, and a page that leads to both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_hindsight.audit.audit_run import audit
from kafka_hindsight.audit.inputs import audit_settings
from kafka_hindsight.catalog.codes import Urgency
from tests.support.lake import rows
from tests.support.logs import lay, line, resigned

ONE, TWO = "f3uNJophT3a-MPvE-yXZqw", "Rqt9lwTLQL2PR91C5Z730w"


def named(cluster: str) -> str:
    return line(f"Cluster ID = {cluster}", "01:40:00,829", "kafka.server.KafkaServer")


def test_each_cluster_is_audited_and_index_links_to_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_one = named(ONE) + resigned(3) + resigned(4)
    logs = lay(tmp_path / "logs", {"eu/server.log": of_one, "us/server.log": named(TWO) + resigned(5, broker=2)})
    lake = tmp_path / "lake"
    assert audit(audit_settings({}, {"logs": str(logs), "lake": str(lake), "engine": "local"})) == 0
    output = capsys.readouterr().out
    assert f"The logs hold another cluster, {TWO}: 2 of 2" in output
    assert output.rstrip().endswith(f"The page of all 2 clusters: {lake}/report/index.html")
    nights = {n["cluster"]: n for n in rows(lake, "quality.nights")}
    assert {ONE, TWO} == nights.keys()
    page = (lake / "report" / "index.html").read_text(encoding="utf-8")
    links = dict(re.findall(r'<a href="([^"]+)">([^<]+)</a>', page))
    assert {n["page"]: cluster for cluster, n in nights.items()}.items() <= links.items()
    for cluster, night in nights.items():
        own = (lake / "report" / night["page"]).read_text(encoding="utf-8")
        assert f"<title>{cluster}, " in own and Urgency(night["state"]).noun.label in page
