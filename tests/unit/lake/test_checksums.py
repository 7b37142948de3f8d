"""Files of a lake with one flipped bit: each is refused by name, or its table has the rows that were written."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog import silver
from kafka_hindsight.lake import table_files, transactions
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.damage import Damaged, checksum_in, sealed, unsealed, with_checksum, without_checksum
from kafka_hindsight.lake.datasets import dataset_of
from kafka_hindsight.lake.landing import read_json, write_json
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.transactions import files_of, open_table, snapshot_checksum
from kafka_hindsight.shared.windows import Window
from tests.support.draws import drawn
from tests.support.rows import AT, values

EVENTS = silver.EVENTS
HOUR = timedelta(hours=1)


def events(*rows: tuple[str, str, datetime]) -> pa.Table:
    own = [values(EVENTS, line_id=name, cluster=cluster, happened_at=at) for name, cluster, at in rows]
    return pa.Table.from_pylist(own, arrow_schema(EVENTS))


def forget() -> None:
    """Check everything again, as another process does."""
    table_files._CHECKED.clear()
    transactions._CHECKED.clear()


def line_ids(lake: Path, part: Part | None = None) -> list[str]:
    return sorted(Store(str(lake)).read(EVENTS, part, ["line_id"])["line_id"].to_pylist())


@pytest.fixture(scope="module")
def lakes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A lake with a table of several commits, and one whose table was compacted, behind a checkpoint."""
    lake, compacted = (tmp_path_factory.mktemp(name) for name in ("lake", "compacted"))
    for folder in (lake, compacted):
        store = Store(str(folder))
        store.create(EVENTS)
        for n in range(4):
            store.append(EVENTS, events(*((f"{n}-{m}", "prod", AT + n * HOUR) for m in range(3))))
        store.replace_window(EVENTS, events(("new", "prod", AT)), "prod", Window(AT, AT + HOUR))
        if folder == compacted:
            store.put_in_order(EVENTS)
            DeltaTable(store.path(EVENTS)).create_checkpoint()
    return [lake, compacted]


@drawn(1)
@given(data=st.data())
def test_flipped_bit_is_refused_or_harmless(lakes: list[Path], data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(lakes))
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    name, at = data.draw(st.sampled_from(files)), data.draw(st.integers(0))
    part = data.draw(st.sampled_from([None, Part("prod", "happened_at", (AT, AT + HOUR))]))
    expected = line_ids(whole, part)
    lake = whole.parent / f"{whole.name}-flipped"
    shutil.rmtree(lake, ignore_errors=True)
    shutil.copytree(whole, lake)
    content = bytearray((lake / name).read_bytes())
    content[at // 8 % len(content)] ^= 1 << at % 8
    (lake / name).write_bytes(content)
    forget()
    try:
        found = line_ids(lake, part)
    except Exception:  # delta-rs has no common error of a damaged table
        return
    assert found == expected, name


def test_damaged_file_is_named_by_each_reader(lakes: list[Path], tmp_path: Path) -> None:
    lake = Path(shutil.copytree(lakes[0], tmp_path / "lake"))
    store = Store(str(lake))
    file = max(store.files(EVENTS), key=lambda f: f.size)
    place = Path(store.path(EVENTS), file.path)
    content = bytearray(place.read_bytes())
    content[len(content) // 2] ^= 1
    place.write_bytes(content)
    forget()
    delta = open_table(store.path(EVENTS), EVENTS)
    dataset = dataset_of(delta, store.path(EVENTS), EVENTS, files_of(delta, EVENTS, None))
    for read in (lambda: store.read(EVENTS), dataset.to_table):
        with pytest.raises(Damaged, match=rf"{file.path} of silver\.events has other bytes than were written\. Needed"):
            read()


def test_files_of_other_programs_get_checksums_by_maintenance(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.create(EVENTS)
    store.append(EVENTS, events(("a", "prod", AT)))
    store.append(EVENTS, events(("b", "prod", AT)))
    DeltaTable(store.path(EVENTS)).optimize.compact()
    assert not any(table_files.digest_in(file.path) for file in store.files(EVENTS))
    store.put_in_order(EVENTS)
    assert all(table_files.digest_in(file.path) for file in store.files(EVENTS))
    assert line_ids(tmp_path) == ["a", "b"]


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
INSTANTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(AT.tzinfo))


@drawn(0.3)
@given(st.lists(st.lists(st.tuples(st.just("a"), NAMES, INSTANTS), min_size=1, max_size=3), max_size=3), st.booleans())
def test_snapshot_read_again_has_the_checksum_of_its_commit(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[tuple[str, str, datetime]]], has_checkpoint: bool
) -> None:
    store = Store(str(tmp_path_factory.mktemp("lake")))
    store.create(EVENTS)
    for rows in files:
        store.append(EVENTS, events(*rows))
    if has_checkpoint:
        DeltaTable(store.path(EVENTS)).create_checkpoint()
    commit = Path(store.path(EVENTS), "_delta_log", f"{store.version(EVENTS):020d}.json").read_text()
    (info,) = (a["commitInfo"] for line in commit.splitlines() if "commitInfo" in (a := json.loads(line)))
    assert checksum_in(info) == snapshot_checksum(DeltaTable(store.path(EVENTS)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3), st.integers(0))
def test_flipped_bit_of_an_object_is_refused_or_harmless(value: dict[str, object], at: int) -> None:
    sealed = with_checksum(value)
    text = bytearray(json.dumps(sealed).encode())
    assert without_checksum(json.loads(text), "it") == value
    text[at // 8 % len(text)] ^= 1 << at % 8
    try:
        found = without_checksum(json.loads(text), "it")
    except ValueError:
        return
    assert found == value


@given(st.lists(JSON, max_size=3), st.integers(0))
def test_flipped_bit_of_landed_lines_is_refused_or_leaves_all_of_them(values: list[object], at: int) -> None:
    lines = "".join(json.dumps(value) + "\n" for value in values)
    content = bytearray(sealed(lines).encode())
    assert unsealed(bytes(content)) == (lines.encode(), True)
    content[at // 8 % len(content)] ^= 1 << at % 8
    own, is_whole = unsealed(bytes(content))
    assert not is_whole or own.startswith(lines.encode())
    assert unsealed(lines.encode()) == (lines.encode(), True), "lines of another program have none"


def test_damaged_json_names_its_file(tmp_path: Path) -> None:
    place = tmp_path / "list.json"
    write_json(str(place), {"run_id": "night", "at": AT})
    assert read_json(str(place)) == {"run_id": "night", "at": str(AT)}
    place.write_text(place.read_text().replace("night", "nighu"))
    with pytest.raises(Damaged, match=r"list\.json has other bytes than were written\. Needed: .* Bring it back"):
        read_json(str(place))
