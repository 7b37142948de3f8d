"""Lakes as kills and lost writes leave them: half a publication is taken back, other versions and damage are named."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake

from kafka_hindsight.catalog import gold, quality, silver
from kafka_hindsight.doctor import lake_check as command
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.landing import write_json
from kafka_hindsight.lake.publication import newest_versions, note
from kafka_hindsight.lake.publishing import list_newest, list_versions, take_back
from kafka_hindsight.lake.state import FILE, LAKE_VERSION, OLDEST_VERSION, claim_version, require_version, require_whole
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from tests.support.asked_lake import LAKE
from tests.support.lake import rows, write_lake
from tests.support.rows import AT, values

HOME = Path(__file__).resolve().parents[2]
TABLES = ("gold.findings", "gold.rebalances", "silver.events", "quality.publications")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that is whole, with a published night of two gold tables."""
    folder = tmp_path_factory.mktemp("whole")
    listed = [
        values(quality.PUBLICATIONS, table=t, version=0, cluster="c") for t in ("gold.findings", "gold.rebalances")
    ]
    tables = {name: LAKE[name] for name in TABLES[:2]}
    write_lake(folder, {**tables, "silver.events": [{"line_id": "a"}], "quality.publications": listed})
    list_newest(str(folder))
    return folder


@pytest.fixture
def lake(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(whole, tmp_path, dirs_exist_ok=True))


def add(lake: Path, name: str) -> None:
    """One more commit, with each row again."""
    table = DeltaTable(str(lake / name.replace(".", "/")))
    write_deltalake(table, table.to_pyarrow_table(), mode="append")


def row_counts(lake: Path) -> dict[str, int]:
    return {name: len(rows(lake, name)) for name in TABLES}


def names_taken_back(lake: Path) -> set[str]:
    back = take_back(str(lake), lambda t, v: DeltaTable(str(lake / t.layer / t.name)).restore(v))
    return {table.full_name for table in back}


def test_whole_lake_is_unchanged(lake: Path) -> None:
    before = row_counts(lake)
    require_whole(str(lake))
    assert names_taken_back(lake) == set()
    assert row_counts(lake) == before


