"""The pages of the recorded night, of a later night that is like it but for two groups, and of a crowded one."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from lab.bench.nights import later, snapshots_later
from tests.support.recorded_night import audit, recorded_night
from tests.support.report_crowd import crowded_page

APART = timedelta(days=2)
"""More than the look-back: each night is judged as the recorded one."""

LATER_NIGHTS: tuple[Mapping[str, str], ...] = ({"ads-etl-1": "ads-etl-9"}, {"crm-storm-8": "crm-storm-9"})
"""The groups that have another name on each night: one is back on the second, and another one is new then."""


def write_pages(folder: Path) -> Mapping[str, Path]:
    """The pages in a folder: of the sample night, of the later one, and of two thousand groups."""
    sample, later_night = _audited_nights(folder)
    return {"sample": sample, "later": later_night, "crowd": crowded_page()}


def _audited_nights(folder: Path) -> tuple[Path, Path]:
    """The page of the recorded night, and that of the second of two later nights in the same lake."""
    night, lake = recorded_night()
    copy = shutil.copytree(lake, folder / "lake")
    for count, names in enumerate(LATER_NIGHTS, 1):
        audit(_later(night, folder / f"night-{count}", count * APART, names), copy)
    return lake / "report" / "index.html", copy / "report" / "index.html"


def _later(night: Path, target: Path, shift: timedelta, names: Mapping[str, str]) -> Path:
    for path in sorted(p for p in night.rglob("*") if p.name == "snapshots.jsonl" or p.suffix == ".log"):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        for name, other in names.items():
            text = text.replace(name, other)
        text = snapshots_later(text, shift) if path.suffix == ".jsonl" else later(text, shift)
        copy = target / path.relative_to(night)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8", errors="surrogateescape")
    return target
