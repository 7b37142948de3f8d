"""Scenarios of the logs themselves: clocks that differ, and files that are missing."""

from __future__ import annotations

from lab.drill.steps import DrillStep, Scenario, Wait
from lab.drill.steps_on_brokers import Detected, InSync, KillBroker, RotateLogs, SetClock, StartBroker, StopBroker

_AHEAD_S = 7


def _crash(broker: str) -> tuple[DrillStep, ...]:
    return (KillBroker(broker=broker), Detected(broker=broker), StartBroker(broker=broker), InSync())


def _with_clock(broker: str, ahead: int) -> tuple[DrillStep, ...]:
    return (StopBroker(broker=broker), SetClock(broker=broker, ahead=ahead), StartBroker(broker=broker), InSync())


LOG_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "clock_ahead",
        "A broker whose clock is seconds ahead writes down everything later than the others do.",
        (
            *_with_clock("x", _AHEAD_S),
            *_crash("y"),
            Wait(seconds=50),
            *_crash("z"),
            *_crash("x"),
            *_with_clock("x", 0),
        ),
        on_brokers=True,
    ),
    Scenario(
        "logs_of_one_lost",
        "A broker whose own lines of its crash are gone was away all the same: the others' lines show it.",
        (RotateLogs(brokers=("x",)), *_crash("x"), Wait(seconds=3), RotateLogs(brokers=("x",), keeps=False)),
        on_brokers=True,
    ),
    Scenario(
        "logs_of_all_lost",
        "Of a time without any log nothing is claimed.",
        (RotateLogs(), Wait(seconds=12), *_crash("x"), Wait(seconds=3), RotateLogs(keeps=False)),
        on_brokers=True,
    ),
)
