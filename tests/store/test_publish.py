"""Write, audit, publish on a real lake: gold changes as a whole, for this window alone, or not at all."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from kafka_hindsight.catalog import gold, quality
from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.order import in_waves
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.publishing import take_back
from kafka_hindsight.lake.staging import Staged as AllStaged
from kafka_hindsight.lake.staging import list_staged, read_staged, stage_files
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import REFUSED, PublicationRefused, exit_code
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.steps import publish as publishing
from kafka_hindsight.steps import validate as validating
from kafka_hindsight.steps.renewal import renew_from_staging
from tests.support.lake import content_of, rows, schema, write_lake
from tests.support.rows import AT, values

SECOND = timedelta(seconds=1)
NIGHT = timedelta(hours=24)
RUN = {"run_id": "run-1", "cluster": "prod", "window_from": AT, "window_to": AT + NIGHT, "run_at": AT + 2 * NIGHT}
AGAIN = RUN | {"run_id": "run-2", "run_at": AT + 3 * NIGHT}

EARLIER = values(gold.FINDINGS, cluster="prod", finding_id="the night before", first_at=AT - SECOND)
ELSEWHERE = values(gold.FINDINGS, cluster="test", finding_id="another cluster")

FEW = (gold.INCIDENTS, gold.BROKER_OUTAGES, gold.REBALANCES, gold.FAILOVERS, gold.UNAVAILABILITY, gold.FINDINGS)
"""Tables that name rows of one another, and of no other."""

Staged = dict[Table, list[dict[str, Any]]]


def rebalance(rebalance_id: str, **columns: Any) -> dict[str, Any]:
    return values(gold.REBALANCES, rebalance_id=rebalance_id, cluster="prod", incident_id="i-1", **columns)


def night() -> Staged:
    """One row a table, in which everything holds."""
    staged: Staged = {t: [values(t, cluster="prod")] for t in gold.TABLES}
    staged[gold.INCIDENTS] = [values(gold.INCIDENTS, cluster="prod", incident_id="i-1")]
    staged[gold.REBALANCES] = [rebalance("r-1", group_id="orders")]
    staged[gold.REMEDIES] = [values(gold.REMEDIES, cluster="prod", rebalance_ids=["r-1"])]
    return staged


LOST_LINES = values(quality.COVERAGE, cluster="prod", events=2)
BACKWARDS = {gold.REBALANCES: [rebalance("r-666", group_id="payments", ended_at=AT - SECOND)]}
UNKNOWN_OUTAGE = {gold.FAILOVERS: [values(gold.FAILOVERS, cluster="prod", outage_id="lost")]}


def table_of(held: list[dict[str, Any]], table: Table) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(held, schema(table))


class Lake:
    """A lake under test."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, Store(str(folder))

    def copied(self, to: Path) -> Lake:
        """A copy of this lake below that folder."""
        return Lake(shutil.copytree(self.folder, to / "lake"))

    def stage(self, staged: Staged) -> Lake:
        files = {
            t.full_name: stage_files(self.store.lake, "prod", t, table_of(r, t).to_batches()) for t, r in staged.items()
        }
        before = read_staged(self.store.lake, "prod")
        self.list(RUN["run_id"], {**(before.files if before else {}), **files})
        return self

    def list(self, run_id: str, files: Mapping[str, Sequence[DataFile]]) -> None:
        list_staged(self.store.lake, "prod", AllStaged(run_id, files))

    def publish(self, run: dict[str, Any] = RUN) -> dict[str, Any]:
        """Checks what is staged, as this run's, and publishes it."""
        staged = read_staged(self.store.lake, "prod")
        assert staged is not None
        self.list(run["run_id"], staged.files)
        return {**validating.validate(self.store, run), "published": publishing.publish(self.store, run)}

    def rows(self, table: Table) -> list[dict[str, Any]]:
        return rows(self.folder, table.full_name)

    def versions(self) -> dict[str, int]:
        return {t.name: self.store.version(t) for t in gold.TABLES}

    def visible_rows(self) -> dict[Table, int]:
        """How many rows of each gold table readers see."""
        with open_views(str(self.folder)) as readers:
            return {t: readers.sql(f"FROM {t.full_name}").shape[0] for t in gold.TABLES}

    def content(self) -> dict[str, str]:
        """A hash of the rows of every gold table."""
        return {t.name: content_of(self.folder, t) for t in gold.TABLES}


