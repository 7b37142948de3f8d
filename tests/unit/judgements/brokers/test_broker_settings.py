"""How brokers and topics were set up at an instant, on lines as captured and beside readings."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from tests.support.nights import at, events
from tests.support.rows import AT, row

MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
HOUR = timedelta(hours=1)


def value_of(settings: BrokerSettings, topic: str, name: str, clock: str) -> str | None:
    setting = settings.of_topic(topic, name, at(clock))
    return setting.value if setting else None


def configured(hour: int, broker: int = 1, **values: str) -> Event:
    detail = "\n".join(["", *(f"{name.replace('_', '.')} = {value}" for name, value in values.items())])
    return row(EVENTS, kind="broker_configured", broker=broker, happened_at=AT + hour * HOUR, detail=detail)


def own(hour: int, detail: str | None) -> Event:
    return row(EVENTS, kind="topic_configured", topic="t", happened_at=AT + hour * HOUR, detail=detail)


def read(hour: int, name: str, value: str, topic: str | None = None, node: int | None = None) -> Event:
    return row(
        EVENTS, kind=Kind.SETTING_READ, topic=topic, node=node, reason=name, detail=value, happened_at=AT + hour * HOUR
    )


def test_broker_settings_hold_from_its_start() -> None:
    for excerpt, started, replicas in (("settings-2.8", "01:44:23.934", "3"), ("settings-4.1", "01:40:53.162", "3")):
        settings = settings_of(events(excerpt))
        setting = settings.of_broker(2, "offsets.topic.replication.factor", at(started))
        assert setting and setting.value == replicas and setting.number == 3
        assert setting.quote.text.endswith("KafkaConfig values: offsets.topic.replication.factor = 3")
        rack = settings.of_broker(2, "broker.rack", at(started))
        assert rack and rack.value == "rack-b"
        assert settings.of_broker(2, "broker.rack", at(started) - timedelta(seconds=1)) is None
        assert settings.of_broker(1, "broker.rack", at(started)) is None


def test_setting_unknown_to_version_is_none() -> None:
    old, new = settings_of(events("settings-2.8")), settings_of(events("settings-4.1"))
    name = "group.consumer.session.timeout.ms"
    assert old.of_brokers(name, at("02:00:00")) is None
    setting = new.of_brokers(name, at("02:00:00"))
    assert setting and setting.number == 45_000


def test_topic_setting_holds_from_its_line_and_is_unknown_before() -> None:
    for excerpt, topic, since in (
        ("settings-2.8", "ads-risky-18", "01:54:07.035"),
        ("settings-4.1", "fraud-risky-19", "01:52:23.870"),
    ):
        settings = settings_of(events(excerpt))
        assert value_of(settings, topic, UNCLEAN, since) == "true"
        assert value_of(settings, topic, MIN_ISR, since) == "1"
        assert value_of(settings, topic, UNCLEAN, "01:50:00") is None
        assert value_of(settings, "never-set", MIN_ISR, "01:55:00") is None


def test_zookeeper_broker_logs_each_topic_setting_change() -> None:
    settings = settings_of(events("settings-3.9"))
    reports = [
        value_of(settings, "__consumer_offsets", MIN_ISR, clock) for clock in ("13:10:24", "13:10:25", "13:10:45")
    ]
    assert reports == [None, "3", "1"]
    course = settings.course_of_topic("__consumer_offsets", MIN_ISR)
    assert [(s and s.value) for _, s in course] == [None, "3", "1"]


def test_newest_line_or_reading_decides_topic_setting() -> None:
    reports = [read(0, MIN_ISR, "2", "t"), own(2, "min.insync.replicas=1"), read(4, MIN_ISR, "3", "t")]
    for some in permutations(reports):
        settings = settings_of(some)
        values = [settings.of_topic("t", MIN_ISR, AT + hour * HOUR) for hour in (-1, 1, 3, 5)]
        assert [v.value for v in values if v] == ["2", "2", "1", "3"]


def test_removed_topic_setting_is_inherited_again() -> None:
    settings = settings_of([configured(0, min_insync_replicas="2"), own(1, "min.insync.replicas -> 1"), own(3, None)])
    values = [settings.of_topic("t", MIN_ISR, AT + hour * HOUR) for hour in (0, 1, 3)]
    assert [v and v.value for v in values] == [None, "1", "2"]


def test_differing_brokers_give_no_common_setting() -> None:
    reports = [configured(0, 1, min_insync_replicas="1"), configured(1, 2, min_insync_replicas="2")]
    settings = settings_of([*reports, configured(3, 1, min_insync_replicas="2")])
    values = [settings.of_brokers(MIN_ISR, AT + hour * HOUR) for hour in (-1, 0, 1, 3)]
    assert [v and v.value for v in values] == [None, "1", None, "2"]


def test_reading_of_setting_holds_before_it_too() -> None:
    settings = settings_of([read(2, MIN_ISR, "2", node=1), configured(4, min_insync_replicas="1")])
    assert [s.value for h in (0, 3, 5) if (s := settings.of_broker(1, MIN_ISR, AT + h * HOUR))] == ["2", "2", "1"]
    assert [s.value for h in (0, 3, 5) if (s := settings.of_brokers(MIN_ISR, AT + h * HOUR))] == ["2", "2", "1"]


def test_controller_setting_counts_for_unclean_election_only() -> None:
    def node(number: int, roles: str, least: str, unclean: str) -> Event:
        values = {"min_insync_replicas": least, "process_roles": roles, "unclean_leader_election_enable": unclean}
        return configured(0, number, **values)

    settings = settings_of([node(1, "[broker]", "2", "true"), node(4, "[controller]", "1", "false")])
    common = settings.of_brokers(MIN_ISR, AT), settings.of_brokers(UNCLEAN, AT)
    assert [s and s.value for s in common] == ["2", "false"]
    assert settings.serving() == [1]
    both = settings_of([node(1, "[broker, controller]", "2", "true")])
    common = both.of_brokers(MIN_ISR, AT), both.of_brokers(UNCLEAN, AT)
    assert [s and s.value for s in common] == ["2", "true"]
