"""The settings of brokers and topics at an instant, as their own lines or a reading show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import TypeVar

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Quote
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.knowledge.broker_settings import MIN_ISR, OF_CONTROLLERS
from kafka_hindsight.shared.durations import LONG_AGO
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline
from kafka_hindsight.shared.windows import in_order

K = TypeVar("K")

SETTING_KINDS = (Kind.BROKER_CONFIGURED, Kind.TOPIC_CONFIGURED, Kind.CONFIG_CHANGED, Kind.SETTING_READ)

_ROLES = "process.roles"
_PAIR = re.compile(r"(?<![\w.])([\w.]++)\s*(?:=|->)\s*([^,\r\n]*)")


@dataclass(frozen=True)
class Setting:
    """One value with the quotation that shows it."""

    value: str
    quote: Quote

    @property
    def number(self) -> int | None:
        """The value as a number; None where it is not one."""
        return int(self.value) if self.value.isdecimal() else None

    @property
    def is_on(self) -> bool:
        return self.value.lower() == "true"


@dataclass(frozen=True)
class _Report:
    """The settings that one line or reading shows. `is_whole`: a setting that it does not name was not set."""

    at: datetime
    values: Mapping[str, str]
    is_whole: bool
    is_reading: bool
    quote: Quote

    def setting(self, name: str) -> Setting:
        text = self.quote.text.rstrip()
        quotation = text if name in text else f"{text} {name} = {self.values[name]}"
        return Setting(self.values[name], replace(self.quote, text=quotation))


Course = Timeline[tuple[datetime, Setting | None]]
"""The values of one setting over time, each with the instant from which it held."""

_Reports = Timeline[_Report]
_NO_REPORTS: _Reports = Timeline((), lambda r: r.at)


def _course(steps: Iterable[tuple[datetime, Setting | None]]) -> Course:
    return Timeline(steps, lambda step: step[0])


_NO_COURSE = _course(())


@dataclass(frozen=True)
class BrokerSettings:
    """The reports on each broker and each topic, and by setting the value that the brokers agree on."""

    brokers: Mapping[int, _Reports] = field(default_factory=dict)
    topics: Mapping[str, _Reports] = field(default_factory=dict)
    agreed: Mapping[str, Course] = field(default_factory=dict)

    def of_broker(self, broker: int, name: str, at: datetime) -> Setting | None:
        """A broker's setting: the newest report by then, else the first reading after it; None: neither shows it."""
        return at_instant(_course_of(self.brokers.get(broker, _NO_REPORTS), name), at)

    def of_brokers(self, name: str, at: datetime) -> Setting | None:
        """The value that all brokers that report a setting agree on; None where they differ, or none reports it.

        Nodes that are only controllers count for no setting but those that controllers decide.
        """
        return at_instant(self.agreed.get(name, _NO_COURSE), at)

    def of_topic(self, topic: str, name: str, at: datetime) -> Setting | None:
        """A topic's setting, its own or the brokers' that it inherits; None where neither is known.

        The newest report by then counts, a line's or a reading's. A line that lists all settings of a topic and does
        not name this one shows that the brokers' holds.
        """
        reports = self.topics.get(topic, _NO_REPORTS)
        for report in reversed(reports.until(at)):
            if name in report.values:
                return report.setting(name)
            if report.is_whole:
                return self.of_brokers(name, at)
        first = _first_reading(reports, name)
        return first if first and first.quote.happened_at > at else None

    def course_of_topic(self, topic: str, name: str) -> Course:
        """The values of `of_topic` over all time."""
        agreed = (at for at, _ in self.agreed.get(name, _NO_COURSE))
        instants = {LONG_AGO, *(r.at for r in self.topics.get(topic, _NO_REPORTS)), *agreed}
        return _without_repeats((at, self.of_topic(topic, name, at)) for at in sorted(instants))

    def serving(self) -> list[int]:
        return sorted(_deciding(self.brokers, ""))

    def with_topics(self, events: Iterable[Event]) -> BrokerSettings:
        """The same brokers with the topics that events report."""
        return replace(self, topics=_reports_of(_of_settings(events), attrgetter("topic")))


@dataclass(frozen=True)
class SettingsInForce:
    """The settings of brokers and topics at one instant. None: not known."""

    at: datetime
    settings: BrokerSettings = field(default_factory=BrokerSettings)

    def of_broker(self, broker: int, name: str) -> Setting | None:
        """A broker's setting."""
        return self.settings.of_broker(broker, name, self.at)

    def of_topic(self, topic: str, name: str) -> Setting | None:
        """A topic's setting, its own or the brokers' that it inherits."""
        return self.settings.of_topic(topic, name, self.at)

    def min_isr_of(self, topic: str) -> int:
        """The topic's min.insync.replicas; 0 where it is not known."""
        setting = self.of_topic(topic, MIN_ISR)
        return (setting.number or 0) if setting else 0

    def agreed(self, name: str) -> Setting | None:
        """The value that all brokers that report a setting agree on; None where they differ, too."""
        return self.settings.of_brokers(name, self.at)

    def serving(self) -> list[int]:
        """The brokers that report settings, without nodes that are only controllers."""
        return self.settings.serving()


