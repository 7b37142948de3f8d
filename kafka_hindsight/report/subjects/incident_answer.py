"""The answer about one incident, like a postmortem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import Harm, Intent
from kafka_hindsight.catalog.rows import (
    Backlog,
    BrokerOutage,
    Failover,
    Incident,
    OffsetJump,
    ProducerFailure,
    Rebalance,
    Remedy,
    Unavailability,
)
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.declared_changes import changes_in_words, changes_met
from kafka_hindsight.report.jump_lines import jumps_block
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.paged_tables import failover_table, rebalance_table
from kafka_hindsight.report.producer_lines import failures_block
from kafka_hindsight.report.sections.strip import strip_of
from kafka_hindsight.report.story_lines import story_blocks, story_data
from kafka_hindsight.report.subjects.incident_parts import parts_of
from kafka_hindsight.settings.changes import Change
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

MOMENTS = 40
TOPICS = 3
NAMES = 24


def incident_answer(page: PageRows, incident_id: str) -> Answer:
    """Answer for an incident of the window."""
    row = page.incidents[incident_id]
    failovers, rebalances = (
        page.rows_of(Failover, "incident_id", incident_id),
        page.rows_of(Rebalance, "incident_id", incident_id),
    )
    failures = page.rows_of(ProducerFailure, "incident_id", incident_id)
    jumps = page.rows_of(OffsetJump, "incident_id", incident_id)
    return Answer(
        "incident",
        phrases.incident_headline(row),
        plain.anchor("incident", incident_id),
        row.explanation,
        row.confidence,
        figures.end_state_of(row),
        cost=_facts(page, row),
        advice=(row.advice, *_prevention(page, row)),
        changes=tuple({c.key: c for r in rebalances for c in r.changes or ()}.values()),
        commands=tuple(row.commands or ()),
        proof=row.evidence,
        parts=parts_of(page, row),
        tables={"story": story_data(story)} if (story := page.story_of.get(incident_id)) else {},
        sections=(
            ui.ShownSection("story", "One story", tuple(story_blocks(page, row))),
            ui.ShownSection("moments", "Its time", (*strip_of(page, row), *_moments(page, row))),
            ui.ShownSection("jumps", "Records skipped and read again", tuple(jumps_block(page, jumps))),
            ui.ShownSection("producers", "What producers met", tuple(failures_block(page, failures))),
            ui.ShownSection("changes", "Its changes of leaders", failover_table(failovers)),
            ui.ShownSection("rebalances", "Its rebalances", rebalance_table(page, rebalances)),
        ),
    )


def _facts(page: PageRows, row: Incident) -> tuple[ui.Fact, ...]:
    """The harm of an incident, its time, its owners, and the groups and topics concerned."""
    length = f" ({words.duration(words.elapsed_ms(row.started_at, row.ended_at))})"
    until: ui.Words = (" to ", ui.At(row.ended_at), length) if row.ended_at else ", not over when the logs end"
    recurrence, noun = page.recurrence(row), row.cause.noun if row.cause else None
    changes = changes_met(page.changes, row, page.window[1])
    return ui.facts(
        ("Harm", ui.Strong(_harm(row))),
        ("From, to", (ui.At(row.started_at), until)),
        ("Planned", _planned(page, row, changes)),
        ("Declared", changes_in_words(changes)),
        page.whose(row.group_ids, row.topics or ()),
        ("Nights before", recurrence and recurrence[1]),
        *_figures(page, row),
        ("Cause", (ui.Badge(noun.label, f"cause t-{noun.family}"), f", {row.confidence}") if noun else ""),
        ("Brokers", ui.join([page.broker_link(broker) for broker in row.brokers or ()])),
        _names(page, "topic", row.topics or ()),
        _names(page, "group", row.group_ids),
    )


def _planned(page: PageRows, row: Incident, changes: Sequence[Change]) -> str:
    """Whether an incident had been declared, by a maintenance window or by changes that it meets."""
    if page.is_planned(row) and row.intent is not Intent.DECLARED:
        return "All of it was declared."
    if changes and row.intent is not Intent.DECLARED:
        return "Declared work meets it. That does not show that all of it was planned."
    return row.intent.meaning


def _harm(row: Incident) -> str:
    """The harm of an incident, with the number of lost records."""
    harm = figures.harm_of(row)
    lost = phrases.lost_records(row.records_lost_low, row.records_lost_high)
    is_counted = harm is Harm.RECORDS_LOST and row.records_lost_low
    return f"{lost.replace('record', 'committed record')} lost" if is_counted else harm.meaning


def _names(page: PageRows, kind: str, names: Sequence[str]) -> tuple[str, ui.Words]:
    more = f" and {len(names) - NAMES} more" if names[NAMES:] else ""
    noun = words.verb(len(names), kind.capitalize(), f"{kind.capitalize()}s")
    links = ui.join([page.link(kind, name) for name in names[:NAMES]])
    return noun, (links, more) if names else ""


def _figures(page: PageRows, row: Incident) -> Iterator[tuple[str, str]]:
    if figures.harm_of(row) == Harm.RECORDS_LOST and not row.records_lost_low:
        yield "Records lost", phrases.lost_records(row.records_lost_low, row.records_lost_high)
    intervals = page.rows_of(Unavailability, "incident_id", row.incident_id)
    for label, kinds in (("Without a leader", LEADERLESS), ("Without writes (acks=all)", NO_WRITES)):
        if (sums := unused(intervals, kinds)).most:
            yield label, words.sentence(sums.clause())
    if row.failover_count:
        yield "Leader changes", words.number(row.failover_count)
    if row.rebalance_count:
        seconds = row.partition_seconds
        cost = "cost not known" if seconds is None else f"at most {seconds:,.1f} partition-seconds stopped"
        yield "Rebalances", f"{words.number(row.rebalance_count)}, {cost}"
    if backlogs := _backlogs(page, row):
        worst = [f"group {plain.shortened(b.group_id)}: {phrases.backlog_words(b)}" for b in backlogs[:TOPICS]]
        more = len(backlogs) - TOPICS
        yield "Backlog", f"{'; '.join(worst)}{f'; and {words.number(more)} smaller ones' if more > 0 else ''}"


def _backlogs(page: PageRows, row: Incident) -> list[Backlog]:
    """The backlogs of the incident's rebalances, and of its outages without one, the largest first."""
    rebalances = page.rows_of(Rebalance, "incident_id", row.incident_id)
    outages = page.rows_of(BrokerOutage, "incident_id", row.incident_id)
    rows = [
        *(b for r in rebalances for b in page.rows_of(Backlog, "rebalance_id", r.rebalance_id)),
        *(b for o in outages for b in page.rows_of(Backlog, "outage_id", o.outage_id)),
    ]
    return sorted((b for b in rows if b.backlog), key=lambda b: (-b.backlog, b.backlog_id))


