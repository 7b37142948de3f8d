"""Lakes as kills, full disks and lost writes leave them: each damage is found, mended without a loss, or named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from kafka_hindsight.catalog import gold, quality, silver
from kafka_hindsight.catalog.steps import COLLECT, INGEST, PUBLISH
from kafka_hindsight.cli import doctor_lake as command
from kafka_hindsight.lake.check import check
from kafka_hindsight.lake.damage import damages
from kafka_hindsight.lake.repair import list_newest, repair
from kafka_hindsight.lake.version import lake_version
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.spark.tables.lake_repair import repair_before
from kafka_hindsight.spark.tables.store import Store
from tests.support.asked_lake import LAKE
from tests.support.lake import rows, write_lake
from tests.support.rows import AT, values

HOME = Path(__file__).resolve().parents[2]
RUN = {"run_id": "run-1", "run_at": AT}
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


def add(lake: Path, name: str, **how: Any) -> None:
    """One more commit, with each row again."""
    table = DeltaTable(str(lake / name.replace(".", "/")))
    write_deltalake(table, table.to_pyarrow_table(), **{"mode": "append", **how})


def cut(lake: Path, name: str, version: int) -> Path:
    """A table's commit, with its last bytes missing."""
    commit = lake / name.replace(".", "/") / "_delta_log" / f"{version:020d}.json"
    commit.write_bytes(commit.read_bytes()[:-40])
    return commit


def held(lake: Path) -> dict[str, int]:
    return {name: len(rows(lake, name)) for name in TABLES}


def mended(lake: Path) -> list[tuple[str, str]]:
    """The damages that are mended, and nothing is left afterwards."""
    done, left = repair(str(lake), lambda t, v: DeltaTable(str(lake / t.layer / t.name)).restore(v))
    assert left == []
    assert damages(str(lake)) == []
    assert list(check(str(lake))) == []
    return sorted((d.kind.value, d.path) for d in done)


def test_a_lake_that_is_whole_has_no_damage(lake: Path) -> None:
    before = held(lake)
    assert mended(lake) == []
    assert held(lake) == before


def test_a_folder_without_a_commit_is_removed(lake: Path) -> None:
    log = lake / "gold/lag_verdicts/_delta_log"
    log.mkdir(parents=True)
    (log / ".00000000000000000000.json.12ab.tmp").touch()
    assert mended(lake) == [
        ("no_commit", "gold/lag_verdicts"),
        ("temporary_file", "gold/lag_verdicts/_delta_log/.00000000000000000000.json.12ab.tmp"),
    ]
    assert not log.parent.exists()


def test_a_folder_that_lost_its_commits_is_named_and_stays(lake: Path) -> None:
    folder = lake / "gold/lag_verdicts"
    folder.mkdir()
    (folder / "part-0.parquet").write_text("rows")
    (found,) = damages(str(lake))
    assert found.mend is None
    assert "has no commit, and the file part-0.parquet. Bring its _delta_log back" in found.says
    assert (folder / "part-0.parquet").read_text() == "rows"


def test_files_that_were_being_written_are_removed(lake: Path) -> None:
    log = lake / "silver/events/_delta_log"
    left = (log / ".00000000000000000001.json.3f2a.tmp", log / "..00000000000000000001.json.3f2a.tmp.crc")
    for file in (*left, lake / ".published.json.4711"):
        file.touch()
    (log / ".00000000000000000000.json.crc").touch()
    assert len(mended(lake)) == 3
    assert not any(file.exists() for file in left)
    assert (log / ".00000000000000000000.json.crc").exists()


def test_staged_tables_of_no_run_are_removed_and_those_of_a_run_stay(lake: Path) -> None:
    for name in ("findings", "isr_lapses"):
        (lake / "staging" / name).mkdir(parents=True)
        (lake / "staging" / name / "part-0.parquet").write_text("rows")
    owner = lake / "staging" / "_run.json"
    owner.write_text('{"run_id": "r"}')
    assert mended(lake) == [("orphaned_staging", "staging/isr_lapses")]
    owner.unlink()
    assert mended(lake) == [("orphaned_staging", "staging/findings")]


