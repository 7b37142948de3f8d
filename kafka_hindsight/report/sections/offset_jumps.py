"""The records that groups skipped and read again."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import InputKind, Origin
from kafka_hindsight.catalog.rows import Coverage, InputSpan, OffsetJump
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.jump_lines import jumps_block
from kafka_hindsight.report.not_known import unread_inputs
from kafka_hindsight.report.page_rows import LagReading, PageRows, Section
from kafka_hindsight.shared import words

OPEN = 12


def offset_jumps(page: PageRows) -> Iterator[ui.Block]:
    """The jumps of the window, or the sentence that no evidence shows any."""
    jumps = page.of(OffsetJump)
    yield from map(ui.Paragraph, unread_inputs(page.of(InputSpan), day=page.day))
    if not jumps:
        yield ui.Paragraph(_none_shown(page))
        return
    summary = words.counted(len(jumps), "jump of an offset", "jumps of offsets")
    yield ui.Expandable(summary, tuple(jumps_block(page, jumps)), is_open=len(jumps) <= OPEN)


def _none_shown(page: PageRows) -> str:
    """The sentence about a window without jumps: the witnesses that were at hand, and those that were not."""
    witnesses = {
        "members' logs": any(row.origin == Origin.CLIENT for row in page.of(Coverage)),
        "readings with committed offsets": bool(page.of(LagReading)),
        "records of __consumer_offsets": any(
            span.is_read for span in page.rows_of(InputSpan, "input", InputKind.RECORDS)
        ),
    }
    at_hand, missing = (
        [name for name, is_seen in witnesses.items() if is_seen is is_wanted] for is_wanted in (True, False)
    )
    if not at_hand:
        return (
            f"Whether groups skipped records, or read some again, is not known: {words.listed(missing)} would show it."
        )
    more = f" Not at hand: {words.listed(missing)}, which would show more." if missing else ""
    return f"By {words.listed(at_hand)} no group skipped records or read some again.{more}"


SECTION = Section("groups", 25, "offset-jumps", "Records skipped and read again", offset_jumps)
