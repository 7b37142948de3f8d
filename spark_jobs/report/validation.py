"""The page that tells what was checked before a window was published, and what did not hold. Rows in, one page out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from spark_jobs.report.plain import harmless
from spark_jobs.shared.words import counted, instant, verb

Row = Mapping[str, Any]


@dataclass(frozen=True)
class CheckedTable:
    """One table and the verdicts on it, in the order in which they were asked."""

    name: str
    verdicts: tuple[Row, ...]

    @property
    def broken(self) -> int:
        """How many expectations did not hold."""
        return sum(not v["success"] for v in self.verdicts)


def validation_page(results: Sequence[Row], run: Mapping[str, Any]) -> str:
    """One self-contained HTML page: no script, nothing fetched, every name inert.

    Takes: rows of quality.validation_results of one run and window; `run` names run_id, cluster, window_from, window_to
    Gives: the page; it says that the window was refused when a critical expectation is broken
    """
    rows = harmless(list(results))
    broken = {s: [r for r in rows if not r["success"] and r["severity"] == s] for s in ("critical", "warning")}
    page = Environment(
        loader=PackageLoader("spark_jobs.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    ).get_template("validation.html")
    return page.render(
        run=harmless(dict(run)),
        window=f"{instant(run['window_from'])} to {instant(run['window_to'])} UTC",
        headline=_headline(len(broken["critical"]), len(broken["warning"])),
        verdict=_verdict(len(rows), len(broken["critical"]), len(broken["warning"])),
        refused=bool(broken["critical"]),
        broken=[*broken["critical"], *broken["warning"]],
        tables=[CheckedTable(name, tuple(of)) for name, of in groupby(rows, key=lambda r: r["table"])],
    )


def _headline(critical: int, warnings: int) -> str:
    if critical:
        return "Refused: nothing of this window was published"
    return "Every critical expectation holds" if warnings else "Every expectation holds"


def _verdict(asked: int, critical: int, warnings: int) -> str:
    told = f"{counted(asked, 'expectation')} {verb(asked, 'was', 'were')} checked."
    if critical:
        told += (
            f" {counted(critical, 'critical one').capitalize()} {verb(critical, 'is', 'are')} broken, so gold stays"
            " as it was. The rows that were refused lie in staging, where they can be looked at."
        )
    if warnings:
        told += f" {counted(warnings, 'warning').capitalize()} {verb(warnings, 'was', 'were')} recorded."
    return told
