"""`hindsight alert` over real tables, to a mail server and a webhook that really listen, down and up again."""

from __future__ import annotations

import io
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema  # comes with check-jsonschema
import pytest
from apprise.plugins import opsgenie, pagerduty
from apprise.plugins.email.base import NotifyEmail

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.cli import alert
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.lock import hold_lock
from kafka_hindsight.settings.home import FILE_VARIABLE, HOME
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput
from kafka_hindsight.shared.page_names import page_name
from kafka_hindsight.sql.lake_views import open_views
from tests.support.lake import write_lake
from tests.support.receivers import Box, mail_server, pagers, webhook
from tests.support.rows import AT, values
from tests.unit.alerts.test_alerts import EVENT

pytestmark = pytest.mark.long

DAY = timedelta(days=1)
FROM, TO = AT - timedelta(hours=3), AT + timedelta(hours=21)
NOW = TO + timedelta(hours=2)
SECRET = "s3cret"
SETTINGS = """
[alerts]
link = "https://airflow.example.org/hindsight/{cluster}/{page}"
receivers = [
    {name = "pager", kind = "page", severities = ["critical"]},
    {name = "mail", kind = "page", severities = ["critical", "warning"]},
]
"""
FAILED = {**EVENT, "at": NOW.isoformat(), "from": FROM.isoformat(), "to": TO.isoformat()}
FAILED_TITLE = "[critical] prod: The task failed"
NIGHT_TITLES = [f"[critical] prod: It is {group}" for group in ("orders", "pay")]


