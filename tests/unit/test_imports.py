"""Who may import what, where import-linter does not look: DAGs, plugins and set-up."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
PLAIN = {
    "spark_jobs.catalog",
    "spark_jobs.catalog.steps",
    "spark_jobs.shared.clusters",
    "spark_jobs.shared.config",
    "spark_jobs.shared.exits",
    "spark_jobs.shared.java",
    "spark_jobs.shared.keys",
    "spark_jobs.shared.launch",
    "spark_jobs.shared.maven",
    "spark_jobs.shared.owners",
    "spark_jobs.shared.words",
    "spark_jobs.commands.embedded_airflow",
    "spark_jobs.commands.first_use",
    "spark_jobs.edges.delta_log",
    "spark_jobs.edges.lake_damage",
    "spark_jobs.edges.lake_state",
    "spark_jobs.edges.landing",
    "spark_jobs.edges.publication",
    "spark_jobs.alerts.model",
    "spark_jobs.alerts.settings",
    "spark_jobs.report.places",
}
"""Modules of ours that need the standard library alone, so that Airflow's environment can load them."""
LATE = {"spark_jobs.edges.landing": {"pyarrow.fs"}}
"""What a plain module imports where it opens a URI: the Spark provider brings it to Airflow's environment."""
PLUGINS = {path.stem for path in (HOME / "plugins").glob("*.py")}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module in (
            "spark_jobs",
            "spark_jobs.shared",
            "spark_jobs.commands",
            "spark_jobs.edges",
        ):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def foreign(names: set[str]) -> set[str]:
    return {n for n in names if n.split(".")[0] not in sys.stdlib_module_names}


def test_dags_and_plugins_load_airflow_and_plain_modules_of_ours_only() -> None:
    """FastAPI is what Airflow serves its own pages with."""
    ours = [*(HOME / "dags").glob("*.py"), *(HOME / "plugins").glob("*.py")]
    assert ours
    for path in ours:
        wild = {n for n in foreign(imported(path)) if not n.startswith(("airflow.", "fastapi"))} - PLAIN - PLUGINS
        assert not wild, path.name


def test_what_airflow_loads_of_ours_needs_the_standard_library_alone() -> None:
    for module in PLAIN:
        path = HOME / module.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        wild = {n for n in foreign(imported(path)) if not n.startswith(("spark_jobs.catalog", *PLAIN))}
        assert not wild - LATE.get(module, set()), module


def test_set_up_needs_the_standard_library_alone() -> None:
    ours = {"spark_jobs.commands.embedded_airflow", "spark_jobs.shared.launch", "spark_jobs.shared.maven"}
    assert foreign(imported(HOME / "setup" / "build.py")) == {*ours, "setup.needs"}
    assert foreign(imported(HOME / "setup" / "needs.py")) == {"spark_jobs.shared.java"}
    doctor = HOME / "spark_jobs" / "commands" / "doctor.py"
    plain = {"spark_jobs.shared.config", "spark_jobs.shared.java", "spark_jobs.shared.launch"}
    assert foreign(imported(doctor)) == {"setup", *plain}
