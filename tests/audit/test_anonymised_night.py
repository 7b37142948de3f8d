"""The recorded night, and its copy with pseudonyms: one law, the same verdicts under the same mapping."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.cli.main import main
from tests.support.lake import rows
from tests.support.recorded_night import audit, recorded_night

GOLD = [table.full_name for table in TABLES if table.layer == "gold"]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy of the night, the mapping, and the audits of both."""
    folder = tmp_path_factory.mktemp("anonymised")
    night, lake = recorded_night()
    (folder / "lake of night").symlink_to(lake)
    assert main(["anonymise", str(night), f"{folder}/copy", "--mapping", f"{folder}/map.json"]) == 0
    audit(folder / "copy", folder / "lake of copy")
    return folder


def mapping(work: Path) -> dict[str, str]:
    return {
        name: new for of_kind in json.loads((work / "map.json").read_text()).values() for name, new in of_kind.items()
    }


def standing(names: list[str]) -> re.Pattern[str]:
    """The names, where they are not part of a longer word."""
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(longest_first)})(?![^\W_])")


def verdicts(lake: Path, table: str, names: dict[str, str]) -> Counter[str]:
    """The rows of a table with other names, without what holds a hash of a name and without quoted lines."""

    def text(row: dict[str, Any]) -> str:
        kept = {c: v for c, v in row.items() if c != "evidence" and not c.startswith("run_")}
        without_ids = re.sub(r"\b[0-9a-f]{32}\b", "an id", json.dumps(kept, default=str))
        return standing([*names]).sub(lambda m: names[m[0]], without_ids) if names else without_ids

    return Counter(text(row) for row in rows(lake, table))


@pytest.mark.parametrize("table", GOLD)
def test_the_copy_has_the_same_verdicts_under_the_mapping(table: str, work: Path) -> None:
    assert verdicts(work / "lake of copy", table, {}) == verdicts(work / "lake of night", table, mapping(work))


def test_no_name_is_left_in_the_copy(work: Path) -> None:
    names = standing([*mapping(work)])
    for path in (work / "copy").rglob("*"):
        assert not names.search(path.name)
        assert path.is_dir() or not names.search(path.read_text(encoding="utf-8"))
