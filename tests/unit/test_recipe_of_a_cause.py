"""The recipe of docs/extending.md for a cause, followed in a copy of the library: verdicts on captured nights hold."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import indent

from tests.support.docs import PAGES

HOME = Path(__file__).resolve().parents[2]
CAUSES = "kafka_hindsight/catalog/causes.py"
RULINGS = "kafka_hindsight/judgements/rebalances/leave_rulings.py"
TABLE = "LEAVE_RULINGS: Sequence[Ruling[Case]] = (\n"


def blocks() -> tuple[str, str]:
    """The noun that the page adds, without its imports, and the ruling."""
    section = PAGES["extending.md"].partition("\n## A cause\n")[2].partition("\n## ")[0]
    noun, ruling = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    return noun.partition("\n\n")[2], ruling


def copy_with_cause(target: Path) -> None:
    """Copy the library and add the page's cause, in the two files that the page names."""
    for entry in HOME.iterdir():
        if entry.name != "kafka_hindsight":
            (target / entry.name).symlink_to(entry)
    shutil.copytree(HOME / "kafka_hindsight", target / "kafka_hindsight", ignore=shutil.ignore_patterns("__pycache__"))
    noun, ruling = blocks()
    causes, rulings = (target / CAUSES).read_text(), (target / RULINGS).read_text()
    before = "    HEARTBEAT_EXPIRED = CauseNoun("
    assert (causes.count(before), rulings.count(TABLE)) == (1, 1)
    (target / CAUSES).write_text(causes.replace(before, f"{indent(noun, '    ')}{before}"))
    (target / RULINGS).write_text(rulings.replace(TABLE, f"{ruling}\n\n{TABLE}    RULING,\n"))


def test_documented_new_cause_changes_no_verdict_on_incidents_storms_and_remedies(tmp_path: Path) -> None:
    copy_with_cause(tmp_path)
    files = ("test_incidents.py", "test_storms.py", "test_remedies.py")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/unit/{file}" for file in files)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout[-4000:]
