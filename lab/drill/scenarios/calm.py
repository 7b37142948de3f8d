"""A day on which nothing fails: groups of every library under load, with the work that people plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lab.drill.libraries import CONNECT, JAVA, LIBRDKAFKA, SHARE, STREAMS
from lab.drill.scenarios.groups import COMMITS_NOTHING, CONSUMER, COOPERATIVE, SEES_TOPICS_SOON
from lab.drill.steps import (
    AddPartitions,
    Close,
    Configure,
    CreateTopic,
    DeleteTopic,
    DrillStep,
    Gone,
    Rebalanced,
    Scenario,
    Start,
    Until,
    Wait,
)
from lab.drill.steps_on_brokers import (
    InSync,
    PreferredElection,
    Rolled,
    RotateLogs,
    StartBroker,
    StopBroker,
)

ROUND_MINUTES = 40.0
"""How long one round of work takes, the idle stretch within it included. A longer day has several rounds."""

CALM_SETTINGS: Mapping[str, str] = {
    "min.insync.replicas": "2",
    "replica.lag.time.max.ms": "30000",
    "group.initial.rebalance.delay.ms": "3000",
    "group.min.session.timeout.ms": "6000",
    "broker.session.timeout.ms": "9000",
}
"""Broker settings of a calm day, in place of a drill's short ones: those that Kafka ships, and two replicas in sync."""

CALM_SESSIONS: Mapping[str, str] = {"session.timeout.ms": "45000", "heartbeat.interval.ms": "3000"}
"""The sessions of members on a calm day: those that Kafka ships."""

_PATIENT: Mapping[str, str] = {"fetch.min.bytes": "100000"}
"""Members wait half a second for records (fetch.max.wait.ms): twenty groups leave a small machine its time."""

ROLLED = "rolling_restart"

_START_SECONDS_APART = 9.0
_DEPLOYED, _DEPLOYED_MINUTES_APART = 5.0, 0.55
_SCALED_UP, _SCALED_DOWN = 18.0, 19.5
_TOPIC_MADE, _TOPIC_GROWN, _TOPIC_DELETED = 10.0, 13.0, 17.0
_BROKERS_RESTARTED, _LOGS_ROTATED = 21.0, 28.0
_DEPLOYED_AGAIN, _DEPLOYED_AGAIN_MINUTES_APART = 36.0, 0.1


class CalmGroup(NamedTuple):
    """A group of a calm day.

    `deployment`: the steps of one rolling deployment; `before`: what is done before its members start, and `after` once
    they have; `is_scaled`: it has one member more for a while; `is_renamed`: each deployment gives its members new
    names, and each new one joins before an old one closes.
    """

    name: str
    starts: tuple[Start, ...]
    deployment: tuple[DrillStep, ...] = ()
    before: tuple[DrillStep, ...] = ()
    after: tuple[DrillStep, ...] = ()
    is_scaled: bool = False
    is_renamed: bool = False
    since: tuple[int, ...] = (2, 6)


def _member(name: str, library: str = JAVA, config: Mapping[str, str] | None = None, is_static: bool = False) -> Start:
    static = {"group.instance.id": f"instance-{name}"} if is_static else {}
    topics = ("main", "out") if library == STREAMS else ("main",)
    return Start(member=name, library=library, topics=topics, config={**_PATIENT, **(config or {}), **static})


def _again(start: Start, expect: str | None) -> Start:
    return Start(
        member=start.member,
        library=start.library,
        topics=start.topics,
        pattern=start.pattern,
        config=start.config,
        expect=expect,
    )


def _restarts(
    starts: tuple[Start, ...], closes: str | None = ROLLED, opens: str | None = ROLLED
) -> tuple[DrillStep, ...]:
    """Each member closes and starts again, one after the other."""
    return tuple(step for s in starts for step in (Close(member=s.member, expect=closes), _again(s, opens)))


def _group(
    name: str,
    library: str = JAVA,
    config: Mapping[str, str] | None = None,
    is_scaled: bool = False,
    since: tuple[int, ...] = (2, 6),
) -> CalmGroup:
    starts = tuple(_member(m, library, config) for m in "ab")
    return CalmGroup(name, starts, _restarts(starts), is_scaled=is_scaled, since=since)


def _static(name: str, library: str, back: str, since: tuple[int, ...] = (2, 6), **config: str) -> CalmGroup:
    """Members that come back in time: the others go on meanwhile."""
    starts = tuple(_member(m, library, config, is_static=True) for m in "ab")
    before = (CreateTopic(topic="out"),) if library == STREAMS else ()
    return CalmGroup(name, starts, _restarts(starts, "no_rebalance", back), before, since=since)


def _streams() -> CalmGroup:
    """An application that closes leaves no group: the others wait for the end of its session."""
    starts = tuple(_member(m, STREAMS, CALM_SESSIONS) for m in "ab")
    deployment = tuple(
        step
        for s in starts
        for step in (
            Close(member=s.member, expect="static_leave_silent"),
            Gone(member=s.member),
            _again(s, "member_join"),
        )
    )
    return CalmGroup("streams", starts, deployment, (CreateTopic(topic="out"),))


def _streams_protocol() -> CalmGroup:
    starts = tuple(_member(m, STREAMS, {"group.protocol": "streams"}) for m in "ab")
    return CalmGroup("streams_protocol", starts, _restarts(starts), (CreateTopic(topic="out"),), since=(4, 2))


def _share() -> CalmGroup:
    starts = tuple(_member(m, SHARE) for m in "ab")
    return CalmGroup("share", starts, _restarts(starts, "member_leave", "member_join"), since=(4, 2))