def test_a_publication_that_ended_half_way_is_taken_back(lake: Path) -> None:
    before = held(lake)
    add(lake, "gold.findings")
    assert mended(lake) == [("half_published", "gold/findings")]
    assert held(lake) == before


def test_a_cut_commit_of_a_publication_that_ended_half_way_is_put_aside(lake: Path) -> None:
    before = held(lake)
    for _ in range(2):
        add(lake, "gold.findings")
    commit = cut(lake, "gold.findings", 2)
    text = commit.read_text()
    assert mended(lake) == [
        ("cut_commit", f"gold/findings/_delta_log/{commit.name}"),
        ("half_published", "gold/findings"),
    ]
    assert held(lake) == before
    assert (lake / "damaged" / f"gold.findings.{commit.name}").read_text() == text


def test_a_cut_commit_that_compacted_a_table_is_put_aside(lake: Path) -> None:
    before = held(lake)
    add(lake, "silver.events")
    DeltaTable(str(lake / "silver/events")).optimize.compact()
    cut(lake, "silver.events", 2)
    assert [kind for kind, _ in mended(lake)] == ["cut_commit"]
    assert held(lake) == before | {"silver.events": 2}


@pytest.mark.parametrize("how", [lambda f: f.write_bytes(b""), lambda f: f.write_bytes(f.read_bytes()[:-9])])
@pytest.mark.parametrize(
    ("name", "way_out"),
    [("silver.events", "move silver/events and quality/parsed_hours out"), ("gold.findings", "move gold/findings out")],
)
def test_a_cut_commit_on_which_rows_depend_is_named_and_stays(lake: Path, name: str, way_out: str, how: Any) -> None:
    add(lake, name)
    list_newest(str(lake))
    commit = lake / name.replace(".", "/") / "_delta_log" / f"{1:020d}.json"
    how(commit)
    text = commit.read_bytes()
    _, (left,) = repair(str(lake), lambda *_: pytest.fail("nothing is restored"))
    assert (left.kind.value, left.mend) == ("cut_commit", None)
    assert way_out in left.says
    assert commit.read_bytes() == text


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder, file: file.unlink(), "is missing."),
        (lambda folder, file: file.write_bytes(file.read_bytes()[:-7]), "bytes; its commit names"),
        (lambda folder, file: _flip(file, -3), "cannot be read"),
        (lambda folder, file: _checksum(file), "does not match its checksum."),
        (lambda folder, file: (folder / "_delta_log" / f"{1:020d}.json").unlink(), "commit 1 is missing."),
        (lambda folder, file: (folder / "_delta_log" / f"{0:020d}.json").unlink(), "commit 0 is missing."),
        (lambda folder, file: cut(folder.parents[1], "gold.findings", 1), f"{1:020d}.json is cut short."),
    ],
)
def test_everything_that_a_table_rests_on_is_checked(lake: Path, harm: Any, said: str) -> None:
    for _ in range(2):
        add(lake, "gold.findings")
    list_newest(str(lake))
    folder = lake / "gold/findings"
    file = next(folder.glob("*.parquet"))
    harm(folder, file)
    found = list(check(str(lake)))
    assert any(sentence.startswith("gold.findings") and said in sentence for sentence in found), found


def test_commits_behind_a_checkpoint_may_be_gone(lake: Path) -> None:
    for _ in range(3):
        add(lake, "gold.findings")
    DeltaTable(str(lake / "gold/findings")).create_checkpoint()
    for _ in range(2):
        add(lake, "gold.findings")
    list_newest(str(lake))
    log = lake / "gold/findings/_delta_log"
    for version in (0, 1):
        (log / f"{version:020d}.json").unlink()
    assert list(check(str(lake))) == []
    (log / f"{4:020d}.json").unlink()
    assert "gold.findings: commit 4 is missing." in list(check(str(lake)))


@pytest.mark.parametrize("text", ["", '{"vers', "[]", '{"version": "x"}'])
def test_a_version_of_the_lake_that_cannot_be_read_is_bad_input(lake: Path, text: str) -> None:
    (lake / "lake_version.json").write_text(text)
    with pytest.raises(BadInput, match=r'lake_version.json in the lake .* holds .*Needed: \{"version": \d+\}'):
        lake_version(str(lake))


