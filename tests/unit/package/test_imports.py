"""Who may import what, where import-linter does not look: DAGs and plugins, and which packages a module needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

HOME = Path(__file__).resolve().parents[3]
PLAIN = {
    "kafka_hindsight.catalog",
    "kafka_hindsight.catalog.steps",
    "kafka_hindsight.settings.alerts",
    "kafka_hindsight.settings.changes",
    "kafka_hindsight.settings.clusters",
    "kafka_hindsight.settings.home",
    "kafka_hindsight.settings.config",
    "kafka_hindsight.settings.models",
    "kafka_hindsight.settings.maintenance",
    "kafka_hindsight.shared.exits",
    "kafka_hindsight.shared.held_locks",
    "kafka_hindsight.start.java",
    "kafka_hindsight.start.launch",
    "kafka_hindsight.start.python_child",
    "kafka_hindsight.start.temporary_folders",
    "kafka_hindsight.lake.results",
    "kafka_hindsight.shared.words",
    "kafka_hindsight.shared.progress",
    "kafka_hindsight.shared.at_once",
    "kafka_hindsight.start.embedded_airflow",
    "kafka_hindsight.start.first_use",
    "kafka_hindsight.lake.delta_log",
    "kafka_hindsight.lake.damage",
    "kafka_hindsight.lake.landing",
    "kafka_hindsight.lake.publication",
    "kafka_hindsight.shared.page_names",
    "kafka_hindsight.shared.parent",
}
"""Modules of ours that need the standard library alone, so that Airflow's environment can load them."""
BROUGHT = {
    "kafka_hindsight.lake.landing": {"pyarrow", "pyarrow.fs"},
    "kafka_hindsight.settings.alerts": {"pydantic"},
    "kafka_hindsight.settings.changes": {"pydantic"},
    "kafka_hindsight.settings.clusters": {"pydantic"},
    "kafka_hindsight.settings.models": {"pydantic", "pydantic.fields"},
}
"""What Airflow's environment has anyway: pyarrow, where a URI is opened, comes with the Spark provider; Airflow itself
has loaded pydantic before it reads a DAG file."""
PLUGINS = {path.stem for path in (HOME / "plugins").glob("*.py")}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "kafka_hindsight",
            "kafka_hindsight.shared",
            "kafka_hindsight.start",
            "kafka_hindsight.settings",
            "kafka_hindsight.cli",
            "kafka_hindsight.lake",
        ):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def foreign(names: set[str]) -> set[str]:
    return {n for n in names if n.split(".")[0] not in sys.stdlib_module_names}


def test_dags_and_plugins_load_airflow_and_plain_modules_of_ours_only() -> None:
    """FastAPI is what Airflow serves its own pages with; its triggers wait for threads by asgiref."""
    ours = [*(HOME / "dags").glob("*.py"), *(HOME / "plugins").glob("*.py")]
    assert ours
    for path in ours:
        wild = (
            {n for n in foreign(imported(path)) if not n.startswith(("airflow.", "asgiref.", "fastapi"))}
            - PLAIN
            - PLUGINS
        )
        assert not wild, path.name


def test_modules_for_airflow_need_the_standard_library_alone() -> None:
    for module in PLAIN:
        path = HOME / module.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        wild = {n for n in foreign(imported(path)) if not n.startswith(("kafka_hindsight.catalog", *PLAIN))}
        assert not wild - BROUGHT.get(module, set()), module


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    """Who imports whom, within functions too. A module imports its package: Python runs that before it."""
    graph = grimp.build_graph("kafka_hindsight", "setup", include_external_packages=True, cache_dir=None)
    for module in graph.modules:
        if module.count(".") > 1:
            graph.add_import(importer=module, imported=module.rpartition(".")[0])
    return graph


@pytest.mark.parametrize(
    ("room", "packages"),
    [
        ("catalog", set()),
        ("knowledge", set()),
        ("kafka_records", set()),
        ("measures", set()),
        ("shared", {"numpy", "pyarrow"}),
        ("logs", {"numpy", "pyarrow"}),
        ("judgements", {"numpy", "pyarrow"}),
        ("engine", {"numpy", "pyarrow", "deltalake"}),
    ],
)
def test_room_needs_at_most_these_packages_through_its_imports(
    room: str, packages: set[str], imports: grimp.ImportGraph
) -> None:
    needed = imports.find_upstream_modules(f"kafka_hindsight.{room}", as_package=True)
    assert {n for n in foreign(needed) if not n.startswith("kafka_hindsight")} <= packages


@pytest.mark.parametrize("module", ["setup.build", "setup.doctor", "setup.stack", "kafka_hindsight.cli.doctor"])
def test_module_that_runs_before_setup_needs_the_standard_library_alone(
    module: str, imports: grimp.ImportGraph
) -> None:
    needed = imports.find_upstream_modules(module)
    assert not {n for n in foreign(needed) if not n.startswith(("kafka_hindsight", "setup"))}


@pytest.mark.parametrize(
    "module", ["intake.record_reader", "intake.parsed_events", "intake.survey", "intake.log_files"]
)
def test_module_of_workers_imports_with_pyarrow_pandas_and_deltalake_alone(module: str) -> None:
    """docs/install.md, "Python, sent along", gives executors no more."""
    code = f"import sys, kafka_hindsight.{module}; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=HOME, capture_output=True, text=True, check=True)
    assert {*done.stdout.split()}.isdisjoint({"confluent_kafka", "duckdb", "great_expectations", "pydantic", "typer"})
