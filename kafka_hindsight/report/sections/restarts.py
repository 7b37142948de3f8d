"""Rolling restarts: the brokers restarted one after the other, with a scorecard."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.rows import RestartStep, RollingRestart
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import plain, words

HEADINGS = (
    "Broker", "How<", "Stopped", "Away for", "In every ISR after", "Led again after", "Led before", "Leader changes",
    "Waited for the one before",
)  # fmt: skip


def restart_link(page: PageRows, restart_id: str | None) -> ui.Link | None:
    """A link to a rolling restart; None where it is not in this window."""
    is_here = restart_id in {row.restart_id for row in page.of(RollingRestart)}
    return ui.Link("a rolling restart", plain.anchor("restart", restart_id)) if restart_id and is_here else None


def restarts(page: PageRows) -> Iterator[ui.Block]:
    """The rolling restarts, in order of time."""
    for row in page.of(RollingRestart):
        count = len(row.brokers)
        several = f"{words.counted(count, 'broker')} {words.verb(count, 'was', 'were')}"
        subject = "The cluster was" if row.is_complete else several
        end = ui.At(row.ended_at) if row.ended_at else "not over in this window"
        yield ui.Entry(
            f"{subject} restarted broker by broker: {words.listed([str(b) for b in row.brokers], at_most=12)}",
            (
                ui.Paragraph(row.explanation),
                ui.Paragraph((ui.At(row.started_at), " to ", end, f"; {'; '.join(_facts(row))}."), "quiet"),
                ui.Table(
                    "Scorecard", HEADINGS, tuple(_stop(page, i, s) for i, s in enumerate(row.scorecard)), "numbers"
                ),
                ui.Paragraph(row.advice, "advice"),
                page.evidence(row.evidence),
            ),
            anchor=plain.anchor("restart", row.restart_id),
            style="outage",
            tone="protocol" if {s.kind for s in row.scorecard} == {OutageKind.CONTROLLED_SHUTDOWN} else "broker",
            badges=ui.badges(row.intent, row.confidence),
        )


def _facts(row: RollingRestart) -> Iterator[str]:
    yield words.counted(row.elections, "leader change")
    yield words.counted(row.rebalances, "rebalance")
    yield f"{words.counted(row.max_under_replicated, 'partition')} short of a replica at worst"
    early = [f"broker {s.broker}" for s in row.scorecard if s.is_early]
    if all(s.is_early is False for s in row.scorecard[1:]):
        yield "each broker was back in every ISR before the next one was stopped"
    elif early:
        yield f"stopped too early: {words.listed(early)}"


def _stop(page: PageRows, i: int, score: RestartStep) -> ui.TableRow:
    outage = page.outage_link(score.outage_id)
    has_waited = "not known" if score.is_early is None else "no" if score.is_early else "yes"
    return ui.TableRow(
        (
            ui.head(ui.Link(str(score.broker), outage.anchor) if outage else str(score.broker)),
            ui.Cell(vocabulary.OUTAGES[OutageKind(score.kind)].label, "left"),
            ui.At(score.down_at),
            words.duration(words.elapsed_ms(score.down_at, score.up_at)) or "not back",
            words.duration(score.isr_recovered_ms) or "not known",
            words.duration(score.leadership_restored_ms) or "not known",
            words.exact(score.partitions_led_before),
            words.exact(score.elections),
            ui.Cell(has_waited if i else "", "bad" if score.is_early else ""),
        )
    )


SECTION = Section("cluster", 50, "restarts", "Rolling restarts", restarts)
