"""How brokers and topics were set up at an instant, and who told it: their own lines, or a reading."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from spark_jobs.knowledge.broker_settings import OF_CONTROLLERS
from spark_jobs.transforms.evidence import quote
from spark_jobs.transforms.windows import Row, in_order

SETTING_READ = "setting_read"
"""The kind of a setting as a reading shows it: topic or node, reason (the setting), detail (its value)."""

SETTING_KINDS = ("broker_configured", "topic_configured", "config_changed", SETTING_READ)

_ROLES = "process.roles"
_EVER = datetime.min.replace(tzinfo=UTC)
_PAIR = re.compile(r"([\w.]+)\s*(?:=|->)\s*([^,\r\n]*)")


@dataclass(frozen=True)
class Setting:
    """One value with the quotation that tells it."""

    value: str
    quote: dict[str, Any]

    @property
    def number(self) -> int | None:
        """The value as a number; None where it is none."""
        return int(self.value) if self.value.isdecimal() else None

    @property
    def is_on(self) -> bool:
        """Whether it is `true`."""
        return self.value.lower() == "true"


@dataclass(frozen=True)
class _Telling:
    """What one witness told at once. `is_whole`: what it does not name was not set."""

    at: datetime
    values: Mapping[str, str]
    is_whole: bool
    is_reading: bool
    quote: dict[str, Any]

    def setting(self, name: str) -> Setting:
        says = self.quote["text"].rstrip()
        shown = says if name in says else f"{says} {name} = {self.values[name]}"
        return Setting(self.values[name], replace(self.quote, text=shown))


Course = Sequence[tuple[datetime, Setting | None]]
"""What held from which instant on, in order of time, from the beginning of time."""


@dataclass(frozen=True)
class BrokerSettings:
    """The tellings of each broker and each topic, in order of time, and what the brokers agree on, by setting."""

    brokers: Mapping[int, Sequence[_Telling]] = field(default_factory=dict)
    topics: Mapping[str, Sequence[_Telling]] = field(default_factory=dict)
    agreed: Mapping[str, Course] = field(default_factory=dict)

    def of_broker(self, broker: int, name: str, at: datetime) -> Setting | None:
        """A broker's setting: the newest word by then, else the first reading after it; None where nobody tells.

        Odd: what a broker prints when it starts tells nothing of the process before.
        """
        return at_instant(_course_of(self.brokers.get(broker, ()), name), at)

    def of_brokers(self, name: str, at: datetime) -> Setting | None:
        """What all brokers that tell a setting agree on; None where they differ, or none tells.

        Odd: of nodes that are controllers only nothing counts but what controllers decide.
        """
        return at_instant(self.agreed.get(name, ()), at)

    def of_topic(self, topic: str, name: str, at: datetime) -> Setting | None:
        """A topic's setting, its own or the brokers' that it inherits; None where nobody tells which.

        Keeps: the newest word by then counts, a line's or a reading's. A line that lists all a topic has of its own
        and does not name the setting says that the brokers' holds.
        """
        tellings = self.topics.get(topic, ())
        for told in reversed(tellings[: bisect_right(tellings, at, key=lambda t: t.at)]):
            if name in told.values:
                return told.setting(name)
            if told.is_whole:
                return self.of_brokers(name, at)
        first = _first_reading(tellings, name)
        return first if first and first.quote["happened_at"] > at else None

    def course_of_topic(self, topic: str, name: str) -> Course:
        """What `of_topic` gives over all time."""
        instants = {_EVER, *(t.at for t in self.topics.get(topic, ())), *(at for at, _ in self.agreed.get(name, ()))}
        return _without_repeats((at, self.of_topic(topic, name, at)) for at in sorted(instants))

    def serving(self) -> list[int]:
        """The nodes that are brokers."""
        return sorted(_who_decides(self.brokers, ""))

    def with_topics(self, events: Iterable[Row]) -> BrokerSettings:
        """The same brokers with the topics that events tell."""
        return replace(self, topics=_topics_of(in_order(e for e in events if e["kind"] in SETTING_KINDS)))


def settings_of(events: Iterable[Row]) -> BrokerSettings:
    """The settings that events tell.

    Takes: events of SETTING_KINDS, with look-back, in any order; others are passed over.
    """
    told = in_order(e for e in events if e["kind"] in SETTING_KINDS)
    brokers: dict[int, list[_Telling]] = defaultdict(list)
    for event in told:
        broker = event["node"] if event["kind"] == SETTING_READ else event["broker"]
        if event["kind"] in ("broker_configured", SETTING_READ) and event["topic"] is None and broker is not None:
            brokers[broker].append(_told_by(event))
    names = sorted({name for tellings in brokers.values() for t in tellings for name in t.values})
    agreed = {name: _agreed({b: brokers[b] for b in _who_decides(brokers, name)}, name) for name in names}
    return BrokerSettings(brokers, _topics_of(told), agreed)


def at_instant(course: Course, at: datetime) -> Setting | None:
    """What held at an instant."""
    i = bisect_right(course, at, key=lambda told: told[0])
    return course[i - 1][1] if i else None


def _who_decides(nodes: Mapping[int, Sequence[_Telling]], name: str) -> list[int]:
    """Those whose setting counts: brokers; under KRaft, controllers for what controllers decide.

    Source: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic reads the controller's own static settings;
    ControllerServer gives its leader.imbalance.check.interval only where its auto.leader.rebalance.enable is true.
    """
    roles = {
        node: next((t.values[_ROLES] for t in reversed(told) if _ROLES in t.values), "") for node, told in nodes.items()
    }
    controllers = [node for node in nodes if "controller" in roles[node]]
    if controllers and name in OF_CONTROLLERS:
        return controllers
    return [node for node in nodes if "broker" in roles[node] or node not in controllers]


def _agreed(brokers: Mapping[int, Sequence[_Telling]], name: str) -> Course:
    """What all brokers that tell a setting agree on, over time."""
    courses = {b: _course_of(told, name) for b, told in brokers.items()}
    steps = sorted(((at, b, setting) for b, course in courses.items() for at, setting in course), key=lambda s: s[:2])
    held: dict[int, Setting] = {}
    agreed: list[tuple[datetime, Setting | None]] = []
    for at, broker, setting in steps:
        if setting:
            held[broker] = setting
        is_one = len({s.value for s in held.values()}) == 1
        agreed.append((at, held[min(held)] if is_one else None))
    return _without_repeats(agreed)


def _course_of(tellings: Sequence[_Telling], name: str) -> Course:
    """One broker's setting over time; before the first word of it the first reading stands."""
    return [(_EVER, _first_reading(tellings, name)), *((t.at, t.setting(name)) for t in tellings if name in t.values)]


