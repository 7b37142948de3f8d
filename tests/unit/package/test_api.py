"""The public Python API: what docs/api.md and the notebook show runs, typed, and without Spark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import kafka_hindsight as kh
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.windows import Window
from tests.support.docs import PAGES
from tests.support.lake import write_lake
from tests.support.logs import unpack_night
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END, made

HEAVY = ("airflow", "delta", "great_expectations", "pyspark", "py4j", "spark_jobs")
WITHOUT = f"""
import sys
class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY!r}:
            raise ImportError(name + " is not to be loaded")
sys.meta_path.insert(0, Refusal())
"""
"""Python that makes Spark and its company impossible to import."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made lake of two nights, and the recorded night's logs, where docs/api.md and the notebook have them."""
    folder = tmp_path_factory.mktemp("user")
    tables, about = night()
    yesterday = {"window_from": DAY - timedelta(days=1), "window_to": DAY}
    publication = {"table": "gold.rebalances", "run_id": about["run_id"], "cluster": CLUSTER}
    tables["quality.publications"] = [
        made("quality.publications", **publication, window_from=DAY, window_to=END),
        made("quality.publications", **publication, **yesterday),
    ]
    for row in tables["quality.validation_results"]:
        row["run_id"] = about["run_id"]
    tables["gold.rebalances"][0]["cause"] = "member_dead"
    tables["quality.unparsed_lines"] = [made("quality.unparsed_lines", template="Something <n>", text="Something 1")]
    write_lake(folder / "lake", tables)
    unpack_night(folder)
    (folder / ".samples").mkdir()
    (folder / ".samples" / "night-4.1").symlink_to(folder)
    return folder


@pytest.fixture(scope="module")
def lake(folder: Path) -> Iterator[kh.Lake]:
    with kh.open_lake(str(folder / "lake")) as lake:
        yield lake


def run_without_spark(folder: Path, program: str) -> str:
    """The output of a program in a process of its own that cannot load Spark."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program],
        cwd=folder,
        env={"PYTHONPATH": str(HOME), "PATH": "", "TZ": "UTC"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_api_page_examples_run_without_spark(folder: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGES["api.md"], flags=re.DOTALL)
    output = run_without_spark(folder, "\n".join(blocks))
    assert "member_dead" in output


def test_notebook_cells_run_without_spark(folder: Path) -> None:
    cells = json.loads((HOME / "docs" / "notebooks" / "night.ipynb").read_text(encoding="utf-8"))["cells"]
    program = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert "Stabilized group billing generation 42" in run_without_spark(folder, program)


def test_package_import_loads_standard_library_only(folder: Path) -> None:
    modules = "{m.split('.')[0] for m in sys.modules} - {'__main__', *sys.stdlib_module_names}"
    assert run_without_spark(folder, f"import sys, kafka_hindsight; print({modules})").strip() == "{'kafka_hindsight'}"


def test_every_public_name_is_loaded_listed_and_documented() -> None:
    assert all(getattr(kh, name) is not None for name in kh.__all__)
    assert set(kh.__all__) <= set(dir(kh))
    assert {
        name for name in kh.__all__ if f"`{name}" not in PAGES["api.md"] and f"kh.{name}" not in PAGES["api.md"]
    } <= {
        "BadInput",
        "Lake",
    }


def test_unknown_public_name_is_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'judgement'"):
        _ = kh.judgement  # type: ignore[attr-defined]


def test_lake_rows_are_typed_and_complete(lake: kh.Lake) -> None:
    rows = lake.rows(Rebalance)
    assert len(rows) == lake.arrow("gold.rebalances").num_rows == len(lake.pandas("gold.rebalances")) > 0
    assert {type(row.cause) for row in rows} == {kh.Cause}


def test_unpublished_table_has_no_rows(lake: kh.Lake) -> None:
    assert lake.arrow("bronze.log_records").num_rows == 0


def test_report_is_of_newest_night_by_default(lake: kh.Lake) -> None:
    tonight, yesterday = lake.nights
    assert (tonight.window, yesterday.window.end) == (Window(DAY, END), DAY)
    assert lake.report().html() == lake.report(tonight).html()
    assert "73 rebalances" in lake.report().html()
    assert "73 rebalances" not in lake.report(yesterday).html()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda lake: lake.arrow("gold.rebalance"), "is not a table of the catalog. Did you mean gold.rebalances"),
        (lambda lake: lake.arrow('gold"; DROP'), "is not a table of the catalog"),
        (lambda lake: lake.sql("SELECT nothing FROM gold.rebalances"), 'Referenced column "nothing" not found'),
        (lambda lake: lake.sql("longest_rebalance"), "Did you mean longest_rebalances"),
        (lambda lake: lake.sql("partition_owner colour=red"), "with names of: at, group_id, topic, partition"),
        (
            lambda lake: lake.explain("nobody"),
            "is not an id, a group, a topic, a partition, a broker or a client of this lake",
        ),
    ],
)
def test_unanswerable_question_says_what_is_needed(lake: kh.Lake, ask: Any, sentence: str) -> None:
    with pytest.raises(kh.BadInput) as refusal:
        ask(lake)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("statement", ["COPY gold.rebalances TO 'x.csv'", "SELECT * FROM read_text('/etc/hostname')"])
def test_query_reads_lake_only(lake: kh.Lake, statement: str) -> None:
    with pytest.raises(kh.BadInput):
        lake.sql(statement).fetchall()


def test_folder_without_lake_is_refused(tmp_path: Path) -> None:
    with pytest.raises(kh.BadInput, match="There is no lake at"):
        kh.open_lake(str(tmp_path))
