"""What the steps of a log's clock mean: the order of the lines in the file decides, wherever the file is cut."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.clocks_apart import Finding, in_files
from kafka_hindsight.logs.reading import broker_of_folder
from tests.support.collected import Row, collected, passed
from tests.support.logs import lay

AT = datetime(2026, 11, 21, 1)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
MINUTES = [AT + n * SECOND for n in range(600)]
ENGINES = (LocalEngine(), LocalEngine(piece=9_001))

Written = list[datetime | str]


def broker(at: datetime, n: int) -> str:
    """A line of broker 1."""
    return (
        f"[{at:%Y-%m-%d %H:%M:%S},000] INFO [GroupCoordinator 1]: word {n} (kafka.coordinator.group.GroupCoordinator)"
    )


def zookeeper(at: datetime) -> str:
    """A line of ZooKeeper's server, which the quickstart lets write to the broker's file."""
    return f"[{at:%Y-%m-%d %H:%M:%S},000] INFO Expiring session 0x1 (org.apache.zookeeper.server.ZooKeeperServer)"


def write_log(root: Path, lines: Written) -> Path:
    texts = [line if isinstance(line, str) else broker(line, n) for n, line in enumerate(lines)]
    return lay(root, {"broker-1/server.log": "".join(f"{text}\n" for text in texts)})


def instants_in_file_order(rows: list[Row], lines: Written) -> list[datetime]:
    """The instants of the records, in the order of the file."""
    at = {row["text"]: row["happened_at"].replace(tzinfo=None) for row in rows}
    texts = [line if isinstance(line, str) else broker(line, n) for n, line in enumerate(lines)]
    return [at[text] for text in texts]


def findings(root: Path, zone: str = "UTC") -> list[Finding]:
    return in_files(list(passed(root, zone).facts.values()), broker_of_folder)


@pytest.mark.parametrize(
    "lines",
    [
        MINUTES,
        [*MINUTES[:500], MINUTES[500] - 4 * MINUTE, *MINUTES[500:]],
        [*MINUTES[:500], *(at - 2 * HOUR for at in MINUTES[:12]), *(at + 93 * MINUTE for at in MINUTES[500:])],
        [*MINUTES[:500], *map(zookeeper, MINUTES[100:160]), *MINUTES[500:]],
    ],
    ids=["lines in order", "a late line", "a suspended process", "another process"],
)
def test_late_lines_keep_instants_and_cause_no_clock_finding(tmp_path: Path, lines: Written) -> None:
    rows = collected(write_log(tmp_path, lines))
    read = [datetime.strptime(r["text"][1:20], "%Y-%m-%d %H:%M:%S") for r in rows]
    assert [r["happened_at"].replace(tzinfo=None) for r in rows] == read
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    "damaged",
    [{"year": 2926}, {"year": 2006}, {"month": 10}, {"hour": 5}],
    ids=["a year ahead", "a year behind", "a month behind", "an hour ahead"],
)
@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
def test_garbled_instant_is_ordered_by_file_and_moves_no_clock(
    tmp_path: Path, damaged: dict[str, int], engine: LocalEngine
) -> None:
    lines: Written = [*MINUTES[:300], MINUTES[300].replace(**damaged), *MINUTES[301:]]
    rows = collected(write_log(tmp_path, lines), engine=engine)
    assert instants_in_file_order(rows, lines) == [*MINUTES[:300], MINUTES[299], *MINUTES[301:]]
    ((error, sentence),) = findings(tmp_path)
    assert (error.meaning, error.ordered_at) == ("garbled", None)
    assert "1 instant in broker-1/server.log cannot be" in sentence
    assert broker(lines[300], 300) in sentence  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
def test_clock_set_back_keeps_order_of_file(tmp_path: Path, engine: LocalEngine) -> None:
    back = 5 * MINUTE
    lines: Written = [*MINUTES[:400], *(at - back for at in MINUTES[400:]), *(at + back for at in MINUTES)]
    rows = collected(write_log(tmp_path, lines), engine=engine)
    at = instants_in_file_order(rows, lines)
    assert at == sorted(at) and all(MINUTES[399] <= one < MINUTES[401] for one in at[400:600])
    assert at[:400] == lines[:400] and at[700:] == lines[700:]
    assert [int(r["text"].partition("word ")[2].split()[0]) for r in rows] == [*range(len(lines))]
    ((error, sentence),) = findings(tmp_path)
    assert (error.meaning, error.brokers, error.by) == ("set_back", {1}, back - SECOND)
    assert sentence.startswith(
        "A clock was set back by 4 min 59 s, from 2026-11-21 01:06:39 to 01:01:40 in broker-1/server.log"
    )


def test_file_that_goes_back_by_hours_keeps_its_instants(tmp_path: Path) -> None:
    lines: Written = [*MINUTES, *(at - 5 * HOUR for at in MINUTES)]
    assert instants_in_file_order(collected(write_log(tmp_path, lines)), lines) == lines
    ((error, sentence),) = findings(tmp_path)
    assert (error.meaning, error.ordered_at) == ("set_back", None)
    assert "or several logs follow one another in a file" in sentence


BEFORE = [datetime(2026, 10, 25, 1, 30) + n * 10 * SECOND for n in range(540)]
AGAIN = [datetime(2026, 10, 25, 2) + n * 10 * SECOND for n in range(720)]
LATE = BEFORE[400] - 4 * MINUTE


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
def test_repeated_hour_is_read_by_file_order_where_zone_is_set(tmp_path: Path, engine: LocalEngine) -> None:
    """A line that is late by 4 min in its first time is not its second one."""
    lines: Written = [*BEFORE[:400], LATE, *BEFORE[400:], *AGAIN]
    rows = collected(write_log(tmp_path, lines), "Europe/Berlin", engine=engine)
    summer, winter = 2 * HOUR, HOUR
    first = [at - summer for at in BEFORE]
    assert instants_in_file_order(rows, lines) == [
        *first[:400],
        LATE - summer,
        *first[400:],
        *(at - winter for at in AGAIN),
    ]
    assert findings(tmp_path, "Europe/Berlin") == []


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
@pytest.mark.parametrize(
    ("day", "zone"),
    [
        (datetime(2026, 10, 25), "Europe/Berlin"),
        (datetime(2026, 11, 1) - HOUR, "America/New_York"),
        (datetime(2026, 4, 5) - HOUR, "Australia/Lord_Howe"),
    ],
)
def test_repeated_hour_without_zone_is_named_and_is_no_clock_step(
    tmp_path: Path, day: datetime, zone: str, engine: LocalEngine
) -> None:
    length = HOUR / 2 if zone == "Australia/Lord_Howe" else HOUR
    moved = day - datetime(2026, 10, 25)
    first, again = [at + moved for at in BEFORE], [at + moved + HOUR - length for at in AGAIN]
    lines: Written = [*first, *again]
    at = instants_in_file_order(collected(write_log(tmp_path, lines), engine=engine), lines)
    assert at == sorted(at) and at[: len(first)] == first
    ((error, sentence),) = findings(tmp_path)
    assert (error.meaning, error.by) == ("hour_repeated", length - 10 * SECOND)
    assert "when summer time ends" in sentence and f"such as LOGS_TZ={zone}" in sentence
    assert "set back" not in sentence


NIGHT = datetime(2026, 10, 25, 2)
"""When the hour that comes twice begins, in Berlin; an hour later it begins again."""


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
@pytest.mark.parametrize(
    "rolled",
    [30 * MINUTE, 61 * MINUTE, 95 * MINUTE],
    ids=["in first hour", "early in second hour", "late in second hour"],
)
def test_file_that_begins_in_repeated_hour_continues_previous_file(
    tmp_path: Path, rolled: timedelta, engine: LocalEngine
) -> None:
    """A log that is rolled by size, at some time after the hour began first."""
    since = [n * 20 * SECOND for n in range(-90, 540)]
    local = {after: NIGHT + after - (HOUR if after >= HOUR else timedelta()) for after in since}
    files = {
        "broker-1/server.log.1": [after for after in since if after < rolled],
        "broker-1/server.log": [after for after in since if after >= rolled],
    }
    lay(tmp_path, {name: "".join(f"{broker(local[a], since.index(a))}\n" for a in own) for name, own in files.items()})
    rows = collected(tmp_path, "Europe/Berlin", engine=engine)
    assert [row["happened_at"].replace(tzinfo=None) for row in rows] == [NIGHT - 2 * HOUR + after for after in since]
    assert findings(tmp_path, "Europe/Berlin") == []


def test_lone_file_that_begins_in_repeated_hour_is_uncertain(tmp_path: Path) -> None:
    lines: Written = [NIGHT + MINUTE + n * SECOND for n in range(60)]
    assert (
        instants_in_file_order(collected(write_log(tmp_path, lines), "Europe/Berlin"), lines)[0]
        == NIGHT + MINUTE - 2 * HOUR
    )
    ((error, sentence),) = findings(tmp_path, "Europe/Berlin")
    assert (error.brokers, error.by, error.ordered_at) == ({1}, HOUR, None)
    assert sentence.startswith("It is not known whether broker-1/server.log begin in the first or the second time")
    lines = [NIGHT - MINUTE, *lines]
    assert findings(write_log(tmp_path, lines), "Europe/Berlin") == []


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
@pytest.mark.parametrize(
    ("starts_after", "ahead", "instant"),
    [
        (3 * SECOND, HOUR, -HOUR),  # the second time
        (3 * SECOND, timedelta(), -2 * HOUR),  # the first time
        (3 * SECOND, 5 * HOUR, None),  # neither: the zone is not that of the clock
        (20 * MINUTE, HOUR, None),  # the lines long before it may be of the first time
        (70 * MINUTE, HOUR, None),  # after the hour
    ],
)
def test_start_time_of_process_decides_which_repeated_hour(
    tmp_path: Path, starts_after: timedelta, ahead: timedelta, instant: timedelta | None, engine: LocalEngine
) -> None:
    """A client of 4.1.2 that began at 2026-11-21 01:41:07.811 UTC wrote startTimeMs 1795225267811."""
    local = NIGHT + MINUTE + starts_after
    started = (local - 2 * HOUR + ahead).replace(tzinfo=UTC).timestamp()
    line = f"[{local:%F %T},000] INFO Kafka startTimeMs: {started:.0f}000 (org.apache.kafka.common.utils.AppInfoParser)"
    times = [NIGHT + MINUTE + n * SECOND for n in range(0, 1_500, 2)]
    lines: Written = [*(at for at in times if at < local), line, *(at for at in times if at >= local)]
    rows = collected(write_log(tmp_path, lines), "Europe/Berlin", engine=engine)
    assert instants_in_file_order(rows, lines)[0] == NIGHT + MINUTE + (instant or -2 * HOUR)
    assert len(findings(tmp_path, "Europe/Berlin")) == (instant is None)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("state-change.log.2", "state-change.log.1"),
        ("state-change.log.2026-10-25-00-58-14", "state-change.log.2026-10-25-01-01-50"),
        ("state-change.log.2026-10-25-01-01-50", "state-change.log"),
        ("state-change.log.1", "state-change.log"),
    ],
)
def test_rotation_names_decide_which_repeated_hour(tmp_path: Path, older: str, newer: str) -> None:
    """Both files lie within the hour: the newer one begins earlier by the clock, so it is of the second time."""
    files = {older: NIGHT + 50 * MINUTE, newer: NIGHT + MINUTE}
    lay(tmp_path, {f"broker-1/{name}": f"{broker(at, 0)}\n{broker(at, 1)}\n" for name, at in files.items()})
    rows = collected(tmp_path, "Europe/Berlin")
    assert {row["happened_at"].replace(tzinfo=None) for row in rows} == {
        NIGHT - 2 * HOUR + 50 * MINUTE,
        NIGHT - HOUR + MINUTE,
    }
    assert findings(tmp_path, "Europe/Berlin") == []


def test_unordered_rotation_names_leave_repeated_hour_open(tmp_path: Path) -> None:
    files = {"state-change.log.1": NIGHT + 50 * MINUTE, "state-change.log.2026-10-25": NIGHT + MINUTE}
    lay(tmp_path, {f"broker-1/{name}": f"{broker(at, 0)}\n{broker(at, 1)}\n" for name, at in files.items()})
    assert len([finding for finding in findings(tmp_path, "Europe/Berlin") if finding.sentence]) == 1