def _moments(page: PageRows, row: Incident) -> Iterator[ui.Block]:
    """Absences, changes of leaders by kind, and rebalances, in order of time."""
    moments: list[tuple[ui.At, ui.Words]] = []
    for outage in page.rows_of(BrokerOutage, "incident_id", row.incident_id):
        link = ui.Link(words.sentence(phrases.outage_words(outage)), plain.anchor("outage", outage.outage_id))
        moments.append((ui.At(outage.down_at), (link, ".")))
        for at, sentence in (
            (outage.detected_at, "The controller detected it."),
            (outage.up_at, "The broker served again."),
            (outage.isr_recovered_at, "The broker was back in every ISR."),
            (outage.leadership_restored_at, "The broker led its former partitions again."),
        ):
            if at is not None:
                moments.append((ui.At(at), sentence))
    for kind, rows in grouped(page.rows_of(Failover, "incident_id", row.incident_id), lambda f: f.kind).items():
        topics = words.listed([plain.shortened(t, 48) for t in dict.fromkeys(f.topic for f in rows)], TOPICS)
        sentence = f"{words.counted(len(rows), 'leader change')} of {topics}: {kind.noun.label}."
        moments.append((ui.At(rows[0].happened_at), sentence))
    for rebalance in page.rows_of(Rebalance, "incident_id", row.incident_id)[:MOMENTS]:
        moments.append((ui.At(rebalance.started_at), _rebalance(rebalance)))
    if len(moments) > 1:
        ordered = sorted(moments, key=lambda m: (m[0].instant is None, m[0].instant))
        items = tuple(ui.Item((at, "  ", sentence)) for at, sentence in ordered)
        yield ui.Expandable("Each moment", (ui.List(items, "moments"),))


def _rebalance(row: Rebalance) -> str:
    starter = phrases.member_name(row)
    delaying = [name for name in map(phrases.member_name, row.delayed_by) if name]
    origin = f", started by {starter}" if starter else ""
    delay = f"; it waited for {words.listed(delaying, 2)}" if delaying else ""
    length = f" for {words.duration(row.duration_ms)}" if row.duration_ms is not None else ""
    group = plain.shortened(row.group_id, 48)
    return f"Group {group} rebalanced{length}: {row.cause.noun.label}{origin}{delay}."


def _prevention(page: PageRows, row: Incident) -> Iterator[str]:
    """The measures that would have prevented an incident: for its harm, and by the replay of the window."""
    rebalance_ids = {r.rebalance_id for r in page.rows_of(Rebalance, "incident_id", row.incident_id)}
    replays = [r.explanation for r in page.of(Remedy) if rebalance_ids & {*r.rebalance_ids}]
    sentences = " ".join(filter(None, [row.prevention or "", *replays]))
    if sentences:
        yield f"What would have prevented it: {sentences}"