def _connect() -> CalmGroup:
    starts = tuple(_member(m, CONNECT) for m in "ab")
    after = (Configure(member="a", connector="copy", tasks=2), Rebalanced())
    return CalmGroup("connect", starts, _restarts(starts), after=after)


def _surge() -> CalmGroup:
    """New members join under new names before old ones close, as orchestrators deploy."""
    return CalmGroup("surge", tuple(_member(m) for m in "ab"), is_renamed=True)


CALM_GROUPS: tuple[CalmGroup, ...] = (
    _group("eager", is_scaled=True),
    _group("cooperative", config=COOPERATIVE, is_scaled=True),
    _static("static", JAVA, "static_rejoin_no_rebalance"),
    _group("consumer", config=CONSUMER, is_scaled=True, since=(4, 0)),
    _surge(),
    _streams(),
    _streams_protocol(),
    _static("streams_static", STREAMS, "static_member_changed", (4, 4), **{"group.protocol": "streams"}),
    _connect(),
    _share(),
    _group("librdkafka", LIBRDKAFKA, is_scaled=True),
    _group("librdkafka_cooperative", LIBRDKAFKA, {"partition.assignment.strategy": "cooperative-sticky"}),
    _static("librdkafka_static", LIBRDKAFKA, "static_rejoin_no_rebalance"),
    *(
        _group(library.replace("-", "_"), library)
        for library in ("confluent-kafka", "aiokafka", "kafka-python", "franz-go", "sarama", "kafka-go", "kafkajs")
    ),
)
"""The groups of a calm day, but for the one whose topics come and go."""


def calm_day(minutes: float = ROUND_MINUTES) -> tuple[Scenario, ...]:
    """The scenarios of a calm day, all played at the same time: one for each group, and one for the brokers."""
    rounds = max(1, round(minutes / ROUND_MINUTES))
    length = minutes * 60 / rounds
    groups = tuple(_scenario(number, group, rounds, length) for number, group in enumerate(CALM_GROUPS))
    return (*groups, _topics(rounds, length), _brokers(rounds, length))


def _at(number: int, minute: float, length: float) -> Until:
    """A minute of a round, where a round of forty minutes is stretched or shrunk to its length in seconds."""
    return Until(seconds=length * (number + minute / ROUND_MINUTES))


def _scenario(place: int, group: CalmGroup, rounds: int, length: float) -> Scenario:
    steps: list[DrillStep] = [Until(seconds=_START_SECONDS_APART * place), *group.before, *group.starts, *group.after]
    starts = group.starts
    for number in range(rounds):
        steps.append(_at(number, _DEPLOYED + _DEPLOYED_MINUTES_APART * place, length))
        if group.is_renamed:
            former, starts = starts, tuple(_renamed(start, number) for start in group.starts)
            steps += (step for new, old in zip(starts, former) for step in (new, Close(member=old.member)))
            continue
        steps += group.deployment
        if group.is_scaled:
            more = Start(member="m", library=group.starts[0].library, config=group.starts[0].config)
            steps += [_at(number, _SCALED_UP, length), more, _at(number, _SCALED_DOWN, length), Close(member="m")]
        if place % 2 == 0:
            steps += [_at(number, _DEPLOYED_AGAIN + _DEPLOYED_AGAIN_MINUTES_APART * place, length), *group.deployment]
    steps.append(_at(rounds, 0, length))
    sentence = f"Members of {group.name} under load are deployed, and read on."
    return Scenario(f"calm_{group.name}", sentence, tuple(steps), since=group.since, runs_on=True)


def _renamed(start: Start, number: int) -> Start:
    return Start(member=f"{start.member}{number}", library=start.library, config=start.config)


def _topics(rounds: int, length: float) -> Scenario:
    """A group under a pattern, whose topics come, grow and go."""
    config = SEES_TOPICS_SOON | COMMITS_NOTHING
    starts = [Start(member=m, pattern="x.*", config=config) for m in "ab"]
    steps: list[DrillStep] = [CreateTopic(topic="x"), *starts]
    for number in range(rounds):
        topic = f"x{number}"
        steps += [
            _at(number, _TOPIC_MADE, length),
            CreateTopic(topic=topic, expect="topic_created"),
            Rebalanced(),
            _at(number, _TOPIC_GROWN, length),
            AddPartitions(topic=topic, to=5),
            Rebalanced(),
            _at(number, _TOPIC_DELETED, length),
            DeleteTopic(topic=topic),
            Rebalanced(),
        ]
    steps.append(_at(rounds, 0, length))
    return Scenario("calm_topics", "Topics come, grow and go, and a group reads them.", tuple(steps), runs_on=True)


def _brokers(rounds: int, length: float) -> Scenario:
    """The brokers are restarted in turn, each waited for, and get their leaders back; their logs are rotated."""
    steps: list[DrillStep] = []
    for number in range(rounds):
        steps.append(_at(number, _BROKERS_RESTARTED, length))
        for broker in "xyz":
            steps += [StopBroker(broker=broker), StartBroker(broker=broker), InSync(), Wait(seconds=20)]
        steps += [Rolled(), PreferredElection(), InSync(), _at(number, _LOGS_ROTATED, length), RotateLogs()]
    steps.append(_at(rounds, 0, length))
    sentence = "Brokers are restarted in turn, get their leaders back, and rotate their logs."
    return Scenario("calm_brokers", sentence, tuple(steps), settings=CALM_SETTINGS, runs_on=True)
