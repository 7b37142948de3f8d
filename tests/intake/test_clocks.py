"""What the steps of a log's clock mean: the order of the lines in the file decides, wherever the file is cut."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.clocks_apart import WrongClock, in_files
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
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


def findings(root: Path, zone: str = "UTC") -> list[WrongClock]:
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
"""In Berlin the hour from 02:00 comes twice."""


LATE = BEFORE[400] - 4 * MINUTE


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
def test_repeated_hour_is_read_by_file_order_and_counted_where_zone_is_set(tmp_path: Path, engine: LocalEngine) -> None:
    """A line that is late by 4 min in its first time is not its second one."""
    lines: Written = [*BEFORE[:400], LATE, *BEFORE[400:], *AGAIN]
    rows = collected(write_log(tmp_path, lines), "Europe/Berlin", engine=engine)
    summer, winter = 2 * HOUR, HOUR
    first = [at - summer for at in BEFORE]
    second = [at - winter for at in AGAIN]
    assert instants_in_file_order(rows, lines) == [*first[:400], LATE - summer, *first[400:], *second]
    ((error, sentence),) = findings(tmp_path, "Europe/Berlin")
    assert (error.meaning, error.brokers, error.by) == ("hour_repeated", {1}, HOUR)
    assert error.repeated == tuple(at.replace(tzinfo=UTC) for at in (first[180], second[359]))
    assert sentence.startswith("721 records of broker-1/server.log have a local time that comes twice")


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
def test_file_of_one_of_the_two_times_is_read_as_of_the_first(tmp_path: Path, engine: LocalEngine) -> None:
    lines: Written = [AGAIN[0] - MINUTE, *AGAIN]
    rows = collected(write_log(tmp_path, lines), "Europe/Berlin", engine=engine)
    assert instants_in_file_order(rows, lines)[:2] == [AGAIN[0] - MINUTE - 2 * HOUR, AGAIN[0] - 2 * HOUR]
    ((error, sentence),) = findings(tmp_path, "Europe/Berlin")
    assert sentence.startswith("360 records of broker-1/server.log have a local time that comes twice")
    first, last = (one.replace(tzinfo=UTC) - 2 * HOUR for one in (AGAIN[0], AGAIN[359]))
    assert error.repeated == (first, last)


def test_verdict_on_a_line_of_the_repeated_hour_is_likely_at_most(tmp_path: Path) -> None:
    write_log(tmp_path, [AGAIN[0] - MINUTE, *AGAIN])
    ((error, _),) = findings(tmp_path, "Europe/Berlin")
    (own,) = error.sources
    last = AGAIN[359].replace(tzinfo=UTC) - 2 * HOUR
    quoted = {
        "in": [Quote(line_id="", source=own, happened_at=last, text="")],
        "after": [Quote(line_id="", source=own, happened_at=last + SECOND, text="")],
        "of another log": [Quote(line_id="", source="broker-2/server.log", happened_at=last, text="")],
    }
    assert {place: error.most(quotes) for place, quotes in quoted.items()} == {
        "in": "likely",
        "after": "certain",
        "of another log": "certain",
    }
    assert (error.is_wrong_at(last), error.is_wrong_at(last + SECOND)) == (True, False)
    assert ClockError.of(error.summary()) == error


@pytest.mark.parametrize("engine", ENGINES, ids=["whole", "in pieces"])
@pytest.mark.parametrize("length", [HOUR, HOUR / 2], ids=["Berlin", "Lord Howe"])
def test_repeated_hour_without_zone_keeps_order_of_file_as_a_clock_set_back(
    tmp_path: Path, length: timedelta, engine: LocalEngine
) -> None:
    again = [at + HOUR - length for at in AGAIN]
    lines: Written = [*BEFORE, *again]
    at = instants_in_file_order(collected(write_log(tmp_path, lines), engine=engine), lines)
    assert at == sorted(at) and at[: len(BEFORE)] == BEFORE
    ((error, sentence),) = findings(tmp_path)
    assert (error.meaning, error.by) == ("set_back", length - 10 * SECOND)
    assert "name the zone of a local time in LOGS_TZ" in sentence