def cover(lake: Lake, row: dict[str, Any]) -> None:
    """Put the one row of coverage into a lake."""
    lake.store.replace_window(quality.COVERAGE, table_of([row], quality.COVERAGE), "prod", Window(AT, AT + NIGHT))


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with what ingest and rebuild leave behind, and gold rows of another window and another cluster."""
    lake = Lake(tmp_path_factory.mktemp("staged") / "lake").stage(night())
    lake.store.create(
        *gold.TABLES, quality.COVERAGE, quality.GENERATION_GAPS, quality.LEADERSHIP_GAPS, PARTITION_SNAPSHOTS
    )
    window = Window(AT, AT + NIGHT)
    for table, columns in ((quality.COVERAGE, {}), (PARTITION_SNAPSHOTS, {"preferred_leader": 1})):
        content = table_of([values(table, cluster="prod", **columns)], table)
        lake.store.replace_window(table, content, "prod", window)
    for other, content in (("prod", EARLIER), ("test", ELSEWHERE)):
        lake.store.replace_window(
            gold.FINDINGS, table_of([content], gold.FINDINGS), other, Window(AT - NIGHT, AT + NIGHT)
        )
    return lake.folder


@pytest.fixture(scope="module")
def failed_publication(staged: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, list[Table]]:
    """A lake whose first publication died halfway, and the tables it had written; not to be changed."""
    lake = Lake(staged).copied(tmp_path_factory.mktemp("died"))
    renewed = []

    def dies(store: Store, table: Table, **given: Any) -> None:
        if table is gold.FAILOVERS:
            raise MemoryError
        renew_from_staging(store, table, **given)
        renewed.append(table)

    with pytest.MonkeyPatch.context() as patched, pytest.raises(MemoryError):
        patched.setattr(publishing, "renew_from_staging", dies)
        lake.publish()
    return lake, renewed


@pytest.fixture(scope="module")
def taken_back(
    failed_publication: tuple[Lake, list[Table]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, dict[Table, int]]:
    """The same lake after that was taken back, and what was; not to be changed."""
    lake = failed_publication[0].copied(tmp_path_factory.mktemp("taken back"))
    return lake, take_back(lake.store.lake, lake.store.restore)


@pytest.fixture(scope="module")
def published(
    taken_back: tuple[Lake, dict[Table, int]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lake, dict[str, Any]]:
    """A lake with a published night, and what publish said of it; not to be changed."""
    lake = taken_back[0].copied(tmp_path_factory.mktemp("published"))
    return lake, lake.publish()


@pytest.fixture
def lake(published: tuple[Lake, dict[str, Any]], tmp_path: Path) -> Lake:
    """A copy of the published lake."""
    return published[0].copied(tmp_path)


@pytest.fixture
def lake_of_few_tables(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The same lake, of which only few tables are published again: each is checked as if all were."""
    monkeypatch.setattr(publishing, "GOLD", FEW)
    return lake


def test_valid_night_is_published_and_recorded(published: tuple[Lake, dict[str, Any]]) -> None:
    lake, summary = published
    assert [r["rebalance_id"] for r in lake.rows(gold.REBALANCES)] == ["r-1"]
    recorded = {
        r["table"]: {"rows": r["row_count"], "version": r["version"]}
        for r in lake.rows(quality.PUBLICATIONS)
        if r["run_id"] == "run-1" and r["cluster"] == "prod"
    }
    assert (
        recorded
        == summary["published"]
        == {t.full_name: {"rows": 1, "version": lake.store.version(t)} for t in gold.TABLES}
    )
    results = lake.rows(quality.VALIDATION_RESULTS)
    vacuous = [r for r in results if r["is_vacuous"]]
    without_rows = {r["table"] for r in vacuous if r["table"].startswith(("gold.", "quality."))}
    assert without_rows == {"quality.generation_gaps"}, "the one table without a row"
    evaluated = len(results) - len(vacuous)
    assert summary["expectations"] == {"evaluated": evaluated, "vacuous": len(vacuous), "failed": 0}
    assert evaluated > 200
    assert all(r["success"] for r in results)
    assert "No expectation is broken" in (lake.folder / "report" / "validation.html").read_text()
    assert summary["warnings"] == []


def test_publication_keeps_other_windows_and_clusters(published: tuple[Lake, dict[str, Any]]) -> None:
    ids = {r["finding_id"] for r in published[0].rows(gold.FINDINGS)}
    assert ids == {"the night before", "another cluster", "finding_id"}


