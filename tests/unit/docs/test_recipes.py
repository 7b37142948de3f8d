"""Each recipe of docs/extending.md, followed in a copy of the tree: what is added works, and captured cases hold."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent

import pytest

from kafka_hindsight.settings.home import HOME
from tests.support.docs import PAGES
from tests.support.leash import FOLDER

COPIED = ("docs", "expectations", "kafka_hindsight", "tests/unit")
PATTERNS = "kafka_hindsight/knowledge/patterns/leadership.py"
LAYOUTS = "kafka_hindsight/knowledge/pattern_layouts.py"
CAUSES = "kafka_hindsight/catalog/nouns/causes.py"
RULINGS = "kafka_hindsight/judgements/rebalances/leave_rulings.py"
RULES = "kafka_hindsight/knowledge/rules/broker_rules.py"
FINDINGS = "kafka_hindsight/judgements/findings/broker_findings.py"
PUBLISHED = "kafka_hindsight/judgements/rebuild/published.py"
NEVER_CAPTURED = "tests/unit/judgements/rebalances/test_laws_of_causes.py"
MADE = "tests/unit/knowledge/test_patterns.py"
SOURCES_PAGE = "docs/sources.md"
SOURCES = "kafka_hindsight/sources/declarations.py"
LISTS = {
    PATTERNS: "PATTERNS = (\n",
    LAYOUTS: "PATTERN_LAYOUTS = (\n",
    CAUSES: "    HEARTBEAT_EXPIRED = CauseNoun(\n",
    RULINGS: "LEAVE_RULINGS: tuple[Ruling[Case], ...] = (\n",
    RULES: "RULES: tuple[Rule, ...] = (\n",
    FINDINGS: "RULES = (\n",
    PUBLISHED: "JUDGEMENTS = (",
    NEVER_CAPTURED: "NEVER_CAPTURED = {\n",
    MADE: "MADE = {\n",
    SOURCES_PAGE: "",
    SOURCES: "KINDS: Mapping[str, tuple[str, str]] = {\n",
}
"""The beginning of the list in a file that a block extends. The block is inserted before it."""


@dataclass(frozen=True)
class Recipe:
    """The part of a recipe that the page gives in prose, and what proves it.

    `items`: what is added to the list of a file. `replaced`: the text of a file that goes. `samples`: the file of the
    sample rows. `tests`: the test modules of `tests/unit` that pass afterwards. `page`, `text`: a generated page, and
    text that it has afterwards.
    """

    tests: str
    items: dict[str, str] = field(default_factory=dict)
    samples: str = ""
    replaced: dict[str, str] = field(default_factory=dict)
    page: str = ""
    text: str = ""


RECIPES = {
    "A pattern": Recipe(
        "knowledge/test_patterns",
        {PATTERNS: "    PATTERN,\n", MADE: '    "partition.leader_of_old",\n'},
        "kafka_hindsight/knowledge/samples/0.11/leadership.jsonl",
        page="patterns.md",
        text="### partition.leader_of_old",
    ),
    "A layout or an envelope": Recipe(
        "logs/test_layouts", {LAYOUTS: "    LAYOUT,\n"}, "kafka_hindsight/knowledge/samples/layouts.jsonl"
    ),
    "A cause": Recipe(
        "judgements/test_rulings judgements/rebalances/test_laws_of_causes"
        " judgements/groups/test_incidents judgements/groups/test_storms judgements/groups/test_remedies",
        {CAUSES: "", RULINGS: "    UNSUBSCRIBED,\n", NEVER_CAPTURED: '    "member_unsubscribed",\n'},
        replaced={RULINGS: r"    Likely\(\n        Cause.MEMBER_LEFT,\n        \"\{who\} unsubscribed(.*\n){5}"},
        page="causes.md",
        text="\n## member_unsubscribed\n",
    ),
    "A rule": Recipe(
        "judgements/findings/test_findings",
        {RULES: "    BROKER_DOWN_LONG,\n", FINDINGS: "    down_long,\n"},
        page="runbook.md",
        text="[broker_down_long](rules.md#broker_down_long)",
    ),
    "An alert": Recipe(
        "judgements/findings/test_findings alerts/test_alerts",
        {RULES: "    LAST_COPY,\n", FINDINGS: "    last_copy,\n"},
        page="rules.md",
        text="| [last_copy](#last_copy) | critical | partition |",
    ),
    "A table": Recipe(
        "catalog/test_row_classes judgements/test_judgements expectations/test_expectations",
        {PUBLISHED: "COORDINATION, "},
        page="tables.md",
        text="one broker that coordinated rebalances in a window",
    ),
    "A section of the report": Recipe("report/test_report_page"),
    "A source": Recipe(
        "sources/test_log_sources",
        {
            SOURCES: '    "queue": ("kafka_hindsight.sources.line_queue", "Queue"),\n',
            SOURCES_PAGE: '`kind = "queue"`\n',
        },
    ),
}
"""The recipes by their headings."""


def copy_tree(target: Path) -> None:
    """Copy the folders that recipes change, and link the others."""
    (target / "tests").mkdir()
    for entry in (*HOME.iterdir(), *(HOME / "tests").iterdir()):
        place = target / entry.relative_to(HOME)
        if str(entry.relative_to(HOME)) in COPIED:
            shutil.copytree(entry, place)
        elif not place.exists():
            place.symlink_to(entry)


def follow(heading: str, tree: Path) -> list[str]:
    """Add what a recipe shows, each block to the file in its first line. Returns the tests that it brings."""
    recipe, section = RECIPES[heading], PAGES["extending.md"].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", section, flags=re.DOTALL)
    for file, block in blocks:
        opening = LISTS.get(file, "")
        add(tree / file, indent(block, " " * (len(opening) - len(opening.lstrip()))), opening)
    for file, item in recipe.items.items():
        add(tree / file, "", LISTS[file], item)
    for file, pattern in recipe.replaced.items():
        text, count = re.subn(pattern, "", (tree / file).read_text())
        assert count == 1, f"{file} has no {pattern}"
        (tree / file).write_text(text)
    for rows in re.findall(r"```jsonl\n(.*?)```", section, flags=re.DOTALL):
        add(tree / recipe.samples, rows)
    return [file for file, _ in blocks if file.startswith("tests/")]


def add(file: Path, block: str, opening: str = "", item: str = "") -> None:
    """Add a block before the beginning of a list and an item after it; without a list, add both at the end."""
    text = file.read_text() if file.exists() else ""
    before, found, after = text.partition(opening) if opening else (text, "", "")
    assert found == opening, f"{file} has no {opening}"
    file.write_text(f"{before}{block}{found}{item}{after}")


def run(tree: Path, *command: str) -> str:
    """Run Python in a tree. Returns its output. What this run has made once is not the tree's."""
    environment = {k: v for k, v in os.environ.items() if k != FOLDER} | {"PYTHONPATH": str(tree)}
    result = subprocess.run([sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


def test_every_section_of_the_page_is_followed() -> None:
    assert set(re.findall(r"^## (.*)$", PAGES["extending.md"], flags=re.MULTILINE)) == RECIPES.keys()


@pytest.mark.long
def test_recipes_hold_in_a_copy_of_the_tree(tmp_path: Path) -> None:
    """All in one copy: each adds what no other one needs. The tests are those of `make check`, as the page says."""
    copy_tree(tmp_path)
    added = [file for heading in RECIPES for file in follow(heading, tmp_path)]
    run(tmp_path, "-m", "tools.pages.docs")
    names = sorted({name for recipe in RECIPES.values() for name in recipe.tests.split()})
    files = [*added, *(f"tests/unit/{name}.py" for name in names)]
    run(tmp_path, "-m", "pytest", "-q", "-m", "not hypothesis and not long", *files)
    for recipe in RECIPES.values():
        assert not recipe.page or recipe.text in (tmp_path / "docs" / recipe.page).read_text(encoding="utf-8")
