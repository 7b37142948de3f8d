"""Copies of logs with pseudonyms in place of names."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from string import ascii_lowercase
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.anonymiser.names import Names
from kafka_hindsight.anonymiser.pseudonyms import Pseudonyms
from kafka_hindsight.cli.main import main
from kafka_hindsight.judgements.groups.coordinators import offsets_partition_of
from kafka_hindsight.logs.unwrapping import wrapped_as
from tests.support.logs import lay

NAMES = st.lists(st.text("abzABZ09._- é", min_size=1, max_size=12), unique=True, max_size=12)
LOWER = st.lists(
    st.from_regex(rf"[{ascii_lowercase}]{{1,4}}([-._][a-z0-9]{{1,4}}){{0,2}}", fullmatch=True), unique=True
)
UUID = "bd793147-8b10-45da-b253-f04cf650d245"


@given(NAMES)
def test_no_two_names_share_a_pseudonym(names: list[str]) -> None:
    pseudonyms = Pseudonyms(names, groups=names, partition_counts=[50])
    assert len({pseudonyms.of(name) for name in names}) == len(names)


@given(NAMES)
def test_a_quoted_name_is_replaced_by_the_same_pseudonym_as_alone(names: list[str]) -> None:
    pseudonyms = Pseudonyms(names)
    for name in names:
        assert pseudonyms.in_text(f'"{name}"') == f'"{pseudonyms.of(name)}"'


@given(LOWER)
def test_pseudonyms_sort_as_names_do(names: list[str]) -> None:
    of = Pseudonyms([f"x{name}" for name in names]).of
    assert [of(f"x{name}") for name in sorted(names)] == sorted(of(f"x{name}") for name in names)


@given(st.lists(st.text("ab12-", min_size=1, max_size=6), unique=True), st.sampled_from([7, 50]))
def test_a_group_stays_in_its_partition_of_the_offsets_topic(groups: list[str], count: int) -> None:
    of = Pseudonyms(groups, groups, partition_counts=[count]).of
    assert [offsets_partition_of(of(g), count) for g in groups] == [offsets_partition_of(g, count) for g in groups]


def replaced(line: str, *others: str) -> tuple[str, Pseudonyms]:
    """A line in the copy, with the names that it and other lines hold."""
    names = Names()
    data = "\n".join((line, *others)).encode()
    names.add_lines(data, wrapped_as(data, None))
    pseudonyms = names.pseudonyms()
    return pseudonyms.in_text(line), pseudonyms


def test_group_with_the_name_of_a_topic_stays_in_its_partition_of_the_offsets_topic() -> None:
    topics = [{"topic": "shop"}, {"topic": "__consumer_offsets", "partitions": [{}] * 50}]
    _, pseudonyms = replaced(json.dumps({"topics": topics, "groups": [{"group": "shop"}]}))
    assert offsets_partition_of(pseudonyms.of("shop"), 50) == offsets_partition_of("shop", 50)


def test_words_that_libraries_choose_in_client_ids_stay() -> None:
    of = Pseudonyms(
        ["consumer-orders-1", "rdkafka", "pay-StreamThread-1-consumer", "main@web (github.com/segmentio/kafka-go)"]
    ).of
    assert of("rdkafka") == "rdkafka"
    assert of("consumer-orders-1") == f"consumer-{of('orders')}-1"
    assert of("pay-StreamThread-1-consumer") == f"{of('pay')}-StreamThread-1-consumer"
    assert of("main@web (github.com/segmentio/kafka-go)").endswith(" (github.com/segmentio/kafka-go)")


def test_numbers_and_ids_stay() -> None:
    of = Pseudonyms([f"face-2-{UUID}"]).of
    assert of(f"face-2-{UUID}") == f"{of('face')}-2-{UUID}"
    assert Pseudonyms(["face"]).in_text(f"member {UUID.replace('b253', 'face')} of face") == (
        f"member {UUID.replace('b253', 'face')} of {of('face')}"
    )


def test_a_topic_with_a_word_of_kafkas_is_replaced_only_as_a_name() -> None:
    line = (
        "[2026-11-21 01:40:54,551] INFO [Partition state-0 broker=1] state-0 starts at leader epoch 3 from offset 0"
        " with partition epoch 5, high watermark 0, ISR [1], adding replicas [] and removing replicas [] ."
        " Previous leader Some(2) and previous leader epoch was 2. (kafka.cluster.Partition)"
    )
    copy, pseudonyms = replaced(line, json.dumps({"topics": [{"topic": "state"}]}))
    assert copy == line.replace("state-0", f"{pseudonyms.of('state')}-0")
    assert pseudonyms.of("state") != "state"
    assert pseudonyms.in_text('{"topic": "state", "state": "STABLE"}') == (
        f'{{"topic": "{pseudonyms.of("state")}", "state": "STABLE"}}'
    )


def test_a_group_with_a_word_of_kafkas_is_replaced_where_a_pattern_reads_it() -> None:
    line = (
        "[2026-11-21 01:41:05,626] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Dynamic member"
        f" with unknown member id joins group joins in Stable state. Created a new member id a-{UUID} and requesting"
        " the member to rejoin with this id. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
    )
    copy, pseudonyms = replaced(line)
    expected = line.replace("group joins", f"group {pseudonyms.of('joins')}").replace(
        f"a-{UUID}", f"{pseudonyms.of('a')}-{UUID}"
    )
    assert copy == expected != line


def test_hosts_addresses_users_and_paths_are_replaced_in_any_line() -> None:
    line = (
        "[2026-11-21 01:41:05,626] INFO Principal = User:CN=Alice Doe,OU=it is Denied from host = 10.1.2.3 for"
        " kafka7.prod.acme.com:9092 ip-10-1-2-3 /2001:db9:0:0:0:0:0:7:9092 User:bob in /srv/acme/kafka-logs/shop-0"
        " by /127.0.0.1:9092 version 4.1.2 (kafka.authorizer.logger)"
    )
    copy, _ = replaced(line)
    for name in ("Alice", "Doe", "10.1.2.3", "10-1-2-3", "prod", "acme", "2001:db9", "bob", "shop"):
        assert name not in copy
    for text in (
        "240.0.0.1 for",
        "ip-240-0-0-1 ",
        "/2001:db8:0:0:0:0:0:2:9092",
        "/127.0.0.1:9092",
        "4.1.2",
        "/kafka-logs/",
    ):
        assert text in copy


@pytest.mark.parametrize(
    "name",
    ["<script>alert('x')</script>", "größe", "a b", "a\\nb", '"', "../../etc/passwd", "x" * 300, "(?:a+)+$", "\t"],
)
def test_a_hostile_name_is_replaced_in_readings_and_text(name: str) -> None:
    reading = json.dumps({"groups": [{"group": name, "members": []}]})
    copy, pseudonyms = replaced(reading)
    assert json.loads(copy) == {"groups": [{"group": pseudonyms.of(name), "members": []}]}
    assert pseudonyms.in_text(f"'{name}'") == f"'{pseudonyms.of(name)}'"


LINE = (
    "[2026-11-21 01:41:05,626] INFO [Partition shop-0 broker=1] Log loaded for partition shop-0 with initial high"
    " watermark 0 (kafka.cluster.Partition)\n"
)


def test_packed_files_and_names_of_files_are_replaced(tmp_path: Path) -> None:
    packed = {"logs/broker-1/server.log.1.gz": gzip.compress(LINE.encode())}
    lay(tmp_path / "in", {**packed, "logs/shop/server.log": LINE})
    assert main(["anonymise", f"{tmp_path}/in", f"{tmp_path}/out", "--mapping", f"{tmp_path}/map.json"]) == 0
    shop = json.loads((tmp_path / "map.json").read_text())["topics"]["shop"]
    assert gzip.decompress((tmp_path / "out/logs/broker-1/server.log.1.gz").read_bytes()).decode() == LINE.replace(
        "shop", shop
    )
    assert (tmp_path / "out/logs" / shop / "server.log").read_text() == LINE.replace("shop", shop)


def test_archives_are_left_out_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path / "in", {"server.log": LINE, "all.tar.gz": b"shop"})
    assert main(["anonymise", f"{tmp_path}/in", f"{tmp_path}/out"]) == 0
    assert "Not copied, or not whole: all.tar.gz, it is an archive: unpack it." in capsys.readouterr().out
    assert [p.name for p in (tmp_path / "out").rglob("*") if p.is_file()] == ["server.log"]


def test_binary_files_are_left_out_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path / "in", {"server.log": LINE, "meta/00000000000000000000.log": b"\0shop"})
    assert main(["anonymise", f"{tmp_path}/in", f"{tmp_path}/out"]) == 0
    assert (
        "Not copied, or not whole: meta/00000000000000000000.log, its records are binary, and may hold names."
        in capsys.readouterr().out
    )
    assert [p.name for p in (tmp_path / "out").rglob("*") if p.is_file()] == ["server.log"]


@pytest.mark.parametrize(
    ("out", "options"),
    [("out", []), ("in/out", []), ("new", ["--mapping", "{}/new/map.json"]), ("new", ["--mapping", "{}/in/map.json"])],
)
def test_out_or_mapping_that_exists_or_lies_in_the_night_is_refused(
    out: str, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path / "in", {"server.log": LINE})
    (tmp_path / "out").mkdir()
    assert main(["anonymise", f"{tmp_path}/in", f"{tmp_path}/{out}", *(o.format(tmp_path) for o in options)]) == 2
    assert "Needed: a path" in capsys.readouterr().err
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    "hostile", ["/" + "-" * 250 + "x", "partition=" + "-1" * 50_000 + "x", "User:" + "A=b," * 20_000, "a::" * 50_000]
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    begin = process_time()
    replaced(f"[2026-11-21 01:41:05,626] INFO {hostile} (kafka.cluster.Partition)")
    assert process_time() - begin < 5
