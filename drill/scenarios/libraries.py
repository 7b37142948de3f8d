"""What happens to groups whose members are of other libraries than Java's: each is shown by its library's own lines."""

from __future__ import annotations

from drill.scenarios.groups import POLL_LIMIT
from drill.steps import Back, Close, Gone, Kill, Pause, Resume, Scenario, Slow, Start, Step, Wait

_POLL_LIMITS = ("confluent-kafka", "aiokafka", "kafka-python")
"""Libraries that leave by themselves when their program polls too late; the others have no such limit."""


def _members(library: str) -> tuple[Step, ...]:
    config = POLL_LIMIT if library in _POLL_LIMITS else {}
    too_slow = (Slow(member="b", ms=30_000), Gone(member="b"), Back(member="b")) if config else ()
    return (
        Start(member="a", library=library, config=config),
        Start(member="b", library=library, config=config),
        *too_slow,
        Pause(member="b"),
        Gone(member="b"),
        Wait(seconds=2),
        Resume(member="b"),
        Close(member="b"),
        Start(member="c", library=library, config=config),
        Kill(member="c"),
        Gone(member="c"),
        Close(member="a"),
    )


LIBRARY_SCENARIOS: tuple[Scenario, ...] = tuple(
    Scenario(library.replace("-", "_"), f"{library}: members join, stand still, leave and crash.", _members(library))
    for library in ("confluent-kafka", "aiokafka", "kafka-python", "franz-go", "sarama", "kafka-go", "kafkajs")
)
