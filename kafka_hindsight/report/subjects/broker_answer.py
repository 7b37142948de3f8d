"""The answer about one broker: was it away, what did that do, and does it lead what it should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import Confidence, WitnessKind
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Incident, OutOfSyncPeriod, Witness
from kafka_hindsight.knowledge.outage_words import hedged_verb
from kafka_hindsight.measures.time_away import away, since_when
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.answer import Answer, finding_items, incident_lines
from kafka_hindsight.report.not_known import sentences_about
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.paged_tables import failover_table
from kafka_hindsight.report.periods import imbalance_words, periods
from kafka_hindsight.report.trends import subject_trends
from kafka_hindsight.shared import plain, words

NAMED = 4
SHOWN = 200
"""The most absences and periods that are shown one by one."""


def broker_answer(page: PageRows, name: str) -> Answer:
    """Answer for a broker of the window, by its id."""
    broker = int(name)
    outages = page.rows_of(BrokerOutage, "broker", broker)
    incidents = figures.urgent_first(page.rows_of(Incident, "brokers", broker))
    worst = incidents[0] if incidents else None
    failovers = [row for row in page.of(Failover) if broker in (row.leader_from, row.leader_to)]
    seconds = sum(words.elapsed_ms(o.down_at, o.up_at) or 0 for o in outages) / 1000
    return Answer(
        "broker",
        name,
        plain.anchor("broker", name),
        _verdict(page, outages),
        Confidence.least(o.confidence for o in outages) if outages else "",
        None if not outages else "ongoing" if outages[-1].up_at is None else "over",
        unobserved=tuple(sentences_about(page.of(Witness), [*WitnessKind], broker)),
        cost=_cost(page, broker, outages),
        advice=tuple(dict.fromkeys(filter(None, (i.advice for i in incidents[:2])))),
        commands=tuple(worst.commands or ()) if worst else (),
        proof=outages[-1].evidence if outages else (),
        sections=(
            ui.ShownSection("broker-incidents", "Its incidents", incident_lines(page, incidents)),
            ui.ShownSection(
                "broker-periods", "When it was away, out of sync or led too little", tuple(_periods(page, broker))
            ),
            ui.ShownSection("broker-findings", "Findings about it", finding_items(page, "broker", [name])),
            ui.ShownSection("broker-leaders", "Changes of leaders from and to it", failover_table(failovers)),
            subject_trends(page, "broker", name, ("Absences", len(outages)), ("Seconds away", seconds)),
        ),
    )


def _verdict(page: PageRows, outages: Sequence[BrokerOutage]) -> str:
    if not outages:
        return "It was not away, as far as logs were read."
    sentences = [
        f"{hedged_verb(row)} {since_when(row, page.day)} ({f'away for {away(row)}' if away(row) else 'not seen back'})"
        for row in reversed(outages)
    ]
    return f"It {words.listed(sentences, at_most=NAMED)}."


def _cost(page: PageRows, broker: int, outages: Sequence[BrokerOutage]) -> tuple[ui.Fact, ...]:
    elections, rebalances = (sum(getattr(o, name) or 0 for o in outages) for name in ("elections", "rebalances"))
    out_of_sync = page.rows_of(OutOfSyncPeriod, "broker", broker)
    return ui.facts(
        ("Absences", words.number(len(outages))),
        ("Leader changes that they caused", words.number(elections) if outages else ""),
        ("Rebalances that they caused", words.number(rebalances) if outages else ""),
        ("Out of sync", words.times(len(out_of_sync)) if out_of_sync else ""),
        ("Leader imbalance", imbalance_words(page, broker)),
    )


def _periods(page: PageRows, broker: int) -> Iterator[ui.Block]:
    rows = periods(page, broker)
    yield from (entry for _, entry in rows[:SHOWN])
    tables = "gold.broker_outages, gold.out_of_sync_periods and gold.imbalance_periods"
    yield from ui.left_out_note(len(rows) - SHOWN, tables)
