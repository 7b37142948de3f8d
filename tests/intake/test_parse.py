"""Records become events in batches exactly as the plain reader reads them, whatever strangers write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.silver import EVENT_FIELDS
from kafka_hindsight.intake import hours
from kafka_hindsight.intake.hours import cover
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.intake.parsed_events import repeats_among
from kafka_hindsight.knowledge.layouts import MESSAGE_LIMIT, MOST_LINES
from kafka_hindsight.logs import event_batches as events
from kafka_hindsight.logs.event_batches import PICKED, Packer, Rest, keys_of, picked, read_batches
from kafka_hindsight.shared.windows import Window
from tests.support.logs import RUN_AT, line, resigned
from tests.support.nights import EXCERPTS
from tests.support.rows import values
from tools import plain_reader
from tools.pages.samples import captured

SOURCE = "broker-9/server.log"
FIELDS = [c.name for c in EVENT_FIELDS]
DAY = (datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC))

Row = dict[str, Any]


def record(text: str, number: int = 0, **columns: Any) -> Row:
    """A row of bronze.log_records as collect writes it."""
    read = plain_reader.read_line(text.rstrip("\n"), SOURCE)
    defaults = {
        "line_id": f"line-{number}",
        "source": SOURCE,
        "happened_at": read.happened_at,
        "layout": read.layout and read.layout.name,
        "order": number,
        "line_count": text.rstrip("\n").count("\n") + 1,
        "text": read.text,
        "run_collected_at": RUN_AT,
    }
    return values(bronze.LOG_RECORDS, **defaults | columns)


@dataclass(frozen=True)
class Read:
    """What workers make of records, and the events that wait, packed."""

    rests: list[Rest]
    packed: bytes
    count: int

    @property
    def brokers(self) -> dict[str, int | None]:
        """The only broker that each log names; None where it names several."""
        return hours.only_brokers(self.hours)

    @property
    def hours(self) -> list[hours.Hour]:
        """What became of the records in each hour."""
        return hours.count_hours(pa.Table.from_batches([rest.tallies for rest in self.rests]), DAY)

    def of_fate(self, fate: str) -> list[Row]:
        """The records of a fate that is no event."""
        return [row for rest in self.rests for row in getattr(rest, fate).to_pylist()]


def parsed(*records: Row) -> Read:
    """What parse makes of these records."""
    packer = Packer()
    held = table_of(records, bronze.LOG_RECORDS).to_batches()
    rests = list(read_batches(held, DAY, packer.pack))
    packed, keys = packer.packed()
    return Read(rests, packed, len(keys))


def events_of(read: Read) -> list[Row]:
    """The events among parsed records."""
    every, brokers = np.arange(read.count), read.brokers
    picks = pa.Table.from_batches(picked(read.packed, 0, every, brokers), PICKED)
    none = np.array([], np.int64)
    batches = events.events_of(read.packed, repeats_among(picks).of_unit.get(0, none), brokers, "known")
    return [row for batch in batches for row in batch.to_pylist()]


def by_order(rows: Iterable[Row]) -> dict[int, Row]:
    """The rows by the number of their record."""
    return {row["order"]: row for row in rows}


def fates_of(read: Read) -> dict[int, str]:
    """The fate of each record that is not ignored, by its number."""
    ids = {"unparsed": "line_id", "quarantined": "quarantine_id"}
    others = {int(r[ids[fate]].removeprefix("line-")): fate for fate in ids for r in read.of_fate(fate)}
    kept = events.events_of(read.packed, np.array([], np.int64), {}, "known")
    return others | {n: "event" for batch in kept for n in batch["order"].to_pylist()}


def fates(*records: Row) -> list[str]:
    """The fate of each record; the tallies must count the same."""
    lines = parsed(*records)
    by_number, counted = fates_of(lines), Counter[str]()
    for row in (row for rest in lines.rests for row in rest.tallies.to_pylist()):
        counted[row["fate"]] += row["records"]
    outcome = [by_number.get(n, "ignored") for n in range(len(records))]
    assert counted == Counter(outcome)
    return outcome


def split_of(file: Path) -> list[str]:
    return list(plain_reader.split(plain_reader.text_of(file)))


def test_every_captured_line_parses_like_plain_reader() -> None:
    texts = sorted(
        {s.record for s in captured()}
        | {r for files in plain_reader._files_by_source(EXCERPTS).values() for f in files for r in split_of(f)}
    )
    records = [record(text, n) for n, text in enumerate(texts)]
    lines = parsed(*records)
    fate, given = fates_of(lines), by_order(events_of(lines))
    for n, text in enumerate(texts):
        plain = plain_reader.read_line(text, SOURCE)
        event = plain_reader.event_of(plain, "cluster", "broker")
        if event is None:
            assert fate.get(n, "ignored") == plain.reading.fate, text
            assert plain.reading.fate in ("ignored", "unparsed"), text
        else:
            # The lines name several brokers, so that one without an id is of none.
            names = ["kind", "pattern_id", "broker", *FIELDS]
            assert {k: given[n][k] for k in names} == {k: event[k] for k in names}, text


HOSTILE = ("a$1\\b", "g\x01h", 'it\'s "so"', "x\x1fy", "${jndi:x}", "ü𝄞", "a b (c) [d]", "\\Q\\E")


@pytest.fixture(scope="module")
def named() -> dict[str, Row]:
    """The event of a line for each hostile name of a group."""
    texts = [
        line(
            f"[GroupCoordinator 1]: Preparing to rebalance group {group} in state PreparingRebalance with old "
            "generation 3 (__consumer_offsets-5) (reason: removing member m on heartbeat expiration)"
        )
        for group in HOSTILE
    ]
    events = by_order(events_of(parsed(*(record(text, n) for n, text in enumerate(texts)))))
    return {group: events[n] for n, group in enumerate(HOSTILE)}


@pytest.mark.parametrize("group", HOSTILE)
def test_hostile_group_name_is_read_unchanged(named: dict[str, Row], group: str) -> None:
    event = named[group]
    assert event["group_id"] == group
    assert (event["generation"], event["offsets_partition"], event["broker"]) == (3, 5, 1)


def test_each_record_has_one_fate() -> None:
    other = line("Rolled new log segment", logger="com.acme.Unheard")
    unknown = line("[GroupCoordinator 1]: Something that no version has said yet")
    assert fates(
        record(resigned(1), 0),
        record(other, 1),
        record(unknown, 2),
        record("\tat kafka.server.X", 3),
        record("[2026-11-21 01:44:29,117] INFO it has no logger", 4),
        record(resigned(1), 5, raw=b"\xff"),
        record(resigned(1) + "a\0b", 6),
        record(resigned(1).replace("2026-11-21", "2026-13-21"), 7),
        record(line("[GroupCoordinator 1]: " + "x" * (MESSAGE_LIMIT + 1)), 8),
        record(other, 9, line_count=MOST_LINES + 1),
        record(other.replace("Rolled", "x" * (MESSAGE_LIMIT + 1)), 10),
        record(resigned(1).rstrip("\n") + "\r", 11),
    ) == ["event", "ignored", "unparsed", "unparsed", "unparsed", "event", *["quarantined"] * 4, "ignored", "event"]


def test_quarantined_record_has_reason_for_each_fault() -> None:
    both = record(resigned(1).replace("2026-11-21", "2026-13-21") + "a\0b")
    (quarantined,) = parsed(both).of_fate("quarantined")
    assert quarantined["quarantine_id"] == "line-0"
    assert [s.split(";")[0].split(",")[0] for s in quarantined["sentences"]] == [
        "It holds NUL bytes",
        "Its head shows a date that does not exist.",
    ]


def test_lines_of_one_shape_have_one_template() -> None:
    texts = [
        line(f"[GroupCoordinator {n}]: Never said of group {name} 'x{n}' by {n}b6b2a5e-7b5f-4c8e-9d63-0a1b2c3d4e5f")
        for n, name in ((1, "orders"), (22, "pay.ments-7"), (3, "ü"))
    ]
    shapes = parsed(*(record(t.replace(" 22b6b", " 2b6b"), n) for n, t in enumerate(texts)))
    templates = {r["template"] for r in shapes.of_fate("unparsed")}
    assert len(templates) == 1
    assert "Never said of group <name> <name> by" in templates.pop()


def test_same_line_in_two_logs_of_broker_is_one_event() -> None:
    out, server = "broker-9/kafkaServer.out", SOURCE
    both = [
        record(text, n, source=s, line_id=f"{s}{n}")
        for s in (out, server)
        for n, text in ((0, resigned(1)), (1, resigned(2)))
    ]
    client = [record(resigned(1), 5, source=s, origin="client", line_id=s) for s in ("a.log", "b.log")]
    lines = parsed(*both, *client)
    assert sorted((e["origin"], e["source"]) for e in events_of(lines)) == [
        ("broker", out),
        ("broker", out),
        ("client", "a.log"),
        ("client", "b.log"),
    ]
    covered = {r["source"]: r["events"] for r in cover(lines.hours, {}, "night", Window(*DAY))}
    assert covered == {out: 2, server: 2, "a.log": 1, "b.log": 1}


def test_copied_log_with_other_line_ends_is_named() -> None:
    logs = "broker-9/server.log", "broker-9-copy/server.log"
    line = "[2026-11-21 01:44:2{},117] INFO [KafkaServer id=9] started (kafka.server.KafkaServer){}"
    texts = [(s, n, line.format(n, "\r" if "copy" in s else "")) for s in logs for n in (1, 2)]
    lines = parsed(*(record(text, n, source=s, line_id=f"{s}{n}") for s, n, text in texts))
    assert [e["source"] for e in events_of(lines)] == [logs[1]] * 2
    picks = pa.Table.from_batches(picked(lines.packed, 0, np.arange(lines.count), lines.brokers), PICKED)
    (sentence,) = repeats_among(picks).copies(lines.hours)
    assert sentence.startswith("broker-9/server.log has 2 events that another log of the same broker has too")


def test_line_without_broker_gets_broker_of_its_log_or_folder() -> None:
    silent = "Cluster ID = MFyWfhVxSNOBAy-tm_oW-w"
    logs = {
        "host-a/server.log": [silent, resigned(1, broker=4)],
        "broker-7/server.log": [silent, resigned(1, broker=4)],
        "broker-7/other.log": [silent],
        "broker-7/both.log": [silent, resigned(1, broker=4), resigned(1, broker=5)],
        "kafka-2/deep/server.log": [silent],
        "server.log": [silent],
    }
    records = [
        record(line(t, f"01:00:0{s},000", "kafka.server.KafkaServer") if t == silent else t, n, source=source)
        for s, (source, texts) in enumerate(logs.items())
        for n, t in enumerate(texts)
    ]
    named = {e["source"]: e["broker"] for e in events_of(parsed(*records)) if e["kind"] == "cluster_named"}
    assert named == {
        "host-a/server.log": 4,
        "broker-7/server.log": 4,
        "broker-7/other.log": 7,
        "broker-7/both.log": None,
        "kafka-2/deep/server.log": 2,
        "server.log": None,
    }


def test_coverage_counts_physical_lines_and_longest_silence() -> None:
    hour = Window(datetime(2026, 11, 21, 1, tzinfo=UTC), datetime(2026, 11, 21, 2, tzinfo=UTC))
    records = [
        record("left over\nfrom before", 0, happened_at=None, layout=None),
        record(resigned(1, "01:00:00,000") + "\ttrace", 1),
        record(line("x", "01:00:05,000", "com.acme.X"), 2),
        record(resigned(2, "01:30:05,000"), 3),
        record(line("[GroupCoordinator 1]: unheard", "01:30:06,000"), 4),
        record(resigned(3, "02:00:00,000") + "after the window", 5),
        record("of another source\n" * 3, 6, source="b.log", happened_at=None, layout=None),
    ]
    (row_,) = cover(parsed(*records).hours, {SOURCE: hour.start, "b.log": hour.end}, "night", hour)
    assert {k: row_[k] for k in ("lines_in", "events", "ignored", "unparsed", "quarantined")} == {
        "lines_in": 7,
        "events": 3,
        "ignored": 1,
        "unparsed": 3,
        "quarantined": 0,
    }
    assert row_["longest_silence_ms"] == 30 * 60 * 1000
    assert row_["layouts"] == ["apache"]
    assert (row_["first_at"].minute, row_["last_at"].minute) == (0, 30)


def test_records_of_one_instant_show_no_silence_however_they_are_split() -> None:
    first, second = (record(resigned(n, "01:00:00,000"), n) for n in (1, 2))
    apart = Read([*parsed(first).rests, *parsed(second).rests], b"", 0)
    assert apart.hours == parsed(first, second).hours
    assert apart.hours[0]["longest_silence_ms"] is None


def test_equal_records_of_one_instant_share_one_key() -> None:
    records = [
        record(resigned(n % 40, f"01:{n % 50:02}:00,000"), n, source=f"broker-{n % 3}/x.log") for n in range(500)
    ]
    keys = list[int]()
    words = list[tuple[str, str]]()

    def pack(batch: pa.RecordBatch) -> None:
        keys.extend(keys_of(batch).tolist())
        words.extend(zip(batch["happened_at"].cast("string").to_pylist(), batch["text"].to_pylist()))

    list(read_batches(table_of(records, bronze.LOG_RECORDS).to_batches(), DAY, pack))
    assert len(keys) == 500
    assert len(set(keys)) == len(set(words)) == len(set(zip(keys, words))) == 200
