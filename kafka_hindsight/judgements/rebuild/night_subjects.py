"""The judgement of what was there: the topics, groups and brokers of a window, whether or not anything happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Origin, SubjectKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import EVENT_ORDER, EVENTS
from kafka_hindsight.judgements.rebuild.groups import NAMES, ClientNames
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.sources import Judgement, lake_table, narrowed, where_among
from kafka_hindsight.shared.arrow_tables import ends, inside, with_columns
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, in_order
from kafka_hindsight.shared.words import counted

_BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
"""When a span began that was there before its first line."""


@dataclass(frozen=True)
class Appearance:
    """One subject, as one kind of source shows it in a window."""

    kind: SubjectKind
    name: str
    origin: Origin
    quotes: Sequence[rows.Quote]
    first_at: datetime
    last_at: datetime
    partitions: int | None = None
    is_whole: bool | None = None


Subject = tuple[SubjectKind, str]
"""What a row is about: its kind and its name."""


def subjects_of(
    cluster: str, window: Window, appearances: Iterable[Appearance], versions: Mapping[Subject, Sequence[rows.Event]]
) -> list[rows.NightSubject]:
    """Give a row for each subject that appears: by readings, which list all of it, else by logs."""
    return [
        _subject(cluster, window, sources, versions.get(subject, ()))
        for subject, sources in sorted(grouped(appearances, lambda a: (a.kind, a.name)).items())
    ]


def _subject(
    cluster: str, window: Window, sources: Sequence[Appearance], versions: Iterable[rows.Event]
) -> rows.NightSubject:
    best = min(sources, key=lambda a: a.origin is not Origin.SNAPSHOT)
    lines = in_order(versions)
    return rows.NightSubject(
        cluster=cluster,
        night_subject_id=row_id(cluster, window.start, window.end, best.kind, best.name),
        window_from=window.start,
        window_to=window.end,
        kind=best.kind,
        name=best.name,
        partitions=best.partitions,
        is_whole=best.is_whole,
        versions=list(dict.fromkeys(line.detail for line in lines if line.detail)) or None,
        origin=best.origin,
        first_at=min(a.first_at for a in sources),
        last_at=max(a.last_at for a in sources),
        evidence=evidence_of(best.quotes, [quote(line) for line in lines]),
    )


Reading = rows.PartitionSnapshot | rows.BrokerSnapshot | rows.GroupSnapshot


def topics_read(partitions: Iterable[rows.PartitionSnapshot]) -> Iterator[Appearance]:
    """The topics of readings: for each partition its first and last reading."""
    for topic, own in grouped(partitions, lambda p: p.topic).items():
        count = len({p.partition for p in own})
        topic_in_readings = _in_readings(
            SubjectKind.TOPIC, topic, own, f"topic {topic} has {counted(count, 'partition')}"
        )
        yield replace(topic_in_readings, partitions=count, is_whole=True)


def brokers_read(readings: Iterable[rows.BrokerSnapshot]) -> Iterator[Appearance]:
    """The brokers that readings list: of each the first and the last one."""
    for broker, own in grouped(readings, lambda r: str(r.broker)).items():
        yield _in_readings(SubjectKind.BROKER, broker, own, f"broker {broker} is in the cluster")


def groups_read(readings: Iterable[rows.GroupSnapshot]) -> Iterator[Appearance]:
    """The groups that readings list: of each the first and the last one."""
    for group, own in grouped(readings, lambda r: r.group_id).items():
        yield _in_readings(SubjectKind.GROUP, group, own, f"the reading lists group {group}")


def _in_readings(kind: SubjectKind, name: str, readings: Iterable[Reading], says: str) -> Appearance:
    first, *_, last = sorted([*readings, *readings], key=lambda r: r.snapshot_at)
    quotes = [quote_snapshot(reading, says) for reading in (first, last)]
    return Appearance(kind, name, Origin.SNAPSHOT, quotes, first.snapshot_at, last.snapshot_at)


def topics_in_logs(spans: Iterable[rows.LeaderSpan], window: Window, logs_end: datetime) -> Iterator[Appearance]:
    """The topics whose leaders a line or a record shows. Others may be there: no line lists all."""
    near = (s for s in spans if s.evidence and window.meets(s.since or window.start, s.until or logs_end))
    for topic, own in grouped(near, lambda s: s.topic).items():
        first_at = min(s.evidence[0].happened_at for s in own)
        last_at = max(s.until or logs_end for s in own)
        yield Appearance(
            SubjectKind.TOPIC,
            topic,
            Origin.BROKER,
            [s.evidence[0] for s in own],
            min(max(first_at, window.start), window.end),
            min(max(first_at, last_at, window.start), window.end),
            len({s.partition for s in own}),
            False,
        )


def shown_by_lines(kind: SubjectKind, name: str, lines: Sequence[rows.Event]) -> Appearance:
    """A broker that writes lines, or a group that lines name, by some of them."""
    ordered = in_order(lines)
    origin = Origin.CLIENT if all(e.origin == Origin.CLIENT for e in lines) else Origin.BROKER
    return Appearance(kind, name, origin, [quote(e) for e in ordered], ordered[0].happened_at, ordered[-1].happened_at)


def lines_of_brokers(events: pa.Table, scope: Scope) -> pa.Table:
    """Keep the first and the last line of the window that each broker wrote."""
    own = inside(events, scope.window, "happened_at")
    is_own = pc.and_(pc.equal(own["origin"], str(Origin.BROKER)), pc.is_valid(own["broker"]))
    return ends(own.filter(is_own), ("broker",), EVENT_ORDER)


def lines_of_groups(events: pa.Table, scope: Scope) -> pa.Table:
    """Keep the first and the last line of the window that names each group, of brokers and of clients."""
    own = inside(events, scope.window, "happened_at")
    return ends(own.filter(pc.is_valid(own["group_id"])), ("group_id", "origin"), EVENT_ORDER)


def outermost_spans(spans: pa.Table, scope: Scope) -> pa.Table:
    """Keep the first and the last span of each partition in the window that a line or a record shows."""
    start, end = scope.window.start, scope.window.end
    begins_before_end = pc.less(pc.coalesce(spans["since"], start), end)
    ends_after_start = pc.greater_equal(pc.coalesce(spans["until"], start), start)
    is_shown = pc.greater(pc.list_value_length(spans["evidence"]), 0)
    own = spans.filter(pc.and_(is_shown, pc.and_(begins_before_end, ends_after_start)))
    dated = with_columns(own, began_at=pc.coalesce(own["since"], _BEFORE_ALL))
    return ends(dated, ("topic", "partition"), ("began_at",)).drop_columns(["began_at"])


def ends_of_partitions(readings: pa.Table) -> pa.Table:
    """Keep the first and the last reading that shows each partition."""
    return ends(readings, ("topic", "partition"), ("snapshot_at",))


def ends_of_brokers(readings: pa.Table) -> pa.Table:
    """Keep the first and the last reading that lists each broker."""
    return ends(readings, ("broker",), ("snapshot_at",))


def ends_of_groups(readings: pa.Table) -> pa.Table:
    """Keep the first and the last reading that lists each group."""
    return ends(readings, ("group_id",), ("snapshot_at",))


@dataclass(frozen=True)
class NightSubjects:
    """The topics, groups and brokers of the window."""

    night_subjects: list[rows.NightSubject]


def judge_subjects(
    partitions: list[rows.PartitionSnapshot],
    brokers: list[rows.BrokerSnapshot],
    groups: list[rows.GroupSnapshot],
    leader_spans: list[rows.LeaderSpan],
    of_brokers: list[rows.Event],
    of_groups: list[rows.Event],
    versions: list[rows.Event],
    scope: Scope,
    facts: WindowFacts,
    names: ClientNames,
) -> NightSubjects:
    """Gather what readings list and what lines name, with the versions that processes print."""
    appearances = [
        *topics_read(partitions),
        *brokers_read(brokers),
        *groups_read(groups),
        *topics_in_logs(leader_spans, scope.window, facts.groups.observed_to),
        *(
            shown_by_lines(SubjectKind.BROKER, str(b), own)
            for b, own in grouped(of_brokers, lambda e: e.broker).items()
        ),
        *(
            shown_by_lines(SubjectKind.GROUP, str(g), own)
            for g, own in grouped(of_groups, lambda e: e.group_id).items()
        ),
    ]
    printed = defaultdict[Subject, list[rows.Event]](list)
    for line in versions:
        if line.happened_at >= scope.window.end:
            continue
        if line.origin == Origin.BROKER and line.broker is not None:
            printed[SubjectKind.BROKER, str(line.broker)].append(line)
        elif group := names.groups.get(names.of_logs.get(line.source, "")):
            printed[SubjectKind.GROUP, group].append(line)
    return NightSubjects(subjects_of(scope.cluster, scope.window, appearances, printed))


SUBJECTS = Judgement(
    "subjects",
    (judge_subjects,),
    ("cluster",),
    {
        "partitions": narrowed(ends_of_partitions, lake_table("bronze.partition_snapshots", span="window")),
        "brokers": narrowed(ends_of_brokers, lake_table("bronze.broker_snapshots", span="window")),
        "groups": narrowed(ends_of_groups, lake_table("bronze.group_snapshots", span="window")),
        "leader_spans": narrowed(outermost_spans, PARTITIONS.output("leader_spans")),
        "of_brokers": narrowed(lines_of_brokers, EVENTS),
        "of_groups": narrowed(lines_of_groups, EVENTS),
        "versions": where_among("kind", (Kind.SOFTWARE_VERSION,), EVENTS),
    },
    needs=(FACTS, NAMES),
)
