"""One number of lost records: every surface shows the same one, for any window cut out of a recorded night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Harm, TruncationVerdict, Urgency
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Finding, Incident, IncidentLink, Truncation
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.measures.record_losses import NO_LOSS, RecordLoss
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.metrics import metrics_text
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.sections.first_screen import tiles
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.findings import raised
from tests.support.incidents import judged_incidents
from tests.support.nights import at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders, rebuild_truncations
from tests.support.report_blocks import text
from tests.support.report_rows import witnesses
from tests.support.rows import as_table

NIGHTS = ("unclean-2.8", "unclean-4.1", "truncation-3.0", "truncation-3.9", "truncation-4.1")


@cache
def rebuilt(
    night: str, broker: int | None = None, hours: int = 0
) -> tuple[Window, list[BrokerOutage], list[Failover], list[Truncation]]:
    """The time that an excerpt covers, and its absences, changes of leaders and cuts.

    The clock of `broker` is `hours` ahead.
    """
    by = timedelta(hours=hours)
    lines = [replace(e, happened_at=e.happened_at + by) if e.broker == broker else e for e in events(night)]
    lines.sort(key=lambda e: e.happened_at)
    ats = [e.happened_at for e in lines]
    whole = Window(min(ats), max(ats) + timedelta(seconds=1))
    outages = rebuild_outages(lines, [], whole)
    context = context_of(lines, outages)
    failovers = rebuild_leaders(lines, [], context, whole).failovers
    cuts = rebuild_truncations(lines, [], failovers, context.controller_epochs, whole)
    return whole, outages, failovers, cuts


def judged(night: str, window: Window, *clock: int) -> tuple[PageRows, Sequence[Finding]]:
    """The page of a window and its findings about cuts.

    `clock`: a broker, and the hours by which its clock is ahead.
    """
    _, outages, failovers, cuts = rebuilt(night, *clock)
    listed = judged_incidents(window, outages=outages, failovers=failovers, truncations=cuts)
    links = [IncidentLink(part_id=part, incident_id=incident) for part, incident in listed.of_truncation.items()]
    cuts = [replace(t, incident_id=listed.of_truncation.get(t.truncation_id)) for t in cuts]
    failovers = [replace(f, incident_id=listed.of_failover.get(f.failover_id)) for f in failovers]
    rows: dict[str, Sequence[Any]] = {
        "gold.failovers": [f for f in failovers if window.holds(f.happened_at)],
        "gold.truncations": [t for t in cuts if window.holds(t.happened_at)],
        "gold.incidents": listed.incidents,
    }
    tables = {name: [r.as_dict() for r in own] for name, own in rows.items()}
    about = {"cluster": "c", "window_from": window.start, "window_to": window.end}
    page = PageRows.from_tables({**tables, "quality.witnesses": witnesses()}, about)
    return page, raised("c", window, harmful_truncations=rows["gold.truncations"], incident_links=links)


def of_query(page: PageRows) -> list[dict[str, Any]]:
    """The rows of the named query `records_lost`."""
    with duckdb.connect() as connection:
        connection.sql("CREATE SCHEMA gold")
        for cls in (Failover, Truncation):
            connection.register("rows", as_table(page.of(cls), cls.TABLE))
            connection.sql(f"CREATE TABLE {cls.TABLE.full_name} AS FROM rows")
        return connection.sql(named_queries()["records_lost"].sql).to_arrow_table().to_pylist()


def loss_of_page(night: str, window: Window, *clock: int) -> RecordLoss:
    """The loss that all surfaces show for a window. `clock`: a broker, and the hours by which its clock is ahead."""
    page, findings = judged(night, window, *clock)
    row = night_of(page, "run", window.end)
    loss = RecordLoss(row.records_lost_low or 0, row.records_lost_high)
    assert text(next(iter(tiles(page)))) == f"{loss.number} committed records lost"
    metrics = metrics_text([row])
    assert f'hindsight_records_lost_at_least{{cluster="c"}} {loss.low}\n' in metrics
    answer = of_query(page)
    highs = [r["records_lost_high"] for r in answer]
    assert RecordLoss(sum(r["records_lost_low"] for r in answer), None if None in highs else sum(highs)) == loss
    incidents = [i for i in page.of(Incident) if i.harm == Harm.RECORDS_LOST]
    assert sum(i.records_lost_low or 0 for i in incidents) == loss.low
    unexplained = [f for f in findings if f.rule_id == "records_truncated"]
    assert all("may have lost" in f.message for f in unexplained), "an incident says what was lost"
    assert bool(incidents or unexplained) == (loss != NO_LOSS)
    if incidents:
        words = "committed record was" if loss.low == loss.high == 1 else "committed records"
        assert words in str(row.headline).lower() and (row.harm, row.state) == (Harm.RECORDS_LOST, Urgency.ACT)
    return loss


@pytest.mark.parametrize(
    ("night", "first", "end", "lost"),
    [
        ("unclean-4.1", "01:52:00", "01:54:00", "40"),
        ("unclean-4.1", "01:53:00", "01:54:00", "40"),
        ("unclean-4.1", "01:52:00", "01:53:00", "40"),
        ("unclean-4.1", "01:52:00", "01:52:50", "0"),
        ("unclean-2.8", "01:54:00", "01:55:00", "40"),
    ],
)
def test_window_has_one_number_of_lost_records(night: str, first: str, end: str, lost: str) -> None:
    assert loss_of_page(night, Window(at(first), at(end))).number == lost


@pytest.mark.parametrize("hours", [-1, 1])
@pytest.mark.parametrize("broker", [1, 2, 3])
@pytest.mark.parametrize("night", ["unclean-2.8", "unclean-4.1"])
def test_loss_is_counted_once_over_clocks_that_differ(night: str, broker: int, hours: int) -> None:
    window, *_, cuts = rebuilt(night, broker, hours)
    loss = loss_of_page(night, window, broker, hours)
    assert loss.low <= 40, "the cut of a follower is part of the loss of its leader's election"
    assert loss.high is None or loss.high >= 40
    harmful = [t for t in cuts if t.verdict == TruncationVerdict.COMMITTED_LOST]
    committed = [t.high_watermark - t.truncated_to for t in harmful if t.high_watermark is not None]
    assert loss.low >= max(committed, default=0), "what a follower cut below its high watermark was lost"


@given(st.sampled_from(NIGHTS), st.floats(0, 1), st.floats(0, 1))
def test_any_window_has_one_number_of_lost_records(night: str, one: float, other: float) -> None:
    whole = rebuilt(night)[0]
    first, end = sorted((one, other))
    length = whole.end - whole.start
    loss_of_page(night, Window(whole.start + first * length, whole.start + end * length + timedelta(milliseconds=1)))
