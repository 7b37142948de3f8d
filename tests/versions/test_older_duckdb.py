"""The older DuckDB that the wheel accepts: what asks DuckDB is tested on it too, in place of the locked one."""

from __future__ import annotations

import os
import subprocess
import sys

from kafka_hindsight.settings.home import HOME
from setup.build import OLDER_DUCKDB

UNIT = ("expectations", "package/test_api.py", "report/test_losses_of_windows.py", "report/test_report_rows.py", "sql")
STORE = (
    *("damaged_lakes", "derived_views", "duckdb_versions", "explain", "figures_in_sql", "gauges", "known_values"),
    *("named_queries", "now", "publish", "reporting", "sql", "sql_command", "sql_page", "sql_rules", "two_engines"),
)
TESTS = (*(f"tests/unit/{name}" for name in UNIT), *(f"tests/store/test_{name}.py" for name in STORE))


def test_sql_expectations_and_publication_on_older_duckdb() -> None:
    (packages,) = OLDER_DUCKDB.parents[1].glob("lib/python*/site-packages")
    environment = os.environ | {"PYTHONPATH": f"{packages}:{HOME}"}
    version = subprocess.run(
        [sys.executable, "-c", "import duckdb; print(duckdb.__version__)"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert version.stdout.startswith("1.5."), version.stderr
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadscope", *TESTS]
    tests = subprocess.run(command, cwd=HOME, env=environment, capture_output=True, text=True)
    assert tests.returncode == 0, tests.stdout
    print(tests.stdout.splitlines()[-1])
