"""The answer about one group: is it the group's own doing or the cluster's, what it cost, and what to change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause, Origin, StallKind, WitnessKind
from kafka_hindsight.catalog.nouns.causes import CauseFamily
from kafka_hindsight.catalog.rows import (
    Backlog,
    BrokerOutage,
    CoordinatorMove,
    Coverage,
    Finding,
    Incident,
    MemberSetting,
    OffsetJump,
    Ownership,
    PartitionStall,
    Rebalance,
    Remedy,
    Unavailability,
    Witness,
)
from kafka_hindsight.catalog.rows.structs import SettingChange
from kafka_hindsight.knowledge.commit_errors import is_of_the_cluster
from kafka_hindsight.measures.unavailability_sums import NO_CONSUMER, lasted_ms, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases
from kafka_hindsight.report.answer import Answer, finding_items, incident_lines
from kafka_hindsight.report.jump_lines import jumps_block
from kafka_hindsight.report.not_known import sentences_about
from kafka_hindsight.report.page_rows import NEAR, FailedCommits, PageRows
from kafka_hindsight.report.paged_tables import rebalance_table
from kafka_hindsight.report.stall_table import stall_table
from kafka_hindsight.report.subjects.cluster_effects import ClusterEffects
from kafka_hindsight.report.subjects.group_assignments import assignments
from kafka_hindsight.report.subjects.group_tables import group_tables
from kafka_hindsight.report.subjects.incident_parts import parts_of
from kafka_hindsight.report.trends import subject_trends
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL
from kafka_hindsight.shared.grouping import grouped

STORIES = 60
"""The most rebalances that are shown one by one; the paged table has all."""

OWNER_LANES = 24
OWNER_TONES = ("member", "topic", "asked", "broker", "lost", "protocol")
"""The colours of owners, in turn: those of the style sheet that colour-blind readers tell apart best come first."""


def group_answer(page: PageRows, group: str) -> Answer:
    """Answer for a group of the window."""
    rebalances = page.rows_of(Rebalance, "group_id", group)
    incidents, routine = figures.by_need(page.rows_of(Incident, "group_ids", group))
    worst = incidents[0] if incidents else None
    remedies = sorted(
        page.rows_of(Remedy, "group_id", group),
        key=lambda r: (-(r.partition_seconds_avoided or 0.0), -r.rebalances_avoided, r.setting),
    )
    settings = page.rows_of(MemberSetting, "group_id", group)
    jumps, effects = page.rows_of(OffsetJump, "group_id", group), ClusterEffects(page, group)
    is_hit = worst is None and effects.is_hit
    advice = [Cause.COORDINATOR_MOVED.noun.advice] if is_hit else []
    advice += [r.explanation for r in remedies[:2]] + ([worst.advice] if worst else [])
    cost = figures.partition_seconds(rebalances)
    return Answer(
        "group",
        plain.shortened(group),
        plain.anchor("group", group),
        _verdict(page, group, worst, rebalances, effects),
        worst.confidence if worst else effects.confidence if is_hit else _confidence(rebalances),
        figures.end_state_of(worst) if worst else None,
        worst.explanation if worst else "",
        unobserved=tuple(_unobserved(page, group)),
        cost=_cost(page, group, rebalances),
        advice=tuple(dict.fromkeys(advice)),
        changes=_changes(remedies, rebalances),
        commands=tuple(worst.commands or ()) if worst else (),
        proof=worst.evidence if worst else rebalances[0].evidence if rebalances else (),
        parts=parts_of(page, worst) if worst else {},
        tables=group_tables(page, group),
        sections=(
            ui.ShownSection("group-incidents", "Its incidents", incident_lines(page, [*incidents, *routine])),
            ui.ShownSection("group-jumps", "Records skipped and read again", tuple(jumps_block(page, jumps))),
            ui.ShownSection("group-cluster", "What the cluster did to it", tuple(effects.blocks())),
            ui.ShownSection("group-findings", "Findings about it", finding_items(page, "group", [group])),
            ui.ShownSection("group-settings", "Its members and their settings", tuple(_settings(settings))),
            ui.ShownSection(
                "group-assignments", "Before and after each rebalance", tuple(assignments(page, group, rebalances))
            ),
            ui.ShownSection(
                "group-stalls",
                "Its partitions that stood still or fell behind",
                tuple(stall_table(page, page.rows_of(PartitionStall, "group_id", group))),
            ),
            ui.ShownSection("group-owners", "Who owned what", tuple(_owners(page, group))),
            ui.ShownSection("group-rebalances", "Its rebalances", tuple(_stories(page, rebalances))),
            subject_trends(page, "group", group, ("Rebalances", len(rebalances)), ("Partition-seconds stopped", cost)),
        ),
    )


def _changes(remedies: Sequence[Remedy], rebalances: Sequence[Rebalance]) -> tuple[SettingChange, ...]:
    """The settings to change: those that a replay of the window shows to help, then those of its rebalances."""
    rows: Sequence[Remedy | Rebalance] = (*remedies, *rebalances)
    everything = [change for row in rows for change in row.changes or ()]
    return tuple({change.key: change for change in reversed(everything)}.values())[::-1]


def _verdict(
    page: PageRows, group: str, worst: Incident | None, rebalances: Sequence[Rebalance], effects: ClusterEffects
) -> str:
    """Whose doing it was, what happened, and whether the brokers were healthy meanwhile.

    Without an incident that asks for something it is what the cluster did; the rebalances are routine.
    """
    jumps = page.rows_of(OffsetJump, "group_id", group)
    if worst is not None:
        rows = [r for r in rebalances if r.incident_id == worst.incident_id]
        side = _side(worst, rows, [j for j in jumps if j.incident_id == worst.incident_id])
        health = _health(page, group, rows) if side == CauseFamily.MEMBER.noun.side and rows else ""
        beside = f"Beside that, {effects.clause()}." if effects.is_hit else ""
        return _sentences(f"{side}: {phrases.incident_headline(worst)}.", health, _longest_wait(rows), beside)
    if effects.is_hit:
        side = CauseFamily.BROKER.noun.side
        own = f"Its own {_routine(rebalances)} routine." if rebalances else ""
        return _sentences(f"{side}: {effects.clause()}.", own, _longest_wait(rebalances))
    if rebalances:
        routine = f"Routine: {words.counted(len(rebalances), 'rebalance')}, {_causes(rebalances)}."
        return _sentences(routine, _longest_wait(rebalances), effects.sentence())
    stalled = len(page.rows_of(PartitionStall, "group_id", group))
    lag = f"It did not rebalance; {words.counted(stalled, 'partition')} stood still or fell behind."
    return _sentences(lag if stalled else "" if effects.sentence() else "Nothing happened.", effects.sentence())


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _causes(rows: Sequence[Rebalance]) -> str:
    tally = Counter(r.cause.noun.label for r in rows).most_common()
    return words.listed([f"{label} ({words.number(count)})" for label, count in tally], at_most=3)


def _routine(rows: Sequence[Rebalance]) -> str:
    """The rebalances with their causes, to be called routine: `3 rebalances (...) are`."""
    return f"{words.counted(len(rows), 'rebalance')}, {_causes(rows)}, {words.verb(len(rows), 'is', 'are')}"


def _longest_wait(rows: Sequence[Rebalance]) -> str:
    """The longest time that the group waited for one member, from a heartbeat interval on; empty without one."""
    waits = [delay for row in rows for delay in row.delayed_by if delay.waited_ms is not None]
    longest = max(waits, key=lambda d: d.waited_ms or 0, default=None)
    if longest is None or timedelta(milliseconds=longest.waited_ms or 0) <= HEARTBEAT_INTERVAL:
        return ""
    return f"The group waited {words.duration(longest.waited_ms)} for {phrases.member_name(longest)}."


def _side(worst: Incident, rows: Sequence[Rebalance], jumps: Sequence[OffsetJump]) -> str:
    """The side on which the cause lies: the group's own processes, the cluster, or another one.

    Without a rebalance it is the side of who moved the group's offsets.

    A cause that an outage of a broker led to counts for the cluster, whatever the members did. Of several causes the
    one with more than half of the rebalances counts.
    """
    if worst.brokers or worst.first_outage_id:
        return CauseFamily.BROKER.noun.side
    if jumps and not rows:
        return jumps[0].actor.noun.side
    sides = Counter(row.cause.noun.family.noun.side for row in rows)
    side, count = sides.most_common(1)[0] if sides else (CauseFamily.UNKNOWN.noun.side, 0)
    return side if 2 * count > sides.total() or not sides else "Several causes"


def _health(page: PageRows, group: str, rows: Sequence[Rebalance]) -> str:
    """Whether a broker was away or the coordinator moved while the group rebalanced, as far as logs were read."""
    if all(row.origin != Origin.BROKER for row in page.of(Coverage)):
        return "No broker's log was read, so it is not known whether the brokers were healthy."
    start, end = rows[0].started_at - NEAR, max(row.ended_at or row.started_at for row in rows)
    away = [o for o in page.of(BrokerOutage) if o.down_at <= end and (o.up_at is None or o.up_at >= start)]
    moves = [m for m in page.rows_of(CoordinatorMove, "group_id", group) if start <= m.moved_at <= end]
    if away:
        names = words.listed([f"broker {broker}" for broker in sorted({o.broker for o in away})])
        verb = words.verb(len(away), "was", "were")
        return f"{words.sentence(names)} {verb} away meanwhile; no line links that with it."
    if moves:
        return "Its coordinator moved meanwhile; no line links that with it."
    return "No broker was away meanwhile, and its coordinator did not move."


def _confidence(rebalances: Sequence[Rebalance]) -> str:
    """The confidence that most of the rebalances have."""
    counts = Counter(row.confidence for row in rebalances)
    return counts.most_common(1)[0][0] if counts else ""


def _unobserved(page: PageRows, group: str) -> Iterator[str]:
    """The evidence that the window lacks and that would say more about a group."""
    origins = {row.origin for row in page.of(Coverage)}
    if Origin.CLIENT not in origins:
        yield "The members' own logs: they say why a member went."
    yield from sentences_about(page.of(Witness), [WitnessKind.GROUPS])
    for gap in figures.unseen(page.of(Finding)):
        is_about_others = gap.subject_kind == "group" and gap.subject != group and words.stands_for(gap.subject) == 1
        if gap.subject_kind not in ("partition", "topic") and not is_about_others:
            yield f"{gap.message}."


def _cost(page: PageRows, group: str, rebalances: Sequence[Rebalance]) -> tuple[ui.Fact, ...]:
    costs = [row.partition_seconds for row in rebalances if row.partition_seconds is not None]
    intervals = page.rows_of(Unavailability, "group_id", group)
    stops = unused(intervals, NO_CONSUMER)
    open_rows = [row for row in intervals if row.ended_at is None]
    before = stops.total_ms - sum(map(lasted_ms, open_rows))
    silence = [f"for {words.duration(before)}"] if before else []
    silence += [f"and none since {words.instant(open_rows[0].started_at, page.day)}"] if open_rows else []
    largest = max(page.rows_of(Backlog, "group_id", group), key=lambda b: b.backlog, default=None)
    stalls = Counter(row.kind for row in page.rows_of(PartitionStall, "group_id", group))
    stalled = [f"{words.number(stalls[k])} {k.noun.label}" for k in StallKind.worst_first() if stalls[k]]
    return ui.facts(
        ("Rebalances", words.number(len(rebalances))),
        ("Largest backlog", phrases.backlog_words(largest) if largest else ""),
        ("Partitions stopped", f"at most {words.number(sum(costs))} partition-seconds" if costs else ""),
        ("No member consumed", ", ".join(silence).removeprefix("and ") if stops.longest is not None else ""),
        ("Commits that failed", _failed_commits(page, group)),
        ("Partitions", words.listed(stalled)),
        page.whose([group], ()),
    )


def _failed_commits(page: PageRows, group: str) -> str:
    """The lines of its members about commits that failed; empty where their logs show none.

    Several errors may be lines about one commit.
    """
    rows = page.rows_of(FailedCommits, "group_id", group)
    refused = sum(row.commits for row in rows if is_of_the_cluster(row.error))
    share = f"; brokers refused {words.number(refused)} because of their own state" if refused else ""
    return f"{words.counted(sum(row.lines for row in rows), 'line')} of its members{share}" if rows else ""


def _owners(page: PageRows, group: str) -> Iterator[ui.Block]:
    """A lane for each partition, in the colour of its owner; a list of the owners below."""
    rows = sorted(page.rows_of(Ownership, "group_id", group), key=lambda r: (r.topic, r.partition, r.valid_from))
    if not rows:
        return
    names = {row.member_id: plain.shortened(row.client_id or row.member_id, 48) for row in rows}
    clients = list(dict.fromkeys(names.values()))
    tones = {client: OWNER_TONES[i % len(OWNER_TONES)] for i, client in enumerate(clients)}
    by_partition = grouped(rows, lambda r: (r.topic, r.partition))
    moved = sorted(by_partition, key=lambda place: (-len(by_partition[place]), place))
    lanes = tuple(_lane(page, place, by_partition[place], names, tones) for place in sorted(moved[:OWNER_LANES]))
    hidden = len(moved) - len(lanes)
    yield ui.TimelinePicture(
        begins=min(row.valid_from for row in rows),
        ends=max(row.valid_to for row in rows),
        lanes=lanes,
        left_out=(f"{words.counted(hidden, 'partition')} that changed its owner less often",) if hidden > 0 else (),
        legend=tuple((tones[client], client) for client in clients[: len(OWNER_TONES)]),
    )


def _lane(
    page: PageRows,
    place: tuple[str, int],
    rows: Sequence[Ownership],
    names: Mapping[str, str],
    tones: Mapping[str, str],
) -> ui.Lane:
    spans = []
    for row in rows:
        owner = names[row.member_id]
        until = "the end of the window" if row.is_open else words.instant(row.valid_to, page.day)
        sentence = f"{owner} from {words.instant(row.valid_from, page.day)} to {until}"
        spans.append(ui.Span("bar", row.valid_from, row.valid_to, tones[owner], sentence, owner, ""))
    partition = phrases.partition_name(*place)
    owners = words.counted(len(rows), "owner")
    return ui.Lane("owner", partition, owners, "; ".join(s.says for s in spans[:8]), "", spans)


def _settings(rows: Sequence[MemberSetting]) -> Iterator[ui.Block]:
    """One row for each set of settings, with the clients that have it."""
    clients: defaultdict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for row in rows:
        settings = (
            row.protocol or "",
            ", ".join(row.assignors or ()),
            words.duration(row.session_timeout_ms),
            words.duration(row.rebalance_timeout_ms),
            "yes" if row.instance_id else "no",
        )
        clients[settings][plain.shortened(row.client_id or "not known", 48)] = None
    table_rows = [
        ui.row(ui.head(words.listed([*names], at_most=4)), *(value or "not known" for value in settings))
        for settings, names in clients.items()
    ]
    headings = ("Clients", "Protocol", "Assignors", "session.timeout.ms", "max.poll.interval.ms", "Static")
    if table_rows:
        yield ui.PlainTable("Settings of its members", headings, tuple(table_rows))


def _stories(page: PageRows, rows: Sequence[Rebalance]) -> Iterator[ui.Block]:
    """The first rebalances one by one; where there are more, all of them in a paged table."""
    if len(rows) > STORIES:
        yield from rebalance_table(page, rows)
        yield ui.Heading(f"The first {STORIES} of them one by one")
    for row in rows[:STORIES]:
        noun, incident = row.cause.noun, page.incidents.get(row.incident_id)
        intent = (ui.DECLARED,) if incident and phrases.declared_label(incident) else ()
        yield ui.Entry(
            row.explanation,
            (ui.Paragraph(row.advice, "advice"), ui.Facts(_facts(page, row)), page.evidence(row.evidence)),
            anchor=plain.anchor("rebalance", row.rebalance_id),
            style="rebalance",
            tone=noun.family,
            when=ui.At(row.started_at),
            badges=(ui.Badge(noun.label, f"cause t-{noun.family}"), *intent, ui.confidence_badge(row.confidence)),
            cost=words.duration(row.duration_ms),
        )


_KIPS = {"consumer": "KIP-848", "streams": "KIP-1071", "share": "KIP-932"}


def _facts(page: PageRows, row: Rebalance) -> tuple[ui.Fact, ...]:
    incident = page.incidents.get(row.incident_id)
    address = page.incident_anchor(incident) if incident else page.rebalance_anchor(row)
    link = incident and address != page.rebalance_anchor(row) and ui.Link(phrases.incident_headline(incident), address)
    members, generations = (row.members_before, row.members_after), (row.from_generation, row.to_generation)
    contributors = [
        (ui.Name(phrases.member_name(m)), f" ({m.cause.noun.label}", (", ", ui.At(m.at)) if m.at else "", ")")
        for m in row.contributors or ()
    ]
    delays = [
        (ui.Name(phrases.member_name(d)), f" for {words.duration(d.waited_ms)}" if d.waited_ms is not None else "")
        for d in row.delayed_by
    ]
    return ui.facts(
        ("Reason in the broker's log", row.reason),
        ("Started by", row.client_id and (page.link("client", row.client_id), f" {plain.shortened(row.host or '')}")),
        ("Other causes", ui.join(contributors)),
        ("It waited for", ui.join(delays)),
        (
            "Incident",
            link or None,
        ),
        ("Cost", phrases.partition_seconds(row)),
        ("Backlog", "; ".join(map(phrases.backlog_words, page.rows_of(Backlog, "rebalance_id", row.rebalance_id)))),
        ("Members", "" if members == (None, None) else phrases.change(*members)),
        ("Generation", "" if generations == (None, None) else phrases.change(*generations)),
        ("Outcome", row.outcome if row.outcome != "completed" else ""),
        ("Coordinator", None if row.coordinator is None else page.broker_link(row.coordinator)),
        ("Protocol", f"{row.protocol} ({_KIPS[row.protocol]})" if row.protocol in _KIPS else ""),
    )
