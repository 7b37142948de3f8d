"""All of our PySpark lies in spark_jobs/, and nothing else does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME

SPARK = {"pyspark", "delta", "py4j"}
JOBS = sorted(path for path in (HOME / "spark_jobs").glob("*.py") if path.name != "__init__.py")
OTHERS = ("kafka_hindsight", "expectations", "dags", "plugins", "setup", "docker", "queries")


def imported(path: Path) -> set[str]:
    """The packages that a module imports, wherever it does."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.partition(".")[0] for name in names}


def test_nothing_but_jobs_imports_spark() -> None:
    modules = [path for folder in OTHERS for path in (HOME / folder).rglob("*.py")]
    assert len(modules) > 300
    assert [str(path) for path in modules if imported(path) & SPARK] == []


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.stem)
def test_each_module_of_jobs_needs_spark(path: Path) -> None:
    assert imported(path) & SPARK