def _flip(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def _checksum(file: Path) -> None:
    """What Hadoop keeps beside a file, of other bytes."""
    file.with_name(f".{file.name}.crc").write_bytes(b"crc\0" + (512).to_bytes(4, "big") + bytes(4))


def test_a_version_that_was_published_and_is_gone_is_named(lake: Path) -> None:
    published = [values(quality.PUBLICATIONS, table="gold.findings", version=7, cluster="c")]
    write_deltalake(str(lake / "quality/publications"), _arrow(lake, published), mode="append")
    list_newest(str(lake))
    (said,) = check(str(lake))
    assert said.startswith("quality.publications names version 7 of gold.findings; readers see version 0.")


def _arrow(lake: Path, given: list[dict[str, Any]]) -> Any:
    import pyarrow

    schema = DeltaTable(str(lake / "quality/publications")).to_pyarrow_table().schema
    return pyarrow.Table.from_pylist(given, schema=schema)


def test_a_step_mends_first_says_so_and_keeps_a_row(
    lake: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    add(lake, "gold.findings")
    store = Store(spark, str(lake))
    repair_before(store, INGEST, RUN)
    assert "Mended: gold.findings holds rows of a publication that ended half way." in capsys.readouterr().out
    (kept,) = rows(lake, "quality.lake_repairs")
    assert (kept["run_id"], kept["path"], kept["damage"]) == ("run-1", "gold/findings", "half_published")
    assert store.read(gold.FINDINGS).count() == len(LAKE["gold.findings"])
    (newest,) = DeltaTable(str(lake / "gold/findings")).history(1)
    assert newest["operation"] == "RESTORE"
    assert "delta-rs" in str(newest), "Spark takes seconds a table for it"
    repair_before(store, INGEST, RUN)
    assert len(rows(lake, "quality.lake_repairs")) == 1


def test_a_step_that_needs_a_damaged_table_ends_with_its_name_and_others_go_on(lake: Path, spark: SparkSession) -> None:
    add(lake, "silver.events")
    cut(lake, "silver.events", 1)
    store = Store(spark, str(lake))
    with pytest.raises(BadInput, match=r"The newest commit of silver\.events, .* is cut short, and rows depend on it"):
        repair_before(store, INGEST, RUN)
    repair_before(store, COLLECT, RUN)
    assert store.version(silver.EVENTS) == 1


def test_behind_a_uri_a_step_that_publishes_nothing_takes_nothing_back(lake: Path, spark: SparkSession) -> None:
    before = held(lake)
    add(lake, "gold.findings")
    (lake / "staging" / "findings").mkdir(parents=True)
    store = Store(spark, f"file://{lake}")
    repair_before(store, COLLECT, RUN)
    assert held(lake)["gold.findings"] == 2 * before["gold.findings"]
    assert (lake / "staging" / "findings").exists()
    repair_before(store, PUBLISH, RUN)
    assert held(lake) == before
    assert not (lake / "staging" / "findings").exists()


def test_doctor_finds_mends_and_says_what_is_left(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(lake, "gold.findings")
    (lake / "gold/remedies/_delta_log").mkdir(parents=True)

    def told(*options: str) -> list[list[str]]:
        assert command.main([str(lake), *options]) == 0
        return list(json.loads(capsys.readouterr().out))

    found = told()
    assert {(state, what) for state, what, _ in found} >= {("missing", "no_commit"), ("missing", "half_published")}
    assert all(f"hindsight doctor --lake {lake} --repair" in says for _, what, says in found if what != "tables")
    assert {(state, what) for state, what, _ in told("--repair")} == {
        ("good", "no_commit"),
        ("good", "half_published"),
        ("good", "tables"),
    }
    assert [(state, what) for state, what, _ in told()] == [("good", "tables")]


def test_doctor_ends_with_2_while_a_table_is_damaged(lake: Path) -> None:
    asked = partial(
        subprocess.run,
        [sys.executable, "-m", "kafka_hindsight.cli.doctor", "--lake", str(lake)],
        cwd=HOME,
        capture_output=True,
        text=True,
    )
    assert "4 tables: each commit and each file is whole" in asked().stdout
    next((lake / "silver/events").glob("*.parquet")).unlink()
    done = asked()
    assert done.returncode == 2
    assert "is missing.\n" in done.stdout
