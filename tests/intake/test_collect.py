"""Physical lines become records: each once, whole, with the same id however the files lie."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.file_scan import Remainder
from kafka_hindsight.intake.log_files import HIDDEN, NOT_IN_GLOB, list_places
from kafka_hindsight.knowledge.layouts import MOST_LINES
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.files import LogPlace
from kafka_hindsight.logs.layout_names import layout_pattern
from kafka_hindsight.shared.exits import BadInput
from lab.drill.render import in_pattern, wrapped
from tests.support.collected import LOCAL, NO_LAKE, TRACE, collected, log, passed, what
from tests.support.logs import RUN_AT, lay, resigned
from tools import plain_reader

Row = dict[str, Any]

WRITTEN = RUN_AT.timestamp() - 60
"""Seconds since 1970: a program may still write to a file that it wrote to then."""


def cut_by(layout: str, text: str) -> tuple[str | None, str]:
    """The logger and the message of a record."""
    return layout_pattern(layout).cut(text)


@pytest.mark.parametrize("block", [1 << 27, 3000, 301])
def test_file_split_anywhere_gives_records_of_plain_reader(tmp_path: Path, block: int) -> None:
    text = "left over from before\n\n" + "".join(log(300)) + resigned(50) * 3 + TRACE.rstrip("\n")
    lay(tmp_path, {"broker-1/server.log": text})
    rows = collected(tmp_path, engine=LocalEngine(piece=block))
    plain = list(plain_reader._records_of_source("prod", "broker-1/server.log", [tmp_path / "broker-1/server.log"]))
    assert sum(r["line_count"] for r in rows) == text.count("\n") + 1
    assert {(r["line_id"], r["text"], r["line_count"], r["order"]) for r in rows} == {
        (p.line_id, p.text, p.line_count, p.order) for p in plain
    }
    headless = rows[0]
    assert (headless["text"], headless["layout"], headless["happened_at"]) == ("left over from before\n", None, None)


@pytest.mark.parametrize("block", [1 << 27, 3000])
def test_file_of_other_layout_is_read_wherever_it_is_split(tmp_path: Path, block: int) -> None:
    pattern = "%d{ISO8601} %p %m (%c) [%t]%n"
    records = [plain_reader.read_line(text.removesuffix("\n")) for text in log(300)]
    lay(tmp_path, {"broker-1/kafka.log": "".join(in_pattern(r, pattern) + "\n" for r in records)})
    rows = collected(tmp_path, engine=LocalEngine(piece=block))
    assert {r["layout"] for r in rows} == {"strimzi"}
    assert [(r["happened_at"].replace(tzinfo=UTC), *cut_by("strimzi", r["text"])) for r in rows] == [
        (r.happened_at, r.logger, r.message) for r in records
    ]


@pytest.mark.parametrize("block", [1 << 27, 3000])
def test_wrapped_file_of_several_brokers_gives_records_of_each(tmp_path: Path, block: int) -> None:
    records = [plain_reader.read_line(text.removesuffix("\n")) for text in log(300)]
    lines = [
        wrapped(text, r.happened_at, f"kafka-{n}", ["compose", "docker"])
        for r in records
        for text in r.text.split("\n")
        for n in (1, 2)
    ]
    text = "".join(f"{text}\n" for text in lines)
    lay(tmp_path, {"all.log": text, "packed/all.log.gz": gzip.compress(text.encode())})
    rows = collected(tmp_path, engine=LocalEngine(piece=block))
    assert sum(r["line_count"] for r in rows) == 2 * text.count("\n")
    by_source: dict[str, list[tuple[Any, ...]]] = {}
    for r in rows:
        by_source.setdefault(r["source"], []).append((r["happened_at"].replace(tzinfo=UTC), r["text"]))
    parts = [f"{file}//kafka-{n}" for file in ("all.log", "packed/all.log") for n in (1, 2)]
    assert by_source == {part: [(r.happened_at, r.text) for r in records] for part in parts}
    assert len({r["line_id"] for r in rows}) == len(rows)
    assert {r["layout"] for r in rows} == {"docker>compose>apache"}


@pytest.mark.parametrize("written_last", ["server.log", "server.log.2026-11-21-01", "server.log.9.gz"])
def test_rotation_changes_no_record(tmp_path: Path, written_last: str) -> None:
    twin = resigned(7, "01:30:00,000")
    records = [*log(100), twin, twin, resigned(8, "01:31:00,000")]
    parts = [records[:40], records[40:90], records[90:101], records[101:]]
    whole = lay(tmp_path / "whole", {"broker-1/server.log": "".join(records)})
    rotated = lay(
        tmp_path / "rotated",
        {
            "broker-1/server.log": "".join(parts[3]),
            "broker-1/server.log.2026-11-21-01": "".join(parts[2]),
            "broker-1/server.log-20261121.gz": gzip.compress("".join(parts[1]).encode()),
            "broker-1/server.log.9.gz": gzip.compress("".join(parts[0]).encode()),
        },
    )
    for file in rotated.rglob("server.log*"):
        os.utime(file, times=(WRITTEN, WRITTEN + (file.name == written_last)))
    given = what(collected(whole))
    assert len(given) == len(records)
    assert what(collected(rotated)) == given


def test_copied_file_adds_no_record(tmp_path: Path) -> None:
    text = "".join(log(60)) + resigned(7, "01:30:00,000") * 2
    plain = lay(tmp_path / "plain", {"broker-1/server.log": text})
    earlier = "".join(log(60)[:20])
    copied = lay(
        tmp_path / "copied",
        {
            "broker-1/server.log": text,
            "broker-1/server.log.gz": gzip.compress(text.encode()),
            "broker-1/server.log.1": earlier,
        },
    )
    assert what(collected(copied)) == what(collected(plain))


def test_instant_is_read_in_zone_of_its_clock(tmp_path: Path) -> None:
    client = "%4|1795225642.862|MAXPOLL|a#consumer-1| [thrd:main]: Application maximum poll interval\n"
    lay(tmp_path, {"server.log": resigned(1, "01:44:29,117"), "client.log": client})
    rows = collected(tmp_path, zone="Europe/Berlin")
    assert {r["source"]: r["happened_at"].replace(tzinfo=UTC).isoformat(timespec="milliseconds") for r in rows} == {
        "server.log": "2026-11-21T00:44:29.117+00:00",
        "client.log": "2026-11-21T01:47:22.862+00:00",
    }


def test_repeated_hour_is_read_by_order_in_file(tmp_path: Path) -> None:
    clocks = ("01:59:00", "02:30:00", "02:29:59", "02:50:00", "02:10:00", "02:40:00", "03:10:00")
    lines = "".join(resigned(n, f"{clock},000") for n, clock in enumerate(clocks))
    lay(tmp_path, {"server.log": lines.replace("2026-11-21", "2026-10-25")})
    rows = collected(tmp_path, zone="Europe/Berlin")
    by_place = sorted(rows, key=lambda r: r["text"].partition("partition ")[2])
    assert [r["happened_at"].strftime("%d %H:%M:%S") for r in by_place] == [
        "24 23:59:00",
        "25 00:30:00",
        "25 00:29:59",
        "25 00:50:00",
        "25 01:10:00",
        "25 01:40:00",
        "25 02:10:00",
    ]


def test_invalid_utf8_is_kept_raw_beside_replaced_text(tmp_path: Path) -> None:
    odd = b"a\xff\xfeb\xe2\x82 \xed\xa0\x80 \xf0\x9f\x98 end\n"
    good = resigned(1).encode()
    lay(tmp_path, {"server.log": good + odd + good})
    first, second = collected(tmp_path)
    assert bytes(first["raw"]) == (good + odd).rstrip(b"\n")
    assert first["text"] == (good + odd).decode(errors="replace").rstrip("\n")
    assert second["raw"] is None


@pytest.mark.parametrize("other", ["other.log", "server.log.1"])
def test_file_that_is_replaced_while_it_is_read_is_named(tmp_path: Path, other: str) -> None:
    """The second one has the instants of the first, so that their records are compared before any is written."""
    lay(tmp_path, {"server.log": "".join(log(20)), other: "".join(log(30))})
    scan = passed(tmp_path)
    lay(tmp_path, {"server.log": resigned(2) + "".join(log(20))})
    records = scan.write(LOCAL, Store(NO_LAKE), "prod", RUN_AT, Remainder())
    assert {scan.facts[n].file.name for n in records.replaced} == {"server.log"}
    again = scan.without(records.replaced)
    assert again.unsettled == {"server.log"}
    assert {fact.file.name for fact in again.facts.values()} == {other} - {"server.log.1"}


def test_very_long_lines_and_records_are_counted(tmp_path: Path) -> None:
    million = "y" * 1_000_000
    long = MOST_LINES + 50
    text = resigned(1) + million + "\n" + resigned(2) + "z\n" * long + resigned(3).rstrip("\n") + "\r\n"
    lay(tmp_path, {"server.log": text})
    one, two, three = collected(tmp_path, engine=LocalEngine(piece=16 * 1024))
    assert one["text"].endswith("\n" + million)
    assert (two["line_count"], two["text"].count("\n")) == (long + 1, MOST_LINES - 1)
    assert three["text"] == resigned(3).rstrip("\n") + "\r"


def test_source_names_are_relative_paths_with_any_characters(tmp_path: Path) -> None:
    names = ["b [1]/s p%20a*c{x}.log", "kafkaServer.out", "ü/x.log.1", "solo.log.2026-11-21-10"]
    names_unread = ["_hidden.log", ".log"]
    lay(tmp_path, {n: resigned(i) for i, n in enumerate(names + names_unread)})
    listing = list_places(LocalEngine(), [LogPlace(str(tmp_path), "broker", "UTC", "LOGS")], None)
    assert {f.name for f in listing.files} == set(names)
    assert set(listing.not_read) == {f"{name} ({HIDDEN})" for name in names_unread}
    assert {r["source"] for r in collected(tmp_path)} == {
        "b [1]/s p%20a*c{x}.log",
        "kafkaServer.out",
        "ü/x.log",
        "solo.log",
    }


def test_glob_and_named_file_choose_what_is_read(tmp_path: Path) -> None:
    lay(tmp_path, {"a/x.txt": resigned(1), "a/server.log": resigned(2), "b.out": resigned(3)})
    listing = list_places(LocalEngine(), [LogPlace(str(tmp_path), "broker", "UTC", "LOGS")], "*.txt, b.*")
    assert ([f.name for f in listing.files], listing.not_read) == (
        ["a/x.txt", "b.out"],
        (f"a/server.log ({NOT_IN_GLOB})",),
    )
    listing = list_places(LocalEngine(), [LogPlace(str(tmp_path / "a/x.txt"), "broker", "UTC", "LOGS")], None)
    assert [(f.name, f.source) for f in listing.files] == [("x.txt", "x.txt")]
    places = [
        LogPlace(str(tmp_path / "a"), "broker", "UTC", "LOGS"),
        LogPlace(str(tmp_path), "client", "UTC", "CLIENT_LOGS"),
    ]
    lay(tmp_path, {"b.log": resigned(4)})
    with pytest.raises(BadInput, match="names all of its files as well"):
        list_places(LocalEngine(), places, None)
    whole_and_part = [LogPlace(str(tmp_path), "broker", "UTC", "LOGS"), replace(places[1], root=str(tmp_path / "a"))]
    files = list_places(LocalEngine(), whole_and_part, None).files
    assert sorted((f.name, f.origin) for f in files) == [
        ("b.log", "broker"),
        ("b.out", "broker"),
        ("server.log", "client"),
        ("x.txt", "client"),
    ]
