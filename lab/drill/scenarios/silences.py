"""Scenarios of members that fall silent in three ways: a cut network, a process that stands still, a slow handler."""

from __future__ import annotations

from collections.abc import Mapping

from lab.drill.libraries import JAVA, LIBRDKAFKA
from lab.drill.scenarios.groups import CONSUMER, POLL_LIMIT
from lab.drill.steps import (
    Back,
    Close,
    CutHost,
    DrillStep,
    FellBehind,
    Gone,
    JoinHost,
    Pause,
    Resume,
    Scenario,
    Slow,
    Start,
    Wait,
)

DEFAULT_SESSION = {"session.timeout.ms": "45000", "heartbeat.interval.ms": "3000", "max.poll.interval.ms": "60000"}
"""Kafka's own session, within which a request times out."""

_POLL_LIMITS = (JAVA, LIBRDKAFKA, "confluent-kafka", "aiokafka", "kafka-python")
"""Libraries that leave by themselves when their program polls too late; the others have no such limit."""

_SHOW_BOTH = (JAVA, LIBRDKAFKA, "confluent-kafka")
_SHOW_A_CUT = (*_SHOW_BOTH, "franz-go", "kafka-go")
"""Libraries whose log shows, within a session of seconds, that its member is cut off, or stands still."""


def _cut_and_paused(
    library: str, config: Mapping[str, str], within: float = 70, cost: tuple[DrillStep, ...] = ()
) -> tuple[DrillStep, ...]:
    """A member of a group is cut off, and later stands still. `cost`: what that is known to cost the group."""
    is_unseen = config.get("group.protocol") == "consumer"
    cut = "network_cut" if library in _SHOW_A_CUT and not is_unseen else "network_cut_unseen"
    paused = "process_paused" if library in _SHOW_BOTH and not is_unseen else "process_paused_unseen"
    return (
        Start(member="a", library=library, config=config, host="one"),
        Start(member="b", library=library, config=config, host="other"),
        CutHost(host="other", expect=cut),
        Gone(member="b", within=within),
        *cost,
        Wait(seconds=12),
        JoinHost(host="other"),
        Pause(member="b", expect=paused),
        Gone(member="b", within=within),
        *cost,
        Wait(seconds=5),
        Resume(member="b"),
    )


_SLOW = (Slow(member="b", ms=30_000, expect="slow_handler"), Gone(member="b"), Back(member="b"))
_CLOSED = (Close(member="b"), Close(member="a"))


def _silent(name: str, library: str, config: Mapping[str, str], since: tuple[int, ...] = (2, 6)) -> Scenario:
    has_limit = library in _POLL_LIMITS
    ways = _cut_and_paused(library, {**(POLL_LIMIT if has_limit else {}), **config})
    steps = (*ways, *(_SLOW if has_limit else ()), *_CLOSED)
    return Scenario(f"silent_{name}", f"{library}: a member is cut off, stands still or is slow.", steps, since=since)


SILENCE_SCENARIOS: tuple[Scenario, ...] = (
    _silent("java", JAVA, {}),
    _silent("kip848", JAVA, CONSUMER, since=(4, 0)),
    Scenario(
        "silent_default",
        "Within a session of 45 s requests time out: a member that is cut off says so, one that stood still late.",
        (*_cut_and_paused(JAVA, DEFAULT_SESSION, within=110, cost=(FellBehind(),)), *_CLOSED),
    ),
    *(
        _silent(library.replace("-", "_"), library, {})
        for library in (
            *(LIBRDKAFKA, "confluent-kafka", "aiokafka", "kafka-python"),
            *("franz-go", "sarama", "kafka-go", "kafkajs"),
        )
    ),
)
