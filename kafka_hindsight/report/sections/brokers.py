"""The brokers of the window, what lasted at them, and rolling restarts with a scorecard of each stop."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from kafka_hindsight.catalog.codes import Origin, OutageKind, WitnessKind
from kafka_hindsight.catalog.nouns.tones import Tone
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Failover,
    LeaderImbalance,
    OutOfSyncPeriod,
    RestartStep,
    RollingRestart,
)
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.curves import leader_curves
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.periods import imbalance_words, period_blocks, periods
from kafka_hindsight.report.phrases import empty_sentence
from kafka_hindsight.report.sections.timeline import absence
from kafka_hindsight.shared import plain, words

BROKERS = ("Broker", "Absences", "Out of sync", "Leader imbalance", "Leader changes")
PERIODS = ("When", "What", "How long")
STOPS = (
    "Broker", "How<", "Stopped", "Away for", "In every ISR after", "Led again after", "Led before", "Leader changes",
    "Waited for the one before",
)  # fmt: skip
OVER = (
    "Leader imbalance: of the partitions whose first replica the broker is, those that others lead. The threshold is"
    " 10%, as leader.imbalance.per.broker.percentage has it; KRaft controllers ignore the percentage and move every"
    " leader back that they can."
)


def brokers(page: PageRows) -> Iterator[ui.Block]:
    """A row and a curve for each broker."""
    if page.brokers:
        yield ui.PlainTable("Brokers", BROKERS, tuple(_broker(page, broker) for broker in page.brokers))
    readings = page.of(LeaderImbalance)
    if readings:
        is_read = readings[0].origin == Origin.SNAPSHOT
        instants = len({row.snapshot_at for row in readings})
        count = words.counted(instants, "reading" if is_read else "instant in the logs")
        last = ui.At(readings[-1].snapshot_at)
        yield ui.Paragraph((f"{OVER} {words.sentence(count)}, the last at ", last, "."), "quiet")
    else:
        yield ui.Paragraph(
            "This window holds no snapshot of the cluster, and its logs show no leader: the balance is not known."
        )
    curves = tuple(leader_curves(page))
    if curves:
        yield ui.TimelinePicture(
            *page.window,
            absences=[absence(page, row) for row in page.of(BrokerOutage)],
            curves=curves,
            note="The partitions that each broker leads, by readings of the cluster. Shaded: absences of brokers.",
        )


def _broker(page: PageRows, broker: int) -> ui.TableRow:
    changes = len(page.rows_of(Failover, "leader_from", broker)) + len(page.rows_of(Failover, "leader_to", broker))
    imbalance = page.rows_of(LeaderImbalance, "broker", broker)
    is_over = bool(imbalance) and imbalance[-1].over_threshold
    return ui.row(
        ui.head(page.broker_link(broker)),
        words.number(len(page.rows_of(BrokerOutage, "broker", broker))),
        words.number(len(page.rows_of(OutOfSyncPeriod, "broker", broker))),
        ui.Cell(imbalance_words(page, broker), "bad" if is_over else ""),
        words.number(changes),
    )


def outages(page: PageRows) -> Iterator[ui.Block]:
    """A list of what lasted at all brokers, in order of time, each with a link to its entry in the broker's view."""
    if not page.of(BrokerOutage):
        yield ui.Paragraph(empty_sentence(page, "No broker was away.", "No absence of a broker", WitnessKind.LIFE))
    in_order = sorted((period for broker in page.brokers for period in periods(page, broker)), key=itemgetter(0))
    rows = [(e.tone, (ui.At(start), ui.Link(e.headline, e.anchor), e.cost)) for start, e in in_order]
    yield from ui.paged_table("What lasted at brokers", PERIODS, rows, [(tone, tone.meaning) for tone in Tone])


def restarts(page: PageRows) -> Iterator[ui.Block]:
    """The rolling restarts, in order of time."""
    for row in page.of(RollingRestart):
        count = len(row.brokers)
        several = f"{words.counted(count, 'broker')} {words.verb(count, 'was', 'were')}"
        subject = "The cluster was" if row.is_complete else several
        scorecard = ui.PlainTable(
            "Scorecard", STOPS, tuple(_stop(page, i, s) for i, s in enumerate(row.scorecard)), "numbers"
        )
        yield ui.Entry(
            f"{subject} restarted broker by broker: {words.listed([str(b) for b in row.brokers], at_most=12)}",
            period_blocks(page, row, (row.started_at, row.ended_at), _restart_facts(row), (scorecard,)),
            anchor=plain.anchor("restart", row.restart_id),
            tone="protocol" if {s.kind for s in row.scorecard} == {OutageKind.CONTROLLED_SHUTDOWN} else "broker",
            when=ui.At(row.started_at),
            badges=ui.badges(row.intent, row.confidence),
        )


def _restart_facts(row: RollingRestart) -> Iterator[str]:
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
    return ui.row(
        ui.head(ui.Link(str(score.broker), outage.anchor) if outage else str(score.broker)),
        ui.Cell(OutageKind(score.kind).noun.label, "left"),
        ui.At(score.down_at),
        words.duration(words.elapsed_ms(score.down_at, score.up_at)) or "not seen back",
        words.duration(score.isr_recovered_ms) or "not known",
        words.duration(score.leadership_restored_ms) or "not known",
        words.exact(score.partitions_led_before),
        words.exact(score.elections),
        ui.Cell(has_waited if i else "", "bad" if score.is_early else ""),
    )


SECTION = Section("cluster", 10, "brokers", "Brokers", brokers)
OUTAGES = Section("cluster", 30, "outages", "Absences, replicas out of sync, leader imbalance", outages)
RESTARTS = Section("cluster", 60, "restarts", "Rolling restarts", restarts)
