"""Writes the pages that follow from declarations: tables, patterns, causes, rules. `--check` only compares."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from spark_jobs.catalog import TABLES
from spark_jobs.config import INPUTS
from spark_jobs.knowledge.causes import CAUSES
from spark_jobs.knowledge.patterns import PATTERNS
from spark_jobs.knowledge.rules import RULES
from spark_jobs.steps import STEPS

FOLDER = Path(__file__).resolve().parent


def main() -> int:
    """Writes every page; with --check, tells which ones are out of date and gives 1."""
    pages = {FOLDER / name: f"{write().rstrip()}\n" for name, write in PAGES.items()}
    if "--check" not in sys.argv[1:]:
        for path, text in pages.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [p.name for p, text in pages.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    if stale:
        print(f"Out of date: docs/{', docs/'.join(stale)}. Needed: what the declarations say. Run `make docs`.")
    return 1 if stale else 0


def tables() -> str:
    """Every table of the lake, column by column."""
    writers = {name: step.name for step in STEPS for name in step.writes}
    parts = ["# Tables", "Every table lies at `<LAKE>/<layer>/<name>`. Instants are in UTC."]
    for t in TABLES:
        rows = (
            (f"`{c.name}`", c.type, "yes" if c.nullable else "", c.meaning + _codes(c.codes), c.unit) for c in t.columns
        )
        parts += [
            f"## {t.full_name}",
            f"One row is {t.grain}. Key: {_ticked(t.key)}. Written by the step {writers[t.full_name]}.",
            _grid(("column", "type", "null", "meaning", "unit"), rows),
            *(f"- {c.severity}: {c.says} (`{c.predicate}`)" for c in t.checks),
        ]
    return "\n\n".join(parts)


def patterns() -> str:
    """Every log line that is read."""
    parts = [
        "# Patterns",
        f"{len(PATTERNS)} shapes of log lines become events. A sample marked made was not captured.",
    ]
    for p in sorted(PATTERNS, key=lambda p: p.pattern_id):
        sample = p.samples[0]
        parts += [
            f"## {p.pattern_id}",
            f"Event `{p.kind}`; Kafka {p.versions}; loggers {_ticked(p.loggers)}; fields {_ticked(p.fields)}.",
            f"Source: {p.source}",
            f"```\n{sample.record.rstrip()}\n```" + (" (made)" if sample.made else ""),
        ]
    return "\n\n".join(parts)


def causes() -> str:
    """Why rebalances begin."""
    parts = ["# Causes"]
    for c in CAUSES:
        parts += [
            f"## {c.code}",
            f"{c.symptom}",
            f"- Needs: {c.needs}\n- Ruled out by: {c.ruled_out_by}\n- Told by: {', '.join(c.witnesses)}"
            f"\n- What to do: {c.advice}\n- Source: {c.source}"
            + ("\n- No line of it has been captured yet: `likely` at most." if c.made else ""),
        ]
    return "\n\n".join(parts)


def rules() -> str:
    """When a finding is raised."""
    rows = (
        (
            f"`{r.rule_id}`",
            r.severity,
            r.says,
            ", ".join(f"{k} {v:g}" for k, v in r.thresholds.items()),
            r.advice,
            r.source,
        )
        for r in RULES
    )
    return "\n\n".join(
        ["# Rules", _grid(("rule", "severity", "says", "thresholds", "what to do", "source of the threshold"), rows)]
    )


def settings() -> str:
    """What a user may set."""
    rows = (
        (f"`{i.variable}`", f"`{i.field.removeprefix('window_')}`", f"`HINDSIGHT_{i.variable}`", i.meaning)
        for i in INPUTS
    )
    return "\n\n".join(
        [
            "# Settings",
            "On make's command line, as a param of the DAG, and as its default in the scheduler's environment:",
            _grid(("make audit", "param", "scheduler", "meaning"), rows),
        ]
    )


def _grid(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def _ticked(names: Iterable[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)


def _codes(codes: tuple[str, ...]) -> str:
    return f": {_ticked(codes)}" if codes else ""


PAGES: dict[str, Callable[[], str]] = {
    "tables.md": tables,
    "patterns.md": patterns,
    "causes.md": causes,
    "rules.md": rules,
    "settings.md": settings,
}

if __name__ == "__main__":
    sys.exit(main())
