"""Brokers whose lines could mostly not be read: what the page may not conclude because of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from kafka_hindsight.catalog.rows import Coverage
from kafka_hindsight.knowledge.layouts import folder_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words

WORTH_A_SENTENCE = 10
"""One line of so many must be unread before most of a broker's lines can be."""

NAMED = 5


@dataclass(frozen=True)
class Unread:
    """The lines of a broker's folder that could not be read, of all that it holds."""

    folder: str
    lost: int
    lines_in: int


def mostly_unread(page: PageRows) -> list[Unread]:
    """The folders of brokers in which more lines are unread than say something, the one with the most first."""
    events, lost, lines = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, int](int)
    for row in page.of(Coverage):
        if row.origin == "broker":
            folder = folder_of(row.source) or row.source
            events[folder] += row.events
            lost[folder] += row.unparsed + row.quarantined
            lines[folder] += row.lines_in
    found = [Unread(f, lost[f], lines[f]) for f in lines]
    is_worth = [u for u in found if u.lost > events[u.folder] and u.lost * WORTH_A_SENTENCE > u.lines_in]
    return sorted(is_worth, key=lambda u: (-u.lost, u.folder))


def unread_first(page: PageRows) -> str:
    """What a verdict says before anything else where a broker's lines are mostly unread; else empty."""
    found = mostly_unread(page)
    if not found:
        return ""
    named = words.listed([plain.shortened(u.folder) for u in found[:NAMED]])
    others = f" and {words.number(len(found) - NAMED)} others" if len(found) > NAMED else ""
    lost, lines = sum(u.lost for u in found), sum(u.lines_in for u in found)
    return (
        f"Most of what matters in the logs of {named}{others} could not be read"
        f" ({words.counted(lost, 'line')} of {words.number(lines)}): what is not listed here may have happened."
    )


def absence(page: PageRows, observed: str, nothing: str) -> str:
    """What is said where nothing is there: `observed` where all was read, else that no line that was read says it.

    Takes: the sentence, and what it denies, as in `No rebalance`.
    """
    return f"{nothing} in what could be read." if mostly_unread(page) else observed
