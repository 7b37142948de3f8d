"""What was there in a night, by readings and by lines alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, GROUP_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.codes import Origin, SubjectKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import LeaderSpan, NightSubject, Quote
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.night_subjects import (
    Subject,
    brokers_read,
    groups_read,
    outermost_spans,
    shown_by_lines,
    subjects_of,
    topics_in_logs,
    topics_read,
)
from kafka_hindsight.shared.arrow_rows import rows_of
from kafka_hindsight.shared.windows import Window
from tests.support.rows import as_table, row

MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)
WINDOW = Window(MIDNIGHT, MIDNIGHT + timedelta(days=1))


def at(minutes: float) -> datetime:
    return MIDNIGHT + timedelta(minutes=minutes)


def event(minutes: float, **values: Any) -> Any:
    return row(EVENTS, happened_at=at(minutes), line_id=f"line-{minutes}", source="broker-1/server.log", **values)


def span(partition: int, minutes: float, until: float | None = None) -> LeaderSpan:
    quote = Quote(line_id=f"{partition}-{minutes}", source="s", happened_at=at(minutes), text="leads")
    return LeaderSpan(
        cluster="prod",
        topic="orders",
        partition=partition,
        since=at(minutes),
        until=None if until is None else at(until),
        leader=1,
        evidence=[quote],
    )


def subjects(*appearances: Any, versions: dict[Subject, list[Any]] | None = None) -> list[NightSubject]:
    return subjects_of("prod", WINDOW, appearances, versions or {})


def test_readings_list_whole_topics_without_any_trouble() -> None:
    read = [
        row(PARTITION_SNAPSHOTS, topic="orders", partition=p, snapshot_at=at(m), snapshot_id=f"r{m}")
        for p in (0, 1)
        for m in (5, 60)
    ]
    (topic,) = subjects(*topics_read(read), *topics_in_logs([span(0, 1)], WINDOW, at(70)))
    assert (topic.kind, topic.name, topic.partitions, topic.is_whole) == (SubjectKind.TOPIC, "orders", 2, True)
    assert (topic.origin, topic.first_at, topic.last_at) == (Origin.SNAPSHOT, at(1), at(70))
    assert [q.text for q in topic.evidence] == ["topic orders has 2 partitions"] * 2
    assert topic.versions is None


def test_logs_alone_show_at_least_the_partitions_they_name() -> None:
    (topic,) = subjects(*topics_in_logs([span(0, 3, 9), span(4, 5)], WINDOW, at(70)))
    assert (topic.partitions, topic.is_whole, topic.first_at, topic.last_at) == (2, False, at(3), at(70))


def test_topic_that_was_gone_before_the_window_is_not_in_it() -> None:
    assert subjects(*topics_in_logs([span(0, -90, -60)], WINDOW, at(70))) == []


def test_version_is_that_of_each_start() -> None:
    starts = [
        event(m, kind=Kind.SOFTWARE_VERSION, origin="broker", broker=1, detail=v) for m, v in ((9, "4.1"), (2, "4.0"))
    ]
    appearance = shown_by_lines(SubjectKind.BROKER, "1", [event(1, origin="broker", broker=1)])
    (broker,) = subjects(appearance, versions={(SubjectKind.BROKER, "1"): starts})
    assert broker.versions == ["4.0", "4.1"]
    assert broker.origin == Origin.BROKER


def test_broker_without_a_start_has_no_known_version() -> None:
    read = [row(BROKER_SNAPSHOTS, broker=3, snapshot_at=at(5), snapshot_id="r")]
    (broker,) = subjects(*brokers_read(read))
    assert (broker.name, broker.versions, broker.partitions, broker.is_whole) == ("3", None, None, None)


def test_group_of_clients_logs_alone_is_named_by_them() -> None:
    read = [row(GROUP_SNAPSHOTS, group_id="pay", snapshot_at=at(5), snapshot_id="r")]
    by_clients = shown_by_lines(SubjectKind.GROUP, "crm", [event(3, origin="client", group_id="crm")])
    crm, pay = subjects(*groups_read(read), by_clients)
    assert (crm.name, crm.origin) == ("crm", Origin.CLIENT)
    assert (pay.name, pay.origin) == ("pay", Origin.SNAPSHOT)


def test_first_and_last_spans_of_partitions_show_what_all_show() -> None:
    spans = [span(0, -30, -20), span(0, 1, 10), span(0, 10, 20), span(0, 20, 30), span(1, 5), span(1, 2, 5)]
    narrowed = outermost_spans(as_table(spans, LeaderSpan.TABLE), Scope("prod", WINDOW, WINDOW))
    assert narrowed.num_rows == 4
    of_all, of_some = (
        subjects(*topics_in_logs(own, WINDOW, at(70)))
        for own in (spans, rows_of(narrowed.combine_chunks().to_batches(), LeaderSpan))
    )
    assert [replace(topic, evidence=[]) for topic in of_all] == [replace(topic, evidence=[]) for topic in of_some]