def test_lines_that_do_not_add_up_refuse_publication_until_mended(lake_of_few_tables: Lake) -> None:
    lake, before, content = lake_of_few_tables, lake_of_few_tables.versions(), lake_of_few_tables.content()
    cover(lake, LOST_LINES)
    with pytest.raises(PublicationRefused) as refusal:
        lake.publish(AGAIN)

    assert exit_code(refusal.value) == REFUSED
    headline, advice, breach = refusal.value.sentences
    assert "Nothing was published, and gold is as it was: 1 critical expectation failed" in headline
    assert advice.startswith("Audit into a new lake (--lake)")
    assert "quality.coverage: 1 row breaks lines_balance" in breach
    assert lake.versions() == before
    assert lake.content() == content
    assert not [r for r in lake.rows(quality.PUBLICATIONS) if r["run_id"] == "run-2"]
    (result,) = (r for r in lake.rows(quality.VALIDATION_RESULTS) if not r["success"])
    assert (result["run_id"], result["expectation"], result["sentences"]) == ("run-2", "lines_balance", [breach])
    assert "Refused: nothing of this window was published" in (lake.folder / "report/validation.html").read_text()

    cover(lake, values(quality.COVERAGE, cluster="prod"))
    again = lake.publish(AGAIN)
    assert_written(lake, before, content, set())
    assert {result["rows"] for result in again["published"].values()} == {1}
    assert len([r for r in lake.rows(quality.PUBLICATIONS) if r["run_id"] == "run-2"]) == len(FEW)
    results = [r for r in lake.rows(quality.VALIDATION_RESULTS) if r["run_id"] == "run-2"]
    assert len(results) == len({(r["table"], r["expectation"]) for r in results})
    assert all(r["success"] for r in results)


def test_night_is_published_without_its_one_bad_row(lake_of_few_tables: Lake) -> None:
    summary = lake_of_few_tables.stage(BACKWARDS).publish(AGAIN)
    assert lake_of_few_tables.rows(gold.REBALANCES) == []
    assert summary["published"]["gold.rebalances"]["rows"] == 0
    assert summary["warnings"][0] == (
        "1 row of gold.rebalances is withheld: it breaks ends_after_start (a rebalance ends no earlier than it starts)."
    )
    (kept,) = lake_of_few_tables.rows(quality.WITHHELD_ROWS)
    assert '"rebalance_id":"r-666"' in kept["row"]


def test_rows_whose_link_is_broken_are_withheld(lake_of_few_tables: Lake) -> None:
    twins = [rebalance(f"r-{n}", group_id="payments", to_generation=7) for n in range(2)]
    lake_of_few_tables.stage({gold.REBALANCES: [*twins, rebalance("r-3", group_id="payments", to_generation=8)]})
    lake_of_few_tables.publish(AGAIN)
    assert [r["rebalance_id"] for r in lake_of_few_tables.rows(gold.REBALANCES)] == ["r-3"]
    withheld = {r["sentences"][0].partition(":")[0] for r in lake_of_few_tables.rows(quality.WITHHELD_ROWS)}
    assert {"generation_reached_once"} <= withheld


