"""The report as the last words of a run: counts, the worst findings with their advice, coverage, where to read on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from spark_jobs.report import words
from spark_jobs.report.model import FindingGroup, Incident
from spark_jobs.report.page import Report

INCIDENTS = 5
FINDINGS = 5

_BOLD, _RED, _YELLOW, _GREY, _END = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[0m"
_MARKS = {"good": "✓ ", "plain": "· ", "warn": "! "}
_SEVERITY_COLOURS = {"critical": _RED, "warning": _YELLOW, "info": _GREY}


def render_terminal(report: Report, width: int = 100, colours: bool = False) -> str:
    """The summary as lines of at most `width` columns, with ANSI colours only where asked for.

    Keeps: without colours nothing but printable characters and line ends, whatever names clients chose.
    """
    return "\n".join(_Page(report, max(40, width), colours).lines()) + "\n"


class _Page:
    def __init__(self, report: Report, width: int, colours: bool) -> None:
        self.report = report
        self.width = width
        self.colours = colours
        self.advised: set[str] = set()

    def lines(self) -> Iterator[str]:
        head = self.report.masthead
        end = words.instant(head.window_to, head.window_from.date())
        yield self._paint(_BOLD, f"{head.cluster}, {words.instant(head.window_from)} to {end} UTC")
        for sentence in self.report.verdict.refusal:
            yield from self._text(sentence, colour=_RED)
        yield ""
        yield from self._text(" ".join(self.report.verdict.sentences))
        yield from self._incidents()
        yield from self._findings()
        yield from self._coverage()
        yield from self._whereabouts()

    def _incidents(self) -> Iterator[str]:
        incidents = self.report.incidents
        if not incidents:
            return
        yield from self._title("Worst incidents")
        for incident in incidents[:INCIDENTS]:
            yield from self._incident(incident)
        if len(incidents) > INCIDENTS:
            yield from self._text(
                f"and {words.counted(len(incidents) - INCIDENTS, 'lesser incident')} in the report", 2, _GREY
            )

    def _incident(self, incident: Incident) -> Iterator[str]:
        day = self.report.masthead.day
        facts = [
            words.counted(incident.rebalance_count, "rebalance"),
            incident.confidence,
            "planned" if incident.planned else "",
            f"{words.number(incident.partition_seconds)} partition-seconds" if incident.partition_seconds else "",
        ]
        yield from self._text(f"{words.instant(incident.started_at, day)}  {incident.headline}", 2, _BOLD)
        yield from self._text(", ".join(fact for fact in facts if fact), 12, _GREY)
        yield from self._text(incident.explanation, 12)
        yield from self._advice(incident.advice)

    def _findings(self) -> Iterator[str]:
        groups = self.report.findings
        if not groups:
            return
        yield from self._title("Findings")
        for group in groups[:FINDINGS]:
            yield from self._finding(group)
        if len(groups) > FINDINGS:
            rest = sum(len(group.findings) for group in groups[FINDINGS:])
            yield from self._text(f"and {words.counted(rest, 'further finding')} in the report", 2, _GREY)

    def _finding(self, group: FindingGroup) -> Iterator[str]:
        more = len(group.findings) - 1
        also = f" (and {words.number(more)} more like it)" if more else ""
        first, *rest = self._text(f"{group.findings[0].message}{also}", 12)
        yield "  " + self._paint(_SEVERITY_COLOURS[group.severity], group.severity) + first[2 + len(group.severity) :]
        yield from rest
        yield from self._advice(group.advice)

    def _advice(self, advice: str) -> Iterator[str]:
        yield from self._text("→ as above" if advice in self.advised else f"→ {advice}", 12, hang=2)
        self.advised.add(advice)

    def _coverage(self) -> Iterator[str]:
        coverage = self.report.coverage
        yield from self._title("Coverage")
        for tone, statement in coverage.statements:
            yield from self._text(statement, 2, _YELLOW if tone == "warn" else "", hang=2, mark=_MARKS[tone])
        for warning in coverage.warnings:
            yield from self._text(warning, 2, _YELLOW, hang=2, mark=_MARKS["warn"])

    def _whereabouts(self) -> Iterator[str]:
        making = self.report.making
        yield ""
        if making.report_path:
            yield f"{self._paint(_BOLD, 'Report')}  {making.report_path}"
        if making.log_path:
            yield f"{self._paint(_BOLD, 'Log')}     {making.log_path}"

    def _title(self, text: str) -> Iterator[str]:
        yield ""
        yield self._paint(_BOLD, text)

    def _text(self, text: str, indent: int = 0, colour: str = "", hang: int = 0, mark: str = "") -> Iterator[str]:
        margin = " " * indent
        wrapped = textwrap.wrap(
            mark + text,
            self.width,
            initial_indent=margin,
            subsequent_indent=margin + " " * hang,
            break_on_hyphens=False,
        )
        for line in wrapped:
            yield self._paint(colour, line)

    def _paint(self, colour: str, text: str) -> str:
        return f"{colour}{text}{_END}" if self.colours and colour else text
