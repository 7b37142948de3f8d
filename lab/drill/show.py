"""A score in words: a readable page, or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.plain import visible
from lab.answers import MISSED
from lab.drill.result import Score, ScoredVerdict, bounds_of


def as_text(score: Score, minimum: float) -> str:
    """The score as a readable page. Control characters in names are made visible."""
    return "\n".join(visible(line) for line in _lines(score, minimum))


def _lines(score: Score, minimum: float) -> Iterator[str]:
    total = len(score.expectations)
    verdict = "PASSED" if score.passes(minimum) else "FAILED"
    yield f"{verdict}: {score.met} of {total} expectations met ({score.share_met:.1%}, needed {minimum:.0%})"
    yield ""
    yield f"{'expected':<28}{'met':>5}{'all':>5}"
    for expect in sorted({e.expect for e in score.expectations}):
        of = [e for e in score.expectations if e.expect == expect]
        yield f"{expect:<28}{sum(e.met for e in of):>5}{len(of):>5}"
    yield ""
    yield f"{'confidence':<18}{'confirmed':>10}{'wrong':>6}{'all':>6}{'not contradicted':>18}"
    for c in score.calibration:
        counts = f"{c.confirmed:>10}{c.wrong:>6}{c.verdicts:>6}"
        yield f"{c.confidence:<18}{counts}{c.share_not_contradicted:>18.1%}"
    yield from _bounds(score)
    if score.unmet:
        yield ""
        yield f"unmet ({len(score.unmet)})"
    for e in score.unmet:
        yield f"  {_clock(e.at)} {e.action} of {e.scope} expects {e.expect}"
        yield from (f"      found {row}" for row in e.near or ("nothing near",))
    yield from _verdicts("certain but wrong", score.certain_but_wrong)
    yield from _verdicts("false alarms", score.false_alarms)
    yield from _verdicts("without evidence", score.without_evidence)


def _bounds(score: Score) -> Iterator[str]:
    """What groups skipped and read again: how close the bounds are."""
    if score.jumps:
        yield ""
        yield f"{'records that a group lost or read again':<44}{'all':>5}{'within':>8}{'exact':>7}  bounds lie apart"
    for (expect, cause), own in sorted(grouped(score.jumps, lambda e: (e.expect, str(e.cause))).items()):
        count = bounds_of(own)
        within = [e for e in own if e.outcome != MISSED]
        widths = ", ".join("no bound" if e.width is None else str(e.width) for e in within)
        yield f"{f'{expect} {cause}':<44}{count.played:>5}{count.within:>8}{count.exact:>7}  {widths}"
    if score.books:
        yield f"books that balance: {sum(e.met for e in score.books)} of {len(score.books)} partitions"


def _verdicts(title: str, verdicts: Iterable[ScoredVerdict]) -> Iterator[str]:
    rows = list(verdicts)
    if rows:
        yield ""
        yield f"{title} ({len(rows)})"
    for v in rows:
        yield f"  {_clock(v.at)} {v.table} {v.says}" + (f": {v.wrong}" if v.wrong else "")


def _clock(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")[11:23]


def as_json(score: Score, passes: bool) -> dict[str, Any]:
    """The score as JSON."""
    return {
        "passes": passes,
        "expectations": len(score.expectations),
        "met": score.met,
        "share_met": round(score.share_met, 4),
        "bounds": asdict(bounds_of(score.jumps, score.books)),
        "unmet": [_plain(e) for e in score.unmet],
        "certain_but_wrong": [_plain(v) for v in score.certain_but_wrong],
        "false_alarms": [_plain(v) for v in score.false_alarms],
        "without_evidence": [_plain(v) for v in score.without_evidence],
        "calibration": [
            asdict(c) | {"share_not_contradicted": round(c.share_not_contradicted, 4)} for c in score.calibration
        ],
    }


def _plain(item: Any) -> dict[str, Any]:
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in asdict(item).items()}
