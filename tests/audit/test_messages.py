"""The messages of the recorded night: as docs/messages.md prints them, and as a real Alertmanager takes them."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from kafka_hindsight.alerts.alert_model import Sighting, read_ledger, write_ledger
from kafka_hindsight.alerts.delivery import sightings_in
from kafka_hindsight.alerts.ledger import OLDEST, record
from kafka_hindsight.alerts.sightings import FORMER_NIGHTS
from kafka_hindsight.audit.audit_run import judge
from kafka_hindsight.cli import alert
from kafka_hindsight.settings.home import FILE_VARIABLE, HOME
from kafka_hindsight.shared.exits import DONE
from kafka_hindsight.sql.alert_rows import read_alert_rows
from tests.stack.standalone import until
from tests.support.logs import unpack_night
from tests.support.receivers import Box, webhook

FENCES = re.findall(
    r"^```(\w+)\n(.*?)^```$",
    (HOME / "docs" / "messages.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)
(SETTINGS,) = (text for language, text in FENCES if language == "toml")
LOST = "40 committed records were lost"
EVENING, MORNING = (datetime(2026, 11, 21, 2, minute, tzinfo=UTC) for minute in (40, 50))
SERVER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
"""Debian's package is prometheus-alertmanager."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = unpack_night(tmp_path_factory.mktemp("messages"))
    inputs = {"client_logs": str(folder / "clients"), "snapshots": str(folder / "snapshots.jsonl"), "cluster": "prod"}
    judge(folder / "logs", folder / "lake", **inputs)
    return str(folder / "lake")


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hindsight.toml").write_text(SETTINGS)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))


def text(message: dict[str, str]) -> str:
    return f"{message['title']}\n\n{message['message']}\n"


def written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def test_page_prints_each_message_as_it_is_sent(lake: str) -> None:
    with webhook() as pager, webhook() as chat, webhook() as tickets, webhook() as manager:
        environment = {
            "HINDSIGHT_ALERTS_PAGER": f"json://127.0.0.1:{pager.port}",
            "HINDSIGHT_ALERTS_CHAT": f"json://127.0.0.1:{chat.port}",
            "HINDSIGHT_ALERTS_TICKETS": f"http://127.0.0.1:{tickets.port}",
            "HINDSIGHT_ALERTS_ALERTMANAGER": f"http://127.0.0.1:{manager.port}",
        }
        for at in (EVENING, MORNING):
            assert alert.run(alert.order_of(lake, environment, None, at)) == DONE
    assert len(pager.got) == 2, "one page for the brokers and their partitions, and one for a group"
    (page,) = (message for message in pager.got if LOST in message["title"])
    (digest,) = chat.got
    (document,) = (d for d in tickets.got if LOST in d["headline"])
    (posted,) = (a for a in manager.got[0] if LOST in a["annotations"]["summary"])
    assert [block for _, block in FENCES[1:]] == [
        text(page),
        text(digest),
        written(document),
        written([posted]),
    ]


def current(lake: str) -> list[Sighting]:
    """What the night shows, moved to this hour, since Alertmanager goes by its own clock."""
    since = EVENING - OLDEST
    rows = read_alert_rows(lake, since, since - FORMER_NIGHTS)
    shown, _, _ = sightings_in(rows, alert.order_of(lake, {}, None, EVENING))
    later = datetime.now(UTC) - EVENING
    times = ("night_from", "night_to", "began_at", "ended_at")
    return [replace(s, **{t: getattr(s, t) and getattr(s, t) + later for t in times}) for s in shown]


class Manager:
    """An Alertmanager that notifies a webhook, with groups of one alert each that wait for a second."""

    def __init__(self, folder: Path, box: Box) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        (folder / "alertmanager.yml").write_text(
            "route: {receiver: box, group_by: [fingerprint], group_wait: 1s, group_interval: 1s}\n"
            f"receivers: [{{name: box, webhook_configs: [{{url: 'http://127.0.0.1:{box.port}/'}}]}}]\n"
        )
        options = {
            "config.file": folder / "alertmanager.yml",
            "storage.path": folder / "data",
            "web.listen-address": self.url.removeprefix("http://"),
            "cluster.listen-address": "",
        }
        with (folder / "alertmanager.log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(SERVER), *(f"--{name}={value}" for name, value in options.items())], stderr=log
            )
        until(self.is_ready, "Alertmanager")

    def is_ready(self) -> bool:
        try:
            return requests.get(f"{self.url}/-/ready", timeout=5).ok
        except requests.ConnectionError:
            return False

    def active(self) -> dict[str, Any]:
        alerts = requests.get(f"{self.url}/api/v2/alerts", timeout=5).json()
        return {a["labels"]["fingerprint"]: a for a in alerts}

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


@pytest.fixture()
def box() -> Iterator[Box]:
    with webhook() as box:
        yield box


def notified(box: Box, status: str) -> set[str]:
    return {a["labels"]["fingerprint"] for m in box.got for a in m["alerts"] if a["status"] == status}


@pytest.mark.skipif(SERVER is None, reason="there is no Alertmanager: install the package prometheus-alertmanager")
def test_alertmanager_notifies_and_resolves_alerts_of_night_across_a_restart(
    lake: str, tmp_path: Path, box: Box
) -> None:
    place = str(tmp_path / "lake")
    now = datetime.now(UTC)
    sightings = [s for s in current(lake) if s.severity != "info"]
    write_ledger(place, record({}, sightings, now))
    manager = Manager(tmp_path, box)
    try:
        past = {name: (now - timedelta(hours=hours)).isoformat() for name, hours in (("startsAt", 2), ("endsAt", 1))}
        ended = [{"labels": {"fingerprint": "ended"}, **past}]
        assert requests.post(f"{manager.url}/api/v2/alerts", json=ended, timeout=5).ok
        send = {"HINDSIGHT_ALERTS_ALERTMANAGER": manager.url}
        assert alert.run(alert.order_of(place, send, None, now)) == DONE
        keys = {s.key for s in sightings}
        active = manager.active()
        assert active.keys() == keys
        (lost,) = (a for a in active.values() if a["labels"]["alertname"] == "HindsightRecordsLost")
        assert lost["annotations"]["summary"].startswith(LOST)
        assert lost["generatorURL"].startswith("https://airflow.example.org/hindsight/prod/")
        until(lambda: notified(box, "firing") == keys, "a notification of each, of what is over too")
        assert "ended" not in notified(box, "resolved"), "it says nothing of what has ended before it came"

        manager.stop()
        manager = Manager(tmp_path, box)
        assert manager.active() == {}, "it keeps no alerts"
        send = {"HINDSIGHT_ALERTS_ALERTMANAGER": manager.url}
        assert alert.run(alert.order_of(place, send, None, now)) == DONE
        going_on = {key for key, entry in read_ledger(place)[0].items() if not entry.ended_at}
        assert manager.active().keys() == going_on < keys

        write_ledger(place, {k: replace(e, ended_at=e.ended_at or now) for k, e in read_ledger(place)[0].items()})
        assert alert.run(alert.order_of(place, send, None, now + timedelta(minutes=1))) == DONE
        until(lambda: manager.active() == {}, "no active alert")
        until(lambda: notified(box, "resolved") == going_on, "a notification of each end")
        assert all(len(e.recovered) == 1 for e in read_ledger(place)[0].values())
    finally:
        manager.stop()
