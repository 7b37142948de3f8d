"""`hindsight alert` over real tables, to a mail server and a webhook that really listen, down and up again."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from apprise.plugins.email.base import NotifyEmail

from spark_jobs.catalog import BY_NAME
from spark_jobs.commands import alert
from spark_jobs.report.places import page_name
from spark_jobs.shared.clusters import FILE_VARIABLE
from spark_jobs.shared.exits import DONE, BadInput
from tests.support.lake import write_lake
from tests.support.receivers import Box, mail_server, webhook
from tests.support.rows import AT, row
from tests.unit.test_alerts import EVENT

DAY = timedelta(days=1)
FROM, TO = AT - timedelta(hours=3), AT + timedelta(hours=21)
NOW = TO + timedelta(hours=2)
SECRET = "s3cret"
ROUTES = """
[alerts]
link = "https://airflow.example.org/hindsight/{cluster}/{page}"
routes = [{name = "pager", severities = ["critical"]}, {name = "mail", severities = ["critical", "warning"]}]
mutes = [{group = "known", until = 2030-01-01T00:00:00Z, why = "ticket 7"}]
"""


@pytest.fixture(autouse=True)
def no_manners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apprise lets seconds pass between two messages to one receiver; ours does not mind."""
    monkeypatch.setattr(NotifyEmail, "request_rate_per_sec", 0)


@pytest.fixture()
def pager() -> Iterator[Box]:
    with webhook() as box:
        yield box


@pytest.fixture()
def mail() -> Iterator[Box]:
    with mail_server() as box:
        yield box


@pytest.fixture()
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A night: two critical findings, one muted, one planned, one a warning; one expectation that warned."""
    (tmp_path / "hindsight.toml").write_text(ROUTES)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    window = {"cluster": "prod", "window_from": FROM, "window_to": TO}
    tables: dict[str, list[dict[str, Any]]] = {
        "gold.findings": [
            finding("a", subject="orders"),
            finding("b", subject="pay"),
            finding("c", subject="known"),
            finding("d", subject="deployed"),
            finding("e", subject="orders", rule_id="rebalances_frequent", severity="warning"),
        ],
        "gold.incidents": [
            {"planned": True, "group_ids": ["deployed"], "started_at": AT, "ended_at": AT + timedelta(hours=1)}
        ],
        "gold.broker_outages": [{"planned": False, "broker": 1}],
        "quality.publications": [{**window, "table": "gold.findings"}],
        "quality.validation_results": [{**window, "severity": "warning", "success": False, "sentences": ["Odd rows."]}],
        "quality.coverage": [{**window, "lines_in": 1, "ignored": 1}],
    }
    rows = {n: [row(BY_NAME[n], **{"cluster": "prod", **r}) for r in given] for n, given in tables.items()}
    return str(write_lake(tmp_path / "lake", rows))


def finding(letter: str, **given: Any) -> dict[str, Any]:
    usual = {"finding_id": letter * 32, "rule_id": "rebalances_excessive", "severity": "critical"}
    return {**usual, "subject_kind": "group", "message": f"It is {given['subject']}.", "advice": "Do it.", **given}


def look(lake: str, pager: Box, mail: Box, now: Any = NOW, event: Any = None) -> list[str]:
    urls = {
        "pager": f"json://u:{SECRET}@127.0.0.1:{pager.port}/hook?retry=0",
        "mail": f"mailto://127.0.0.1:{mail.port}?from=night@example.org&to=ops@example.org&mode=insecure",
    }
    said: list[str] = []
    line = io.StringIO(json.dumps({"urls": urls, "event": event}) + "\n")
    assert alert.run(alert.order_of(lake, {}, line, now), said.append) == DONE
    return said


def subjects(mail: Box) -> list[str]:
    return sorted(line for got in mail.got for line in got.splitlines() if line.startswith("Subject:"))


def test_each_route_gets_what_it_should_once(lake: str, pager: Box, mail: Box) -> None:
    look(lake, pager, mail)
    (page,) = pager.got
    assert page["title"] == "[critical] prod: rebalances excessive: 2 groups"
    assert page["type"] == "failure"
    place = f"https://airflow.example.org/hindsight/prod/{page_name('prod', FROM, TO)}"
    assert all(f"It is {g}.\n{place}#finding-{i * 32}" in page["message"] for g, i in (("orders", "a"), ("pay", "b")))
    assert page["message"].endswith("What to do: Do it.")
    assert "known" not in page["message"] and "deployed" not in page["message"]
    assert len(subjects(mail)) == 3
    for _ in range(2):
        assert look(lake, pager, mail) == ["0 messages went out, 0 wait for their receiver"]
    assert (len(pager.got), len(mail.got)) == (1, 3)


def test_a_table_whose_creation_was_cut_short_keeps_nothing_back(lake: str, pager: Box, mail: Box) -> None:
    Path(lake, "gold/lag_verdicts/_delta_log").mkdir(parents=True)
    look(lake, pager, mail)
    assert (len(pager.got), len(mail.got)) == (1, 3)


def test_what_a_receiver_missed_goes_out_when_it_is_back_once(lake: str, pager: Box, mail: Box) -> None:
    pager.close()
    assert look(lake, pager, mail) == ["3 messages went out, 1 wait for their receiver"]
    assert look(lake, pager, mail) == ["0 messages went out, 1 wait for their receiver"]
    pager.open()
    late = NOW + 5 * DAY
    assert look(lake, pager, mail, late) == ["1 messages went out, 0 wait for their receiver"]
    look(lake, pager, mail, late)
    assert (len(pager.got), len(mail.got)) == (1, 3)


def test_an_event_of_the_scheduler_is_told_once_even_before_there_is_a_lake(
    lake: str, tmp_path: Path, pager: Box, mail: Box
) -> None:
    event = {**EVENT, "at": NOW.isoformat(), "from": FROM.isoformat(), "to": TO.isoformat()}
    for _ in range(2):
        look(str(tmp_path / "none"), pager, mail, event=event)
    assert [got["title"] for got in pager.got] == ["[critical] prod: night failed: run 1"]


def test_secrets_stay_where_they_came_from(lake: str, pager: Box, mail: Box, capfd: pytest.CaptureFixture[str]) -> None:
    pager.close()
    look(lake, pager, mail)
    with pytest.raises(BadInput) as problem:
        alert.run(alert.order_of(lake, {"HINDSIGHT_ALERTS_PAGER": f"nonsense://{SECRET}@x"}, None, NOW))
    out = capfd.readouterr()
    kept = "".join(p.read_text() for p in Path(lake, "alerts").iterdir())
    assert SECRET not in kept + out.out + out.err + str(problem.value)


def test_the_list_tells_what_was_told_what_waits_and_what_is_held(lake: str, pager: Box, mail: Box) -> None:
    pager.close()
    look(lake, pager, mail)
    told = "\n".join(alert.listed(lake))
    assert "rebalances_excessive orders: told mail, waits for pager" in told
    assert "rebalances_excessive known: muted until 2030-01-01T00:00:00+00:00: ticket 7" in told
    assert "rebalances_excessive deployed: planned" in told


def test_without_receivers_nobody_is_told_and_nothing_is_lost(lake: str, pager: Box, mail: Box) -> None:
    alert.run(alert.order_of(lake, {}, None, NOW))
    look(lake, pager, mail)
    assert (len(pager.got), len(mail.got)) == (1, 3)


def test_what_comes_on_stdin_must_be_an_object(lake: str) -> None:
    for line in ("{", "[]"):
        with pytest.raises(BadInput, match="on stdin is no JSON"):
            alert.order_of(lake, {}, io.StringIO(line))