def test_publish_that_died_halfway_is_taken_back_and_repeated(
    failed_publication: tuple[Lake, list[Table]],
    taken_back: tuple[Lake, dict[Table, int]],
    published: tuple[Lake, dict[str, Any]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lake, replaced = failed_publication
    waves = in_waves(gold.TABLES)
    (dying,) = (n for n, wave in enumerate(waves) if gold.FAILOVERS in wave)
    before, with_it = ({t for wave in waves[:n] for t in wave} for n in (dying, dying + 1))
    assert before
    assert before <= {*replaced} < with_it
    assert lake.rows(quality.PUBLICATIONS) == []
    assert lake.visible_rows() == {t: 2 * (t is gold.FINDINGS) for t in gold.TABLES}
    assert "A publication is not finished: " in capsys.readouterr().err

    lake, taken = taken_back
    assert taken.keys() == {*replaced}
    assert {len(lake.rows(t)) for t in replaced if t is not gold.FINDINGS} == {0}
    assert take_back(lake.store.lake, lake.store.restore) == {}

    lake, _ = published
    assert lake.visible_rows() == {t: 1 + 2 * (t is gold.FINDINGS) for t in gold.TABLES}
    assert "not finished" not in capsys.readouterr().err
    wanted = {t.full_name: rows + [EARLIER, ELSEWHERE] * (t is gold.FINDINGS) for t, rows in night().items()}
    assert lake.content() == Lake(write_lake(tmp_path, wanted)).content()
    assert sorted(r["table"] for r in lake.rows(quality.PUBLICATIONS)) == sorted(t.full_name for t in gold.TABLES)


def assert_written(lake: Lake, before: dict[str, int], content: dict[str, str], tables: set[str]) -> None:
    """A table that holds the same rows is not written again."""
    assert {name for name, version in lake.versions().items() if version != before[name]} == tables
    assert {name for name, hashed in lake.content().items() if hashed != content[name]} == tables


def test_publish_writes_changes_warns_of_doubts_and_withholds_unproven_rows(lake_of_few_tables: Lake) -> None:
    before, content = lake_of_few_tables.versions(), lake_of_few_tables.content()
    changed = {gold.BROKER_OUTAGES: [values(gold.BROKER_OUTAGES, cluster="prod", broker=2)]}
    findings = [values(gold.FINDINGS, cluster="prod", finding_id=f"f-{n}") for n in range(5)]
    unproven = {gold.FINDINGS: [*findings[:4], {**findings[4], "evidence": []}]}
    summary = lake_of_few_tables.stage(changed | UNKNOWN_OUTAGE | unproven).publish(AGAIN)

    assert_written(lake_of_few_tables, before, content, {"broker_outages", "failovers", "findings"})

    (doubt,) = (s for s in summary["warnings"] if "gold.findings" not in s)
    assert "gold.failovers: 1 row breaks outage_known" in doubt
    assert [r["outage_id"] for r in lake_of_few_tables.rows(gold.FAILOVERS)] == ["lost"]
    assert summary["warnings"][0].startswith("1 row of gold.findings is withheld: it breaks evidence_quoted (")
    assert {r["finding_id"] for r in lake_of_few_tables.rows(gold.FINDINGS) if r["cluster"] == "prod"} >= {
        "f-0",
        "f-1",
        "f-2",
        "f-3",
    }
    assert "f-4" not in {r["finding_id"] for r in lake_of_few_tables.rows(gold.FINDINGS)}
    (kept,) = lake_of_few_tables.rows(quality.WITHHELD_ROWS)
    assert (kept["run_id"], kept["table"], kept["sentences"][0].partition(":")[0]) == (
        "run-2",
        "gold.findings",
        "evidence_quoted",
    )
    assert '"finding_id":"f-4"' in kept["row"]
    of_failovers, of_findings = sorted(
        (r for r in lake_of_few_tables.rows(quality.VALIDATION_RESULTS) if not r["success"]),
        key=lambda r: str(r["table"]),
    )
    assert (of_failovers["severity"], of_failovers["sentences"]) == ("warning", [doubt])
    assert (of_findings["severity"], of_findings["unexpected_count"]) == ("warning", 1)


def test_suite_of_docs_page_refuses_publication_in_its_words(lake_of_few_tables: Lake) -> None:
    page = (HOME / "docs" / "expectations.md").read_text()
    (suite,) = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    (lake_of_few_tables.folder / "expectations").mkdir()
    (lake_of_few_tables.folder / "expectations" / "quality.coverage.json").write_text(suite)
    before = lake_of_few_tables.versions()
    with pytest.raises(PublicationRefused) as refusal:
        lake_of_few_tables.publish(AGAIN)
    headline, *others = refusal.value.sentences
    assert "\n".join([headline.replace(str(lake_of_few_tables.folder), "lake"), *others, ""]) in page
    assert lake_of_few_tables.versions() == before
    report = lake_of_few_tables.folder / "report"
    (link,) = re.findall(r'href="(data_docs/[^"]+)">quality.coverage<', (report / "validation.html").read_text())
    assert "the log of broker 4 was read" in (report / link).read_text()

    (lake_of_few_tables.folder / "expectations" / "quality.coverage.json").unlink()
    lake_of_few_tables.publish(AGAIN)
    assert not (lake_of_few_tables.folder / "report" / "data_docs").exists()


def test_duplicate_key_in_silver_is_a_warning(lake_of_few_tables: Lake) -> None:
    twins = [values(EVENTS, cluster="prod", line_id="twin") for _ in range(2)]
    lake_of_few_tables.store.create(EVENTS)
    lake_of_few_tables.store.append(EVENTS, table_of(twins, EVENTS))
    (warning,) = lake_of_few_tables.publish(AGAIN)["warnings"][:1]
    assert "silver.events: 2 rows break key_unique (no two rows share their line_id): line_id='twin'" in warning
