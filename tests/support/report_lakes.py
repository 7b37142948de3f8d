"""The pages of the recorded night, of a later night that is like it but for two groups, and of a crowded one."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from kafka_hindsight.cli.audit import audit, audit_settings
from kafka_hindsight.report.html import render_html
from lab.bench.nights import later, snapshots_later
from tests.support.logs import unpack_night
from tests.support.report_blocks import build_report
from tests.support.report_crowd import crowded_night

APART = timedelta(days=2)
"""More than the look-back: each night is judged as the recorded one."""

NIGHTS: tuple[Mapping[str, str], ...] = ({}, {"ads-etl-1": "ads-etl-9"}, {"crm-storm-8": "crm-storm-9"})
"""The groups that have another name on each night: one is back on the third, and another one is new then."""


def write_pages(folder: Path) -> Mapping[str, Path]:
    """The pages in a folder: of the sample night, of the later one, and of two thousand groups."""
    sample, later_night = _audited_nights(folder)
    crowd = folder / "crowd.html"
    crowd.write_text(render_html(build_report(*crowded_night(6_000))), encoding="utf-8")
    return {"sample": sample, "later": later_night, "crowd": crowd}


def _audited_nights(folder: Path) -> tuple[Path, Path]:
    """The page of the recorded night, and that of the second of two later nights in the same lake."""
    recorded, pages = unpack_night(folder / "recorded"), []
    for count, names in enumerate(NIGHTS):
        night = _later(recorded, folder / f"night-{count}", count * APART, names)
        options = {"logs": "logs", "client_logs": "clients", "snapshots": "snapshots.jsonl"}
        settings = {name: str(night / place) for name, place in options.items()}
        with contextlib.redirect_stdout(io.StringIO()):
            assert audit(audit_settings({}, {**settings, "lake": str(folder / "lake"), "engine": "local"})) == 0
        page = folder / f"page-{count}.html"
        page.write_bytes((folder / "lake" / "report" / "index.html").read_bytes())
        pages.append(page)
    return pages[0], pages[-1]


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