def test_unfinished_publication_is_taken_back(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = row_counts(lake)
    add(lake, "gold.findings")
    assert "gold.findings hold rows" in (note(str(lake), newest_versions(str(lake))) or "")
    assert names_taken_back(lake) == {"gold.findings"}
    assert "restoring the rows that gold.findings had before it" in capsys.readouterr().out
    assert row_counts(lake) == before
    (newest,) = DeltaTable(str(lake / "gold/findings")).history(1)
    assert newest["operation"] == "RESTORE"
    assert note(str(lake), newest_versions(str(lake))) is None
    assert names_taken_back(lake) == set()


@pytest.mark.parametrize("how", [lambda f: f.write_bytes(b""), lambda f: f.write_bytes(f.read_bytes()[:-9])])
@pytest.mark.parametrize("name", ["silver.events", "gold.findings"])
def test_cut_commit_is_named(lake: Path, name: str, how: Any) -> None:
    add(lake, name)
    list_newest(str(lake))
    how(lake / name.replace(".", "/") / "_delta_log" / f"{1:020d}.json")
    with pytest.raises(BadInput, match=rf"The newest commit of {name}, 0+1\.json is cut short.*What to do: bring"):
        require_whole(str(lake))


def test_empty_folder_gets_and_keeps_lake_version(tmp_path: Path) -> None:
    for _ in range(2):
        claim_version(str(tmp_path))
        assert json.loads((tmp_path / FILE).read_text()) == {"version": LAKE_VERSION}


@pytest.mark.parametrize(
    ("version", "way_out"),
    [
        (OLDEST_VERSION - 1, "into a new LAKE"),
        (LAKE_VERSION - 1, "run `hindsight upgrade`"),
        (LAKE_VERSION + 1, "into a new LAKE"),
    ],
)
def test_lake_of_other_version_is_refused_with_way_out(lake: Path, version: int, way_out: str) -> None:
    (lake / FILE).write_text(json.dumps({"version": version}))
    for refuses in (require_version, claim_version):
        with pytest.raises(BadInput, match=rf"holds .*{version}.*Needed: .*{LAKE_VERSION}.*{way_out}"):
            refuses(str(lake))


def test_tables_without_lake_version_are_read_only(lake: Path) -> None:
    (lake / FILE).unlink()
    require_version(str(lake))
    with pytest.raises(BadInput, match=r"has tables in gold, quality, silver and no lake_version.json\. Needed: "):
        claim_version(str(lake))


@pytest.mark.parametrize("text", ["", '{"vers', "[]", '{"version": "x"}'])
def test_unreadable_lake_version_is_bad_input(lake: Path, text: str) -> None:
    (lake / FILE).write_text(text)
    with pytest.raises(BadInput, match=r'lake_version.json in the lake .* holds .*Needed: \{"version": \d+\}'):
        require_version(str(lake))


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda folder, file: file.unlink(), "gold.findings cannot be read: "),
        (lambda folder, file: file.write_bytes(file.read_bytes()[:-7]), "gold.findings cannot be read: "),
        (lambda folder, file: _flip(file), "gold.findings cannot be read: "),
        (
            lambda folder, file: (folder / "_delta_log" / f"{2:020d}.json").write_bytes(b""),
            "gold.findings has a newest commit, version 2, that is cut short.",
        ),
        (
            lambda folder, file: list_versions(str(folder.parents[1]), {gold.FINDINGS: 7}),
            "gold.findings was published in version 7; its newest version is 2.",
        ),
    ],
)
def test_doctor_names_damaged_table(lake: Path, harm: Any, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        add(lake, "gold.findings")
    list_newest(str(lake))
    folder = lake / "gold/findings"
    harm(folder, next(folder.glob("*.parquet")))
    command.main(str(lake))
    results = json.loads(capsys.readouterr().out)
    assert any(state == "missing" and says.startswith(sentence) for state, _, says in results), results


def test_doctor_reports_unfinished_publication(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(lake, "gold.findings")
    command.main(str(lake))
    results = json.loads(capsys.readouterr().out)
    assert [(state, what) for state, what, _ in results] == [
        ("missing", "publication"),
        ("good", "tables"),
        ("later", "checksums"),
        ("good", "growth"),
    ]


def test_doctor_lists_the_steps_of_the_newest_run_longest_first(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = {
        "newest": {"run_id": "night"},
        "night/ingest": {"took_s": 2.0, "longest": {"stage": [1.5, "collect records"]}},
        "night/rebuild": {
            "took_s": 9.0,
            "longest": {"stage": [5.0, "judge groups"], "key": [3.0, "groups of group_id g"]},
        },
        "night/publish": {"published": {}},
    }
    for name, value in runs.items():
        write_json(f"{lake}/runs/{name}.json", value)
    command.main(str(lake))
    assert json.loads(capsys.readouterr().out)[-1] == [
        "good",
        "newest run",
        "night\nrebuild took 9 s; its longest stage, judge groups, 5 s; its longest key, groups of group_id g, 3 s"
        "\ningest took 2 s; its longest stage, collect records, 1.5 s",
    ]


def test_doctor_ends_with_2_while_a_table_is_damaged(lake: Path) -> None:
    asked = partial(
        subprocess.run,
        [sys.executable, "-m", "kafka_hindsight.cli.doctor", "--lake", str(lake)],
        cwd=HOME,
        capture_output=True,
        text=True,
    )
    assert "4 tables: all rows can be read" in asked().stdout
    next((lake / "silver/events").glob("*.parquet")).unlink()
    done = asked()
    assert done.returncode == 2
    assert "silver.events cannot be read" in done.stdout


def test_repair_sets_damaged_files_aside_and_names_their_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, hour = Store(str(tmp_path)), timedelta(hours=1)
    store.create(silver.EVENTS, quality.PARSED_HOURS)
    (tmp_path / FILE).write_text(json.dumps({"version": LAKE_VERSION}))
    for n in range(2):
        row = values(silver.EVENTS, line_id=str(n), cluster="prod", happened_at=AT + n * hour)
        store.append(silver.EVENTS, pyarrow.Table.from_pylist([row], arrow_schema(silver.EVENTS)))
    parsed = values(quality.PARSED_HOURS, cluster="prod")
    store.append(quality.PARSED_HOURS, pyarrow.Table.from_pylist([parsed], arrow_schema(quality.PARSED_HOURS)))
    (damaged,) = (f for f in store.files(silver.EVENTS) if f.bounds("happened_at")[0].startswith(f"{AT + hour:%FT%H}"))
    _flip(Path(store.path(silver.EVENTS), damaged.path))
    command.main(str(tmp_path), is_repaired=True)
    (_, _, sentence), *others = json.loads(capsys.readouterr().out)
    assert re.match(rf"{damaged.path} of silver\.events is set aside in .*It held rows of prod from 20", sentence)
    assert [what for state, what, _ in others if state == "good"] == ["tables", "growth"]
    assert store.read(silver.EVENTS, columns=["line_id"])["line_id"].to_pylist() == ["0"]
    assert len(store.read(quality.PARSED_HOURS)) == 0, "the next audit parses again"
    assert (tmp_path / "damaged" / "silver.events" / damaged.path).exists()
    command.main(str(tmp_path), is_repaired=True)
    assert {state for state, _, _ in json.loads(capsys.readouterr().out)} == {"good"}