@pytest.fixture(autouse=True)
def no_request_delay(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """A night: three critical findings, one of them declared; a warning; one expectation that warned."""
    (tmp_path / "hindsight.toml").write_text(SETTINGS)
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    window = {"cluster": "prod", "window_from": FROM, "window_to": TO}
    tables: dict[str, list[dict[str, Any]]] = {
        "gold.findings": [
            finding("a", subject="orders"),
            finding("b", subject="pay"),
            finding("d", subject="deployed"),
            finding("e", subject="orders", rule_id="rebalances_frequent", severity="warning"),
        ],
        "gold.incidents": [
            {
                "intent": "declared",
                "harm": "routine",
                "group_ids": ["deployed"],
                "started_at": AT,
                "ended_at": AT + timedelta(hours=1),
            }
        ],
        "gold.broker_outages": [{"broker": 1}],
        "quality.publications": [{**window, "table": "gold.findings"}],
        "quality.validation_results": [{**window, "severity": "warning", "success": False, "sentences": ["Odd rows."]}],
        "quality.coverage": [{**window, "lines_in": 1, "ignored": 1}],
    }
    rows = {n: [values(BY_NAME[n], **{"cluster": "prod", **r}) for r in given] for n, given in tables.items()}
    return str(write_lake(tmp_path / "lake", rows))


def finding(letter: str, **given: Any) -> dict[str, Any]:
    usual = {"finding_id": letter * 32, "rule_id": "rebalances_excessive", "severity": "critical"}
    return {**usual, "subject_kind": "group", "message": f"It is {given['subject']}.", "advice": "Do it.", **given}


def look(
    lake: str, pager: Box, mail: Box, now: Any = NOW, event: Any = None, code: int = DONE, of_mail: str = ""
) -> list[str]:
    urls = {
        "pager": f"json://u:{SECRET}@127.0.0.1:{pager.port}/hook?retry=0",
        "mail": of_mail or f"mailto://127.0.0.1:{mail.port}?from=night@example.org&to=ops@example.org&mode=insecure",
    }
    line = io.StringIO(json.dumps({"urls": urls, "event": event}) + "\n")
    with redirect_stdout(io.StringIO()) as output:
        assert alert.run(alert.order_of(lake, {}, line, now)) == code
    return output.getvalue().splitlines()


def subjects(mail: Box) -> list[str]:
    return sorted(line for got in mail.got for line in got.splitlines() if line.startswith("Subject:"))


def test_each_receiver_gets_its_alerts_once(lake: str, pager: Box, mail: Box) -> None:
    look(lake, pager, mail)
    assert titles(pager) == NIGHT_TITLES
    assert {page["type"] for page in pager.got} == {"failure"}
    place = f"https://airflow.example.org/hindsight/prod/{page_name('prod', FROM, TO)}"
    for group, letter in (("orders", "a"), ("pay", "b")):
        (page,) = [page for page in pager.got if page["title"].endswith(group)]
        assert page["message"].endswith(
            f"It is {group}.\nState: unknown.\n{place}#finding-{letter * 32}\nWhat to do: Do it."
        )
    assert [subject.partition("] ")[2] for subject in subjects(mail)] == [
        "prod: It is orders",
        "prod: It is pay",
        "prod: Odd rows",
    ]
    for _ in range(2):
        assert look(lake, pager, mail) == ["no alerts sent, none waiting for their receiver"]
    assert (len(pager.got), len(mail.got)) == (2, 3)


BOT = """
[alerts]
receivers = [
    {name = "bot", kind = "webhook", severities = ["critical"]},
    {name = "mail", kind = "digest", severities = ["critical", "warning"]},
]
"""


def test_webhook_documents_match_schema_and_mail_gets_one_digest(
    lake: str, pager: Box, mail: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(lake).parent / "hindsight.toml").write_text(BOT)
    schema = json.loads((HOME / "docs" / "webhook.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    urls = {
        "HINDSIGHT_ALERTS_BOT": f"http://:{SECRET}@127.0.0.1:{pager.port}/needs/Bearer%20wrong",
        "HINDSIGHT_ALERTS_MAIL": f"mailto://127.0.0.1:{mail.port}?from=a@example.org&to=b@example.org&mode=insecure",
    }
    assert alert.run(alert.order_of(lake, urls, None, NOW)) == DONE
    assert pager.got == []
    assert "orders: state unknown; sent to mail; not to bot: HTTP 401" in alert.ledger_text(lake, NOW)
    basic = b64encode(f"me:{SECRET}".encode()).decode()
    for user, needed in (("me", f"Basic%20{basic}"), ("", f"Bearer%20{SECRET}")):
        urls["HINDSIGHT_ALERTS_BOT"] = f"http://{user}:{SECRET}@127.0.0.1:{pager.port}/needs/{needed}"
        assert alert.run(alert.order_of(lake, urls, None, NOW)) == DONE
        Path(lake, "alerts/ledger.jsonl").unlink()
    for document in pager.got:
        jsonschema.validate(document, schema)
    assert [d["headline"] for d in pager.got] == [f"It is {g}" for g in ("orders", "pay")] * 2
    assert subjects(mail)[0] == "Subject: [critical] prod: It is orders, and 3 more"
    assert len(mail.got) == 2
    assert SECRET not in "".join(capsys.readouterr())


@pytest.mark.parametrize("url", ["ftp://x", "https://", "http://[", "x"])
def test_webhook_without_http_address_is_refused_without_its_url(
    lake: str, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(lake).parent / "hindsight.toml").write_text(BOT)
    assert alert.run(alert.order_of(lake, {"HINDSIGHT_ALERTS_BOT": url}, None, NOW)) == BAD_INPUT
    assert "The URL of receiver bot cannot be used. Needed: http://" in capsys.readouterr().err


def test_alerts_and_owners_are_rows_of_sql(lake: str, pager: Box, mail: Box) -> None:
    pager.close()
    (Path(lake).parent / "hindsight.toml").write_text(SETTINGS + '[[alerts.owners]]\nname = "pay"\ngroups = ["pa*"]\n')
    look(lake, pager, mail)
    views = open_views(lake)
    asked = "SELECT subject, receiver, sent_at, not_sent_because FROM now.alerts WHERE severity = 'critical'"
    reason = "it did not accept the message"
    assert sorted(views.execute(asked).fetchall(), key=str) == [
        ("deployed", None, None, "declared"),
        ("orders", "mail", NOW, None),
        ("orders", "pager", None, reason),
        ("pay", "mail", NOW, None),
        ("pay", "pager", None, reason),
    ]
    assert views.execute("FROM now.owners").fetchall() == [("pay", "group", "pa*")]
    owned = (
        "SELECT DISTINCT subject FROM now.alerts AS a JOIN now.owners AS o ON list_any_value(a.group_ids) GLOB pattern"
    )
    assert views.execute(owned).fetchall() == [("pay",)]


@pytest.fixture()
def board(monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    """Where Apprise's own plugins for PagerDuty and Opsgenie send to."""
    with pagers() as box:
        for plugin, addresses in ((pagerduty, "PAGERDUTY_API_LOOKUP"), (opsgenie, "OPSGENIE_API_LOOKUP")):
            monkeypatch.setitem(getattr(plugin, addresses), "us", f"http://127.0.0.1:{box.port}/{plugin.__name__[-8:]}")
        for plugin in (pagerduty.NotifyPagerDuty, opsgenie.NotifyOpsgenie):
            monkeypatch.setattr(plugin, "request_rate_per_sec", 0)
        yield box


def look_at_night(lake: str, number: int, findings: list[dict[str, Any]], url: str) -> None:
    """A run of its own after the n-th night, which shows these findings: all else that it knows is in the lake."""
    later = number * DAY
    window = {"cluster": "prod", "window_from": FROM + later, "window_to": TO + later, "table": "gold.findings"}
    rows = {
        "gold.findings": [{**f, "first_at": AT + later, "last_at": AT + later} for f in findings],
        "quality.publications": [window],
    }
    for layer in ("gold", "quality"):
        shutil.rmtree(Path(lake, layer), ignore_errors=True)
    write_lake(Path(lake), {n: [values(BY_NAME[n], **{"cluster": "prod", **r}) for r in g] for n, g in rows.items()})
    assert alert.run(alert.order_of(lake, {"HINDSIGHT_ALERTS_PAGER": url}, None, NOW + later)) == DONE


@pytest.mark.parametrize("url", ["pagerduty://key@token?action=map&image=no", f"opsgenie://{'a' * 36}?action=map"])
def test_pager_resolves_finding_absent_from_later_night(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: Box, url: str
) -> None:
    (tmp_path / "hindsight.toml").write_text(
        '[alerts]\nreceivers = [{name = "pager", kind = "page", severities = ["critical"]}]\n'
    )
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "hindsight.toml"))
    lake = str(tmp_path / "lake")
    for number, shown in enumerate((["a-0"], ["a-0"], [])):
        look_at_night(lake, number, [finding(s[0], subject=s, rule_id="records_truncated") for s in shown], url)
        assert len(board.got) == (1, 1, 2)[number]
    (_, opened), (path, closed) = board.got
    if "pagerduty" in url:
        assert (opened["event_action"], closed["event_action"]) == ("trigger", "resolve")
        assert opened["dedup_key"] == closed["dedup_key"]
    else:
        assert opened["message"] == "[critical] prod: It is a-0"
        assert path.endswith("/request-1/close")


def test_table_without_commit_holds_back_no_alert(lake: str, pager: Box, mail: Box) -> None:
    Path(lake, "gold/partition_stalls/_delta_log").mkdir(parents=True)
    look(lake, pager, mail)
    assert (len(pager.got), len(mail.got)) == (2, 3)


def test_receiver_gets_missed_alerts_once_when_back(lake: str, pager: Box, mail: Box) -> None:
    pager.close()
    assert look(lake, pager, mail) == ["4 alerts sent, 2 waiting for their receiver"]
    assert look(lake, pager, mail) == ["no alerts sent, 2 waiting for their receiver"]
    pager.open()
    late = NOW + 5 * DAY
    assert look(lake, pager, mail, late) == ["2 alerts sent, none waiting for their receiver"]
    look(lake, pager, mail, late)
    assert (len(pager.got), len(mail.got)) == (2, 3)


def test_scheduler_event_is_sent_once_without_lake(lake: str, tmp_path: Path, pager: Box, mail: Box) -> None:
    for _ in range(2):
        look(str(tmp_path / "none"), pager, mail, event=FAILED)
    assert [got["title"] for got in pager.got] == [FAILED_TITLE]


def test_receiver_urls_are_not_printed_or_stored(
    lake: str, pager: Box, mail: Box, capfd: pytest.CaptureFixture[str]
) -> None:
    pager.close()
    look(lake, pager, mail)
    nonsense = {"HINDSIGHT_ALERTS_PAGER": f"nonsense://{SECRET}@x"}
    assert alert.run(alert.order_of(lake, nonsense, None, NOW)) == BAD_INPUT
    out = capfd.readouterr()
    kept = "".join(p.read_text("latin-1") for p in Path(lake, "alerts").rglob("*") if p.is_file())
    assert "The URL of receiver pager cannot be used" in out.err
    assert SECRET not in kept + out.out + out.err


def test_alert_list_shows_receivers_and_declared_work(lake: str, pager: Box, mail: Box) -> None:
    pager.close()
    look(lake, pager, mail)
    listing = alert.ledger_text(lake, NOW)
    assert "orders: state unknown; sent to mail; not to pager: it did not accept the message\n" in listing
    assert "rebalances_excessive deployed: declared" in listing
    assert "rebalances_frequent orders: state unknown; sent to mail; not to pager: it is not critical" in listing


def test_alerts_without_receivers_wait_in_ledger(lake: str, pager: Box, mail: Box) -> None:
    alert.run(alert.order_of(lake, {}, None, NOW))
    missing = "it has no URL in HINDSIGHT_ALERTS_PAGER or hindsight_alerts_pager"
    assert f"orders: state unknown; sent to no receiver; not to pager: {missing}; not to mail: it has no URL" in (
        alert.ledger_text(lake, NOW)
    )
    look(lake, pager, mail)
    assert (len(pager.got), len(mail.got)) == (2, 3)


def test_alert_stdin_must_be_json_object(lake: str) -> None:
    for line in ("{", "[]"):
        with pytest.raises(BadInput, match="Stdin is not"):
            alert.order_of(lake, {}, io.StringIO(line), NOW)


def titles(pager: Box) -> list[str]:
    return sorted(got["title"] for got in pager.got)


def truncate(file: Path, by: int) -> None:
    file.write_bytes(file.read_bytes()[:-by])


def test_unusable_receiver_is_reported_to_other_receivers(
    lake: str, pager: Box, mail: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        look(lake, pager, mail, event=FAILED, code=BAD_INPUT, of_mail="mailtoo://x")
    assert "The URL of receiver mail cannot be used" in capsys.readouterr().err
    assert titles(pager) == [
        "[critical] every cluster: The URL of receiver mail cannot be used",
        *NIGHT_TITLES,
        FAILED_TITLE,
    ]
    look(lake, pager, mail, code=DONE)
    assert any("The task failed" in line for line in subjects(mail)), "what waits for it goes out when it is mended"


def damage(lake: str, what: str) -> None:
    if what == "a truncated commit":
        truncate(Path(lake, "gold/findings/_delta_log/00000000000000000000.json"), 40)
    else:
        next(Path(lake, "quality/coverage").glob("*.parquet")).unlink()


@pytest.mark.parametrize(
    ("what", "findings"),
    [("a truncated commit", []), ("a missing file", NIGHT_TITLES)],
)
def test_unreadable_lake_is_alerted_beside_event(
    lake: str, pager: Box, mail: Box, what: str, findings: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    damage(lake, what)
    for _ in range(2):
        look(lake, pager, mail, event=FAILED, code=FAULT)
    unread, *others = titles(pager)
    assert unread.startswith("[critical] every cluster: The lake ")
    assert others == sorted([FAILED_TITLE, *findings])
    reason = capsys.readouterr().err.partition(f"The lake {lake} could not be read, or not all of it: ")[2]
    assert re.match(r"The table gold.findings cannot be read: its commit 0 is cut short\. |IOError: ", reason)


def test_unreadable_lake_alert_recovers_once(lake: str, pager: Box, mail: Box) -> None:
    commit = Path(lake, "gold/findings/_delta_log/00000000000000000000.json")
    whole = commit.read_bytes()
    damage(lake, "a truncated commit")
    look(lake, pager, mail, code=FAULT)
    (title,) = titles(pager)
    pager.got.clear()
    look(lake, pager, mail, NOW + timedelta(minutes=1), code=FAULT)
    assert titles(pager) == []
    commit.write_bytes(whole)
    for minutes in (2, 3):
        look(lake, pager, mail, NOW + timedelta(minutes=minutes))
    recovered = next(got for got in pager.got if got["title"] == title)
    assert recovered["type"] == "success"
    assert titles(pager) == [title, *NIGHT_TITLES]
    at = f"{NOW + timedelta(minutes=2):%Y-%m-%d %H:%M}"
    assert recovered["message"].endswith(f"The evaluation at {at} UTC no longer shows it.")


def test_damaged_ledger_is_moved_aside_and_whole_lines_count(lake: str, pager: Box, mail: Box) -> None:
    look(lake, pager, mail)
    ledger = Path(lake, "alerts/ledger.jsonl")
    truncate(ledger, 40)
    damaged = ledger.read_bytes()
    pager.got.clear()
    assert (
        alert.ledger_text(lake, NOW).splitlines()[-1] == "The ledger has 1 damaged line. The next look moves it aside."
    )
    for _ in range(2):
        look(lake, pager, mail, event=FAILED)
    (aside,) = Path(lake, "alerts").glob("ledger-damaged-*.jsonl")
    assert aside.read_bytes() == damaged
    assert titles(pager) == ["[critical] every cluster: The ledger of alerts has 1 damaged line", FAILED_TITLE]


@pytest.mark.parametrize("damaged", [b"\xff\xfe\x00", b"[]\n", b'{"sighting": 1}\n', b'{"waiting": []'])
def test_alerts_are_sent_whatever_ledger_holds(lake: str, pager: Box, mail: Box, damaged: bytes) -> None:
    Path(lake, "alerts").mkdir()
    Path(lake, "alerts/ledger.jsonl").write_bytes(damaged)
    look(lake, pager, mail, event=FAILED)
    assert {FAILED_TITLE, *NIGHT_TITLES} < set(titles(pager))


def test_event_is_kept_in_ledger_before_settings_are_read(
    lake: str, pager: Box, mail: Box, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Path(lake).parent / "hindsight.toml"
    settings.write_text("[alerts]\nrotes = []\n")
    assert look(lake, pager, mail, event=FAILED, code=BAD_INPUT) == []
    assert capsys.readouterr().err.count("rotes") == 1, "it is kept: it is not sent past the ledger as well"
    kept, *problem = alert.ledger_text(lake, NOW).splitlines()
    assert kept == f"{TO:%Y-%m-%d} critical prod night_failed run 1: state ongoing; sent to no receiver"
    assert "rotes is not known" in problem[0]
    settings.write_text(SETTINGS)
    look(lake, pager, mail)
    assert FAILED_TITLE in titles(pager)


def test_event_is_sent_where_ledger_cannot_be_written(tmp_path: Path, lake: str, pager: Box, mail: Box) -> None:
    no_folder = tmp_path / "a file"
    no_folder.touch()
    output = look(str(no_folder), pager, mail, event=FAILED, code=BAD_INPUT)
    assert titles(pager) == [FAILED_TITLE]
    assert output == ["2 alerts sent, none lost: the ledger cannot be written"]


def test_event_is_sent_while_other_look_holds_lock(
    lake: str, pager: Box, mail: Box, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alert, "PATIENCE", timedelta(0))
    with hold_lock(lake, "alerts", "another"):
        look(lake, pager, mail, event=FAILED, code=FAULT)
    assert titles(pager) == [FAILED_TITLE]
    assert "is in use by run another" in capsys.readouterr().err


def test_look_without_event_fails_while_other_look_holds_lock(
    lake: str, pager: Box, mail: Box, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(alert, "PATIENCE", timedelta(0))
    with hold_lock(lake, "alerts", "another"):
        assert look(lake, pager, mail, code=FAULT) == []
    assert titles(pager) == []
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_recorded_event_waits_for_next_look_when_disk_fills(
    lake: str, pager: Box, mail: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = landing.write_atomically, 0

    def is_full_after_once(*given: Any) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise OSError("No space left on device")
        write(*given)

    with monkeypatch.context() as full:
        full.setattr(landing, "write_atomically", is_full_after_once)
        look(lake, pager, mail, event=FAILED, code=FAULT)
    assert titles(pager) == []
    look(lake, pager, mail)
    assert titles(pager).count(FAILED_TITLE) == 1
