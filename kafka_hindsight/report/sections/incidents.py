"""Incidents, the most harmful first, each like a postmortem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import Harm
from kafka_hindsight.catalog.rows import Incident, Rebalance, Remedy
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases, vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

SHOWN_OPEN = 3
SHOWN_IN_FULL = 60
CALM_IN_FULL = 60
LINKS_PER_INCIDENT = 60
MOMENTS = 10
TOPICS = 3


def incidents(page: PageRows) -> Iterator[ui.Block]:
    """The incidents, the most harmful first; routine ones are folded."""
    rows = figures.ranked(page.of(Incident))
    if not rows:
        yield ui.Paragraph(phrases.empty_sentence(page, "No incident.", "No incident"))
    harmful = [row for row in rows if figures.needs(row) != "calm"]
    for i, row in enumerate(harmful[:SHOWN_IN_FULL]):
        yield _incident(page, row, is_open=i < SHOWN_OPEN)
    if harmful[SHOWN_IN_FULL:]:
        yield _table(page, harmful[SHOWN_IN_FULL:], "lesser incident")
    calm = figures.by_harm(row for row in rows if figures.needs(row) == "calm")
    for harm, harm_rows in calm.items():
        count = words.counted(len(harm_rows), f"{vocabulary.HARMS[harm].label} incident")
        others = [_table(page, harm_rows[CALM_IN_FULL:], "further incident")] if harm_rows[CALM_IN_FULL:] else []
        yield ui.Expandable(
            f"{count}: {harm.meaning[:1].lower()}{harm.meaning[1:]}",
            (*(_incident(page, row, is_open=False) for row in harm_rows[:CALM_IN_FULL]), *others),
            "more calm",
        )


def _incident(page: PageRows, row: Incident, is_open: bool) -> ui.Entry:
    look, anchor = vocabulary.HARMS[figures.harm_of(row)], plain.anchor("incident", row.incident_id)
    command_list = ui.List(tuple(ui.Item(ui.Badge(command, "code")) for command in row.commands or ()), "commands")
    commands = (ui.Paragraph("Check the current state:", "quiet ask"), command_list) if row.commands else ()
    parts = (
        ui.Facts(tuple(_impact(page, row))),
        ui.Paragraph(row.explanation),
        *_moments(page, row),
        ui.advice_box(row.advice),
        *commands,
        *_prevention(page, row),
        *_parts(page, row),
        page.evidence(row.evidence),
    )
    return ui.Entry(
        phrases.incident_headline(row),
        parts,
        anchor=anchor,
        tone=look.tone,
        when=ui.At(row.started_at),
        badges=ui.badges(row.intent, row.confidence),
        cost=look.label,
        is_open=is_open,
        brief=row.explanation,
        advice=row.advice,
    )


def _impact(page: PageRows, row: Incident) -> Iterator[ui.Fact]:
    """The harm of an incident, its time, and the groups and topics concerned."""
    harm = figures.harm_of(row)
    kind = vocabulary.INCIDENT_LABELS[row.kind]
    yield ui.Fact("Kind of harm", ui.Strong(harm.meaning), is_wide=True)
    length = (" (", words.duration(words.elapsed_ms(row.started_at, row.ended_at)), ")")
    until: ui.Words = (" to ", ui.At(row.ended_at), length) if row.ended_at else ", and it was not over by the end"
    yield ui.Fact("From, to", (ui.At(row.started_at), until))
    yield ui.Fact("Kind", kind)
    yield ui.Fact("Intent", row.intent.meaning)
    label, owners = page.whose(row.group_ids, row.topics or ())
    if owners:
        yield ui.Fact(label, owners)
    yield from _figures(row)
    yield from _earlier(page, row)
    if row.cause is not None:
        look = vocabulary.CAUSES[row.cause]
        yield ui.Fact("Cause", (ui.Badge(look.label, f"cause t-{look.tone}"), f", {row.confidence}"))
    else:
        yield ui.Fact("Confidence", row.confidence)
    if row.group_ids:
        label = "Group" if len(row.group_ids) == 1 else "Groups"
        yield ui.Fact(label, ui.names([plain.shortened(g) for g in row.group_ids], 24), is_wide=len(row.group_ids) > 1)


def _earlier(page: PageRows, row: Incident) -> Iterator[ui.Fact]:
    """Whether the nights before had it too: it is new, goes on, or is back again."""
    history = page.run.history
    if history is None or not history.windows or figures.needs(row) == "calm":
        return
    count = len(history.windows)
    before = next((e for e in history.incidents if e.recurrence_id == row.recurrence_id), None)
    if before is None:
        yield ui.Fact("Nights before", f"new: on none of the {words.counted(count, 'night')} before")
        return
    last_night = max(w.window_from for w in history.windows)
    trend = "as on the night before" if before.last_at >= last_night else "back again"
    nights = f"{trend}; on {words.number(before.nights)} of the {words.counted(count, 'night')} before, first at "
    yield ui.Fact(
        "Nights before", (nights, words.instant(before.first_at), ", last at ", words.instant(before.last_at))
    )


def _figures(row: Incident) -> Iterator[ui.Fact]:
    loss = phrases.lost_records(row.records_lost_low, row.records_lost_high)
    if loss and figures.harm_of(row) == Harm.RECORDS_LOST:
        yield ui.Fact("Records lost", loss)
    if row.partitions_offline:
        longest = f", the longest for at least {words.duration(row.offline_ms)}" if row.offline_ms is not None else ""
        count = row.partitions_still_offline
        still_offline = f"; {words.number(count)} still had none when the logs end" if count else ""
        summary = f"{words.counted(row.partitions_offline, 'partition')}{longest}{still_offline}"
        yield ui.Fact("Without a leader", summary)
    if row.partitions_refusing:
        yield ui.Fact("Refused acks=all", words.counted(row.partitions_refusing, "partition"))
    if row.topics:
        yield ui.Fact("Topics", ui.names([plain.shortened(t) for t in row.topics], 12))
    if row.failover_count:
        yield ui.Fact("Leader changes", words.number(row.failover_count))
    if row.rebalance_count:
        seconds = row.partition_seconds
        cost = "cost not known" if seconds is None else f"{seconds:,.1f} partition-seconds stopped"
        yield ui.Fact("Rebalances", f"{words.number(row.rebalance_count)}, {cost}")


def _moments(page: PageRows, row: Incident) -> Iterator[ui.Block]:
    """The timeline of an incident: absences, changes of leaders by kind, rebalances."""
    moments: list[tuple[ui.At, str]] = []
    for outage in page.outages_of.get(row.incident_id, ()):
        moments.append((ui.At(outage.down_at), f"{words.sentence(phrases.outage_words(outage))}."))
        for at, sentence in (
            (outage.detected_at, "The controller detected it."),
            (outage.up_at, "The broker served again."),
            (outage.isr_recovered_at, "The broker was back in every ISR."),
            (outage.leadership_restored_at, "The broker led its former partitions again."),
        ):
            if at is not None:
                moments.append((ui.At(at), sentence))
    for kind, rows in grouped(page.failovers_of.get(row.incident_id, ()), lambda f: f.kind).items():
        label = vocabulary.FAILOVERS[kind].label
        topics = words.listed([plain.shortened(t, 48) for t in dict.fromkeys(f.topic for f in rows)], TOPICS)
        sentence = f"{words.counted(len(rows), 'leader change')} of {topics}: {label}."
        moments.append((ui.At(rows[0].happened_at), sentence))
    for rebalance in page.rebalances_of.get(row.incident_id, ())[:MOMENTS]:
        moments.append((ui.At(rebalance.started_at), _rebalance(rebalance)))
    if len(moments) > 1:
        ordered = sorted(moments, key=lambda m: (m[0].instant is None, m[0].instant))
        items = tuple(ui.Item((at, "  ", sentence)) for at, sentence in ordered)
        yield ui.Heading("Timeline")
        yield ui.List(items, "moments")


def _rebalance(row: Rebalance) -> str:
    starter = phrases.member_name(row)
    delaying = [name for name in map(phrases.member_name, row.delayed_by) if name]
    origin = f", started by {starter}" if starter else ""
    delay = f"; it waited for {words.listed(delaying, 2)}" if delaying else ""
    length = f" for {words.duration(row.duration_ms)}" if row.duration_ms is not None else ""
    group = plain.shortened(row.group_id, 48)
    return f"Group {group} rebalanced{length}: {vocabulary.CAUSES[row.cause].label}{origin}{delay}."


def _prevention(page: PageRows, row: Incident) -> Iterator[ui.Block]:
    """The measures that would have prevented an incident: for its harm, and by the replay of the window."""
    rebalance_ids = {r.rebalance_id for r in page.rebalances_of.get(row.incident_id, ())}
    replayed = [r.explanation for r in page.of(Remedy) if rebalance_ids & {*r.rebalance_ids}]
    sentences = [row.prevention or "", *replayed]
    if any(sentences):
        yield ui.Heading("What would have prevented it")
        yield ui.Paragraph(" ".join(filter(None, sentences)))


def _parts(page: PageRows, row: Incident) -> Iterator[ui.Block]:
    """Links to the rows of an incident, folded."""
    outages = [
        ui.Link(
            f"{phrases.outage_words(o)} at {words.minute(o.down_at, page.day)}", plain.anchor("outage", o.outage_id)
        )
        for o in page.outages_of.get(row.incident_id, ())
    ]
    if outages:
        yield ui.Paragraph(("Absences: ", ui.join(outages)), "links")
    links = []
    for r in page.rebalances_of.get(row.incident_id, ()):
        group = f" {plain.shortened(r.group_id, 32)}" if len(row.group_ids) > 1 else ""
        at = words.instant(r.started_at, page.day)
        links.append(ui.Link(f"{at}{group}", plain.anchor("rebalance", r.rebalance_id)))
    if len(links) == 1:
        yield ui.Paragraph(("Rebalance: ", links[0]), "links")
    elif links:
        first_links = links[:LINKS_PER_INCIDENT]
        hidden = row.rebalance_count - len(first_links)
        line = ui.link_line(first_links, f"and {hidden} more in the table" if hidden > 0 else "")
        summary = f"Its {words.counted(row.rebalance_count, 'rebalance')}"
        yield ui.Expandable(summary, (ui.Paragraph(line, "links"),))


def _table(page: PageRows, rows: Sequence[Incident], noun: str) -> ui.Expandable:
    table_rows = []
    for row in rows:
        rebalances, count = page.rebalances_of.get(row.incident_id, ()), str(row.rebalance_count)
        first = ui.Link(count, plain.anchor("rebalance", rebalances[0].rebalance_id)) if rebalances else count
        headline = ui.Badge(phrases.incident_headline(row), f"cause t-{vocabulary.HARMS[figures.harm_of(row)].tone}")
        cells = (ui.At(row.started_at), headline, row.confidence, (first, phrases.declared_label(row)))
        table_rows.append(ui.TableRow(cells, plain.anchor("incident", row.incident_id)))
    table = ui.Table("Lesser incidents", ("Start", "What", "Confidence", "Rebalances"), tuple(table_rows))
    return ui.Expandable(words.counted(len(rows), noun), (table,))


SECTION = Section(20, "incidents", "Incidents, the most harmful first", "Incidents", incidents)