def settings_of(events: Iterable[Event]) -> BrokerSettings:
    """The settings that events of SETTING_KINDS report, in any order; other events are passed over."""
    ordered = _of_settings(events)
    brokers = _reports_of(ordered, _broker_of)
    names = sorted({name for own in brokers.values() for report in own for name in report.values})
    agreed = {name: _agreed({b: brokers[b] for b in _deciding(brokers, name)}, name) for name in names}
    return BrokerSettings(brokers, _reports_of(ordered, attrgetter("topic")), agreed)


def at_instant(course: Course, at: datetime) -> Setting | None:
    """The value of a setting at an instant."""
    step = course.last_until(at)
    return step[1] if step else None


def _deciding(nodes: Mapping[int, _Reports], name: str) -> list[int]:
    """The nodes whose setting counts: brokers; under KRaft, controllers for what controllers decide.

    Source: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic reads the controller's own static settings;
    ControllerServer gives its leader.imbalance.check.interval only where its auto.leader.rebalance.enable is true.
    """
    roles = {
        node: next((r.values[_ROLES] for r in reversed(reports.values) if _ROLES in r.values), "")
        for node, reports in nodes.items()
    }
    controllers = [node for node in nodes if "controller" in roles[node]]
    if controllers and name in OF_CONTROLLERS:
        return controllers
    return [node for node in nodes if "broker" in roles[node] or node not in controllers]


def _agreed(brokers: Mapping[int, _Reports], name: str) -> Course:
    """The value that all brokers that report a setting agree on, over time."""
    courses = {b: _course_of(reports, name) for b, reports in brokers.items()}
    steps = sorted(((at, b, setting) for b, course in courses.items() for at, setting in course), key=lambda s: s[:2])
    values: dict[int, Setting] = {}
    agreed: list[tuple[datetime, Setting | None]] = []
    for at, broker, setting in steps:
        if setting:
            values[broker] = setting
        is_one = len({s.value for s in values.values()}) == 1
        agreed.append((at, values[min(values)] if is_one else None))
    return _without_repeats(agreed)


def _course_of(reports: _Reports, name: str) -> Course:
    """One broker's setting over time; before the first report of it the first reading stands."""
    return _course(
        [(LONG_AGO, _first_reading(reports, name)), *((r.at, r.setting(name)) for r in reports if name in r.values)]
    )


def _without_repeats(steps: Iterable[tuple[datetime, Setting | None]]) -> Course:
    changes: list[tuple[datetime, Setting | None]] = []
    for at, setting in steps:
        if changes and changes[-1][0] == at:
            changes.pop()
        if not changes or (changes[-1][1] and changes[-1][1].value) != (setting and setting.value):
            changes.append((at, setting))
    return _course(changes)


def _first_reading(reports: Iterable[_Report], name: str) -> Setting | None:
    return next((r.setting(name) for r in reports if r.is_reading and name in r.values), None)


def _reports_of(events: Iterable[Event], subject: Callable[[Event], K | None]) -> dict[K, _Reports]:
    """The reports on each subject; events without one are passed over."""
    by_subject = grouped(events, subject)
    return {s: Timeline(map(_report, own), lambda r: r.at) for s, own in by_subject.items() if s is not None}


def _broker_of(event: Event) -> int | None:
    """The broker whose settings an event reports; None where it reports a topic's."""
    if event.topic is None and event.kind in (Kind.BROKER_CONFIGURED, Kind.SETTING_READ):
        return event.node if event.kind == Kind.SETTING_READ else event.broker
    return None


def _of_settings(events: Iterable[Event]) -> list[Event]:
    return in_order(e for e in events if e.kind in SETTING_KINDS)


def _report(event: Event) -> _Report:
    return _Report(
        at=event.happened_at,
        values=_values(event),
        is_whole=event.kind == Kind.TOPIC_CONFIGURED,
        is_reading=event.kind == Kind.SETTING_READ,
        quote=quote(event),
    )


def _values(event: Event) -> dict[str, str]:
    detail = event.detail or ""
    if event.kind == Kind.BROKER_CONFIGURED:
        pairs = (line.partition(" = ")[::2] for line in detail.splitlines() if line)
        return {name: value.strip() for name, value in pairs}
    if event.kind == Kind.TOPIC_CONFIGURED:
        return dict(_PAIR.findall(detail))
    return {event.reason or "": detail}
