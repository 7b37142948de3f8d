"""What groups skipped and read again, on the page and in answers."""

from __future__ import annotations

from kafka_hindsight.catalog.rows import OffsetJump
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.jump_lines import jumps_block, summary_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.group_answer import group_answer
from tests.support.report_blocks import cells, found
from tests.support.report_night import night
from tests.support.report_rows import at, made


def test_a_group_that_was_moved_without_a_rebalance_hears_who_moved_it() -> None:
    tables, run = night()
    tables["gold.rebalances"] = []
    tables["gold.offset_jumps"] = [
        made("gold.offset_jumps", jump_id="j", group_id="moved", topic="clicks", partition=0, cause="retention",
             actor="broker", records_low=70, records_high=70, jumped_at=at("04:10:00"), resumed_at=at("04:11:00"),
             incident_id="i-moved")
    ]  # fmt: skip
    tables["gold.incidents"] = [
        made("gold.incidents", incident_id="i-moved", kind="offsets_moved", harm="records_skipped", group_ids=["moved"],
             headline="Group moved skipped 70 records in clicks-0", started_at=at("04:10:00"), is_over=True)
    ]  # fmt: skip
    page = PageRows.from_tables(tables, run)
    assert group_answer(page, "moved").verdict.startswith("Not yours: Group moved skipped 70 records in clicks-0.")
    summary = night_of(page, "run", at("08:00:00"))
    assert (summary.records_skipped_low, summary.records_read_again_low) == (70, None)


def test_a_group_that_has_not_come_back_has_skipped_nothing_yet() -> None:
    tables, run = night()
    tables["gold.offset_jumps"] = [
        made("gold.offset_jumps", jump_id="j", group_id="away", topic="clicks", partition=0, cause="retention",
             actor="broker", records_low=70, records_high=None, jumped_at=at("04:10:00"))
    ]  # fmt: skip
    page = PageRows.from_tables(tables, run)
    assert [*summary_of(page.of(OffsetJump))] == [
        "Group away has not come back: retention had removed the records that came next."
    ]
    assert night_of(page, "run", at("08:00:00")).records_skipped_low is None
    (table,) = found(ui.PlainTable, (*jumps_block(page, page.of(OffsetJump)),))
    assert cells(table.rows[0])[:2] == ["away", "clicks-0"] and "not back" in cells(table.rows[0])