def _without_repeats(course: Iterable[tuple[datetime, Setting | None]]) -> Course:
    kept: list[tuple[datetime, Setting | None]] = []
    for at, setting in course:
        if kept and kept[-1][0] == at:
            kept.pop()
        if not kept or (kept[-1][1] and kept[-1][1].value) != (setting and setting.value):
            kept.append((at, setting))
    return kept


def _first_reading(tellings: Sequence[_Telling], name: str) -> Setting | None:
    return next((t.setting(name) for t in tellings if t.is_reading and name in t.values), None)


def _topics_of(told: Iterable[Row]) -> dict[str, list[_Telling]]:
    topics: dict[str, list[_Telling]] = defaultdict(list)
    for event in told:
        if event["topic"] is not None:
            topics[event["topic"]].append(_told_by(event))
    return topics


def _told_by(event: Row) -> _Telling:
    detail = event["detail"] or ""
    is_listing = event["kind"] in ("broker_configured", "topic_configured")
    if event["kind"] == "broker_configured":
        pairs = (line.partition(" = ")[::2] for line in detail.splitlines() if line)
        values = {name: value.strip() for name, value in pairs}
    else:
        values = dict(_PAIR.findall(detail)) if is_listing else {event["reason"]: detail}
    return _Telling(
        at=event["happened_at"],
        values=values,
        is_whole=event["kind"] == "topic_configured",
        is_reading=event["kind"] == SETTING_READ,
        quote=quote(event),
    )
