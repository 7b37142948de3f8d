"""What is new in a source lands as files of whole records, each line once, also after a kill in the middle."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.knowledge.layouts import source_of
from kafka_hindsight.logs.files import LogPlace
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.settings.models import Settings, missing_inputs
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources import land as landing
from kafka_hindsight.sources.command import Commands, Progress
from kafka_hindsight.sources.declarations import KINDS, Batch, Line, Loss, Period, SourceFails, lines_in, source_at
from kafka_hindsight.sources.land import dated, land, log_of, ready
from tests.support.logs import RUN_AT, line, resigned, settings
from tests.support.sources import PERIOD, killed_and_read_again, landed

TRACE = "java.io.IOException: Connection reset\n\tat a.b.C.read(C.java:3)\n"
FAILED = line("Stopped", "01:44:30,000", "kafka.network.SocketServer") + TRACE


class Made:
    """A source of numbered lines of one log, one a batch."""

    def __init__(self, text: str, log: str = "broker-1/server.log") -> None:
        self.lines = [Line(log, each.encode()) for each in text.splitlines()]

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        for n in range(position or 0, len(self.lines)):
            yield Batch([self.lines[n]], n + 1)


def test_record_is_never_split_between_two_landings(tmp_path: Path) -> None:
    folder, text = tmp_path / "night", resigned(1) + FAILED + resigned(2, "01:44:31,000")
    for count in range(1, len(text.splitlines()) + 1):
        land(Made("\n".join(text.splitlines()[:count])), str(folder), PERIOD, to_end=False)
    files = sorted(folder.rglob("*.zst"))
    assert [f.name.partition("-")[2][:16] for f in files] == ["000000-000001.zs", "000000-000002.zs"]
    assert landed(folder)["broker-1/server.log"] == (resigned(1) + FAILED).splitlines()
    land(Made(text), str(folder), PERIOD, to_end=False)
    assert landed(folder)["broker-1/server.log"] == text.splitlines(), "a log that has rested is taken to its end"


def test_last_record_lands_where_reading_goes_to_the_end(tmp_path: Path) -> None:
    assert land(Made(FAILED), str(tmp_path / "night"), PERIOD, to_end=True) == (3, 0)
    assert landed(tmp_path / "night") == {"broker-1/server.log": FAILED.splitlines()}


def test_batches_hold_whole_records_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landing, "BATCH_BYTES", 2_000)
    text = "".join(FAILED.replace("30,000", f"30,{n:03d}") for n in range(100))
    land(Made(text), str(tmp_path / "night"), PERIOD, to_end=True)
    files = sorted((tmp_path / "night").rglob("*.zst"))
    assert len(files) > 5
    assert landed(tmp_path / "night")["broker-1/server.log"] == text.splitlines()
    for one in files:
        alone = tmp_path / one.stem
        (alone / "broker-1").mkdir(parents=True)
        one.rename(alone / "broker-1" / one.name)
        assert landed(alone)["broker-1/server.log"][0].startswith("[")


def test_files_left_by_a_killed_landing_are_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "night"
    land(Made(resigned(1)), str(folder), PERIOD, to_end=True)
    (left,) = folder.rglob("*.zst")
    (left.parent / left.name.replace("000001.zst", "000002.zst")).write_bytes(left.read_bytes())
    (left.parent / f".{left.name}.4711").write_bytes(b"half")
    land(Made(resigned(1) + resigned(2)), str(folder), PERIOD, to_end=True)
    assert landed(folder)["broker-1/server.log"] == (resigned(1) + resigned(2)).splitlines()
    assert not list(folder.rglob(".*"))


@given(st.text(max_size=40), st.integers(1, 9))
def test_any_log_name_becomes_a_safe_log_path(log: str, number: int) -> None:
    name = log_of(log)
    assert source_of(f"{name}.20261122-000000-{number:06d}.zst") == name
    assert all(part and part[0] not in "._" for part in name.split("/"))
    assert name.endswith(".log")


def test_log_name_is_kept_where_it_is_safe() -> None:
    assert log_of("broker-1/server.log") == "broker-1/server.log"
    assert log_of("broker-1/server.log.2026-11-21-03") == "broker-1/server.log"
    assert log_of("../../etc/passwd") == "etc/passwd.log"
    assert log_of("") == "unnamed.log"


printed = st.lists(st.integers(0, 6), max_size=20).map(sorted)


@given(printed, st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), max_size=6))
def test_entries_that_arrive_late_or_are_read_again_are_taken_once(
    instants: list[int], readings: list[tuple[int, int]]
) -> None:
    entries = [(_at(minute), Line(str(minute), b"%d %d" % (minute, n % 3))) for n, minute in enumerate(instants)]
    arrived, taken, position = list[tuple[str, Line]](), list[Line](), None
    for count, delayed in [*readings, (len(instants) + 1, 0)]:
        waiting = [e for e in entries if e not in arrived][: count + delayed]
        arrived = sorted([*arrived, *waiting[delayed:]])
        reading = Progress(json.loads(json.dumps(position)))
        new = list(reading.new(arrived, _at(0)))
        begin = position and position["at"]
        assert [line.is_late for line in new] == [bool(begin) and _at(int(line.log)) < begin for line in new]
        taken += new
        position = reading.position
    assert sorted(line.text for line in taken) == sorted(line.text for _, line in arrived)


def _at(minute: int) -> str:
    return f"2026-11-21T01:{minute:02d}:00.000000000"


def declared(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_text(text)
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(folder))


def printing(tmp_path: Path, lines: list[str]) -> str:
    """The file of a source with a command that prints lines from an instant on."""
    (tmp_path / "told.log").write_text("".join(f"{each}\n" for each in lines))
    script = tmp_path / "print.py"
    script.write_text(
        "import sys\nprint(end=''.join(text for text in open(sys.argv[1]) if text[:19] >= sys.argv[2][:19]))\n"
    )
    command = json.dumps([sys.executable, str(script), str(tmp_path / "told.log"), "{since}"])
    return f'kind = "command"\n[commands]\n"broker-1/server.log" = {command}\n'


STAMPED = [f"2026-11-21T01:44:{n // 3:02d}.117Z {resigned(n)}".rstrip() for n in range(120)]


def test_lines_printed_by_a_command_land_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lake" / "night"
    for count in (50, 50, 51, 53, 120):
        declared(tmp_path / "sources", "night", printing(tmp_path, STAMPED[:count]), monkeypatch)
        land(source_at("source://night"), str(folder), PERIOD, to_end=False)
    land(source_at("source://night"), str(folder), PERIOD, to_end=True)
    assert landed(folder) == {"broker-1/server.log": STAMPED}


def test_lines_that_come_hours_late_land_in_a_file_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, late = tmp_path / "lake" / "night", [f"2026-11-20T20:44:00.117Z {resigned(99)}".rstrip()]
    for lines in (STAMPED[:50], late + STAMPED[:60], late + STAMPED):
        declared(tmp_path / "sources", "night", printing(tmp_path, lines), monkeypatch)
        land(source_at("source://night"), str(folder), PERIOD, to_end=True)
    assert sorted(landed(folder)["broker-1/server.log"]) == sorted(late + STAMPED)
    of_files = [alone for file in sorted(folder.rglob("*.zst")) if (alone := unpacked(file)) == late]
    assert of_files == [late]


def unpacked(file: Path) -> list[str]:
    with pyarrow.CompressedInputStream(str(file), "zstd") as stream:
        return stream.read().decode().splitlines()


def test_line_later_than_asked_for_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lake" / "night"
    for lines in (STAMPED[:50], [f"2026-11-20T19:43:00Z {resigned(1)}".rstrip(), *STAMPED[:50]]):
        source = Commands({"broker-1/server.log": [sys.executable, "-c", f"print({chr(10).join(lines)!r})"]})
        land(source, str(folder), PERIOD, to_end=True)
    assert landed(folder) == {"broker-1/server.log": STAMPED[:50]}


def test_command_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time; subprocess.Popen(['sleep', '600']); print('2026-11-21T01:44:29Z a', flush=True)"
    )
    source = Commands({"a.log": [sys.executable, "-c", f"{script}; time.sleep(600)"]}, most_minutes=0.05)
    with pytest.raises(
        SourceFails, match=r"The command for a\.log was ended after 0\.05 minutes\. Needed: one that ends"
    ):
        land(source, str(tmp_path / "night"), PERIOD, to_end=True)


@pytest.mark.parametrize("limits", [{"late_hours": -1}, {"most_minutes": 0}])
def test_limits_that_cannot_be_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"Needed: 0 or more hours, and more than 0 minutes"):
        Commands({"a.log": ["true"]}, **limits)


class Losing:
    """A source that has lost lines, and gives none."""

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        yield Batch([], 1, [Loss("logs-0", 7, "Retention removed 7 offsets.")])


def test_losses_of_a_source_are_kept_with_the_time_between_two_readings(tmp_path: Path) -> None:
    place = LogPlace("source://night", "broker", "UTC", "LOGS")
    folder = landing.landed_folder(str(tmp_path), place)
    assert landing.losses_in(str(tmp_path), place) == ()
    land(Made(resigned(1)), folder, PERIOD, to_end=True)
    later = PERIOD._replace(until=PERIOD.until + timedelta(hours=1))
    land(Losing(), folder, later, to_end=True)
    (loss,) = landing.losses_in(str(tmp_path), place)
    assert loss == {
        "log": "logs-0",
        "size": 7,
        "sentence": "Retention removed 7 offsets.",
        "since": PERIOD.until.isoformat(),
        "until": later.until.isoformat(),
    }
    land(Made(resigned(1)), folder, PERIOD._replace(until=PERIOD.until + timedelta(days=60)), to_end=True)
    assert landing.losses_in(str(tmp_path), place) == []
    assert landing.losses_in(str(tmp_path), LogPlace("logs", "broker", "UTC", "LOGS")) == ()


def test_stack_trace_without_timestamps_stays_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"2026-11-21T02:44:30.5+01:00 {FAILED}".rstrip("\n"), f"2026-11-21T01:44:31Z {resigned(1)}".rstrip("\n")]
    lines_and_trace = "\n".join(lines).split("\n")
    for count in range(1, len(lines_and_trace) + 1):
        (tmp_path / "told.log").write_text("".join(f"{text}\n" for text in lines_and_trace[:count]))
        command = [sys.executable, "-c", f"print(end=open({str(tmp_path / 'told.log')!r}).read())"]
        declared(tmp_path, "night", f'kind = "command"\ncommands = {{"a.log" = {json.dumps(command)}}}', monkeypatch)
        land(source_at("source://night"), str(tmp_path / "lake"), PERIOD, to_end=False)
    land(source_at("source://night"), str(tmp_path / "lake"), PERIOD, to_end=True)
    assert landed(tmp_path / "lake") == {"a.log": lines_and_trace}


def test_killed_landing_resumes_without_loss_or_repeats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [each.replace("01:44", f"{n // 60:02d}:{n % 60:02d}") for n in range(60) for each in STAMPED]
    declared(tmp_path / "sources", "night", printing(tmp_path, many), monkeypatch)
    folder = tmp_path / "lake" / "night"
    assert killed_and_read_again("source://night", folder, tmp_path / "sources", kills=2) >= 1
    assert landed(folder) == {"broker-1/server.log": many}
    assert len(list(folder.rglob("*.zst"))) > 5


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        (["/nowhere/kubectl"], BadInput, "cannot be started"),
        ([sys.executable, "-c", "print('no instant')"], BadInput, "Add --timestamps"),
        ([sys.executable, "-c", "raise SystemExit(3)"], SourceFails, "ended with code 3"),
    ],
)
def test_failing_command_is_refused_with_its_reason(
    command: list[str], error: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared(tmp_path, "night", f'kind = "command"\ncommands = {{"a.log" = {json.dumps(command)}}}', monkeypatch)
    with pytest.raises(error, match=message):
        land(source_at("source://night"), str(tmp_path / "night"), PERIOD, to_end=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "ftp"', "kind = one of .*command, kafka"),
        ("kind = ", "it is not TOML"),
        ('kind = "command"\npassword = "s3cret"', "no commands, an unknown password"),
        ('kind = "command"\ncommands = "ls"', "a wrong commands"),
        ('kind = "command"\ncommands = {"a.log" = "ls"}', "for each log a list"),
    ],
)
def test_invalid_source_file_is_refused_with_its_reason(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared(tmp_path, "night", text, monkeypatch)
    with pytest.raises(BadInput, match=message) as refused:
        source_at("source://night")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "../hosts", "a/b", "nowhere"])
def test_source_without_a_file_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared(tmp_path, "night", 'kind = "command"', monkeypatch)
    with pytest.raises(BadInput, match="Needed: "):
        source_at(f"source://{name}")


@pytest.mark.parametrize(
    ("value", "log"),
    [
        (b'{"host": {"name": "h"}, "log": {"file": {"path": "/v/server.log"}}}', "h//v/server.log"),
        (b'{"labels": {"pod": "kafka-0"}, "line": "x"}', "key"),
        (b'{"labels": {"pod": "kafka-0", "container": "kafka"}}', "kafka-0/kafka"),
        (b'{"kubernetes.pod.name": "k-0", "kubernetes": {"container": {"name": "kafka"}}}', "k-0/kafka"),
        (b'{"message": "x"}', "key"),
        (b"plain", "key"),
    ],
)
def test_log_of_a_kafka_record_comes_from_its_value_or_key(value: bytes, log: str) -> None:
    assert lines_in(value, "key") == [Line(log, value)]


def night(logs: str, **inputs: Any) -> Settings:
    return Settings.of({"logs": logs, "lake": "/lake", "run_id": "run", "run_at": RUN_AT, **inputs})


def folders(logs: str, **inputs: Any) -> tuple[str, ...]:
    return dated(LogPlace(logs, "broker", "UTC", "LOGS"), night(logs, **inputs))


def test_date_placeholders_cover_window_look_back_and_look_ahead() -> None:
    window = {"window_from": "2026-11-20T00:00Z", "window_to": "2026-11-21T00:00Z"}
    assert folders("s3a://logs/{date}/kafka", **window) == tuple(f"s3a://logs/2026-11-{d}/kafka" for d in (19, 20, 21))
    assert folders("/logs/{date:%Y/%m/%d}", **window)[0] == "/logs/2026/11/19"
    hours = folders("/logs/{date}/{hour}", **window, look_back_hours=1, look_ahead_hours=1)
    assert (hours[0], hours[-1], len(hours)) == ("/logs/2026-11-19/23", "/logs/2026-11-21/01", 27)


def test_run_without_a_window_reads_the_last_two_dates() -> None:
    assert folders("/logs/{date}") == ("/logs/2026-11-21", "/logs/2026-11-22")


def test_date_placeholder_with_read_to_end_needs_a_window() -> None:
    with pytest.raises(BadInput, match="Set FROM and TO"):
        folders("/logs/{date}", read_to_end=True)


def test_place_without_date_placeholder_is_unchanged(tmp_path: Path) -> None:
    place = LogPlace(str(tmp_path), "broker", "UTC", "LOGS")
    assert ready(place, settings(tmp_path, tmp_path)) == place


def test_sources_and_dated_places_are_not_missing_inputs() -> None:
    assert missing_inputs(night("source://night", client_logs="/nowhere/{date}")) == []
    assert len(missing_inputs(night("/nowhere/logs"))) == 1


PAGE = (HOME / "docs" / "sources.md").read_text()
EXAMPLES = re.findall(r"<!-- example: source -->\n```toml\n(.+?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", EXAMPLES, ids=lambda text: text.split('"')[1])
def test_each_example_of_the_sources_page_declares_a_source(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared(tmp_path, "example", text, monkeypatch)
    assert callable(source_at("source://example").new)


def test_sources_page_shows_every_kind() -> None:
    assert all(f'"{kind}"' in PAGE for kind in KINDS)
