"""Scenarios of producers that write through a crash, a leader that does not answer, a lost ISR, a wrong setting."""

from __future__ import annotations

from collections.abc import Mapping

from lab.drill.libraries import JAVA, LIBRDKAFKA
from lab.drill.steps import CreateTopic, DrillStep, Reported, Scenario, Wait
from lab.drill.steps_on_brokers import Detected, InSync, KillBroker, PauseBroker, ResumeBroker, StartBroker
from lab.drill.steps_on_writers import CloseWriter, StartWriter

KAFKA_PYTHON = "kafka-python"
_LIBRARIES = {"j": JAVA, "r": LIBRDKAFKA, "p": KAFKA_PYTHON}

_SAFE = {"acks": "all", "enable.idempotence": "true"}
_TWO = {"min.insync.replicas": "2"}
_IMPATIENT: Mapping[str, Mapping[str, str]] = {
    "j": {"request.timeout.ms": "3000", "delivery.timeout.ms": "60000"},
    "r": {"socket.timeout.ms": "3000", "request.timeout.ms": "3000"},
    "p": {"request.timeout.ms": "3000"},
}
"""They miss an answer within a broker's session, which is nine seconds.

From Kafka 4.0 on what was sent before the ISR was too small is not refused: it gets no answer (KIP-966)."""

REFUSED, MOVED, UNANSWERED, EXPIRED = "not_enough_replicas", "leader_moved", "no_answer", "expired"


def _start(config: Mapping[str, str], own: Mapping[str, Mapping[str, str]] | None = None) -> tuple[DrillStep, ...]:
    return tuple(
        StartWriter(writer=role, topic="t", library=library, config={**config, **(own or {}).get(role, {})})
        for role, library in _LIBRARIES.items()
    )


def _close(kinds: tuple[str, ...], of_librdkafka: tuple[str, ...] = ()) -> tuple[DrillStep, ...]:
    """Close all. A producer of librdkafka logs no answer that it does not like: only what was not answered."""
    return tuple(CloseWriter(writer=role, kinds=of_librdkafka if role == "r" else kinds) for role in _LIBRARIES)


def _crash(broker: str, seconds: float) -> tuple[DrillStep, ...]:
    """Kill a broker, and start it again some time after it was detected as down."""
    away = (KillBroker(broker=broker), Detected(broker=broker), Wait(seconds=seconds))
    return (*away, StartBroker(broker=broker), InSync())


_WRONG: Mapping[str, Mapping[str, str]] = {
    "j": {**_IMPATIENT["j"], "acks": "all", "retries": "0", "enable.idempotence": "false"},
    "r": {"acks": "1"},
    "p": {**_IMPATIENT["p"], "acks": "all", "retries": "0", "enable.idempotence": "false"},
}

WRITER_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "writers_leader_killed",
        "Producers whose leader is killed wait for the next one, and give up nothing.",
        (
            CreateTopic(topic="t", placed=(("x", "y", "z"),), configs=_TWO),
            *_start(_SAFE),
            Wait(seconds=5),
            *_crash("x", 8),
            *_close((MOVED, UNANSWERED)),
            Reported(about="j", rule="weakest_link", expect="no_finding"),
        ),
        on_brokers=True,
    ),
    Scenario(
        "writers_leader_paused",
        "Producers whose leader does not answer time out, and write to the next one.",
        (
            CreateTopic(topic="t", placed=(("x", "y", "z"),), configs=_TWO),
            *_start(_SAFE, _IMPATIENT),
            Wait(seconds=5),
            PauseBroker(broker="x"),
            Detected(broker="x"),
            Wait(seconds=8),
            ResumeBroker(broker="x"),
            InSync(),
            *_close((UNANSWERED, MOVED), (UNANSWERED,)),
        ),
        on_brokers=True,
    ),
    Scenario(
        "writers_refused",
        "With fewer replicas in sync than min.insync.replicas producers with acks=all are refused, and wait.",
        (
            CreateTopic(topic="t", placed=(("x", "y"),), configs=_TWO),
            *_start(_SAFE, _IMPATIENT),
            Wait(seconds=5),
            *_crash("y", 10),
            *_close((REFUSED, UNANSWERED), (UNANSWERED,)),
        ),
        on_brokers=True,
    ),
    Scenario(
        "writers_without_retries",
        "A producer without retries gives up what it is refused; one with acks=1 is not refused, and risks it.",
        (
            CreateTopic(topic="t", placed=(("x", "y"),), configs=_TWO),
            StartWriter(writer="j", topic="t", config=_WRONG["j"], logs_failures=True),
            StartWriter(writer="r", topic="t", library=LIBRDKAFKA, config=_WRONG["r"]),
            StartWriter(writer="p", topic="t", library=KAFKA_PYTHON, config=_WRONG["p"]),
            Wait(seconds=5),
            *_crash("y", 10),
            *_close((REFUSED, UNANSWERED, EXPIRED)),
            Reported(about="j", rule="weakest_link"),
        ),
        on_brokers=True,
    ),
    Scenario(
        "writers_acks_of_leader",
        "A producer with acks=1 whose leader is killed has acknowledged records that may be lost.",
        (
            CreateTopic(topic="t", placed=(("x", "y", "z"),), configs=_TWO),
            StartWriter(writer="j", topic="t", config={"acks": "1", "enable.idempotence": "false"}),
            StartWriter(writer="k", topic="t", config={**_SAFE, "retries": "2147483647"}),
            Wait(seconds=5),
            *_crash("x", 5),
            *(CloseWriter(writer=role, kinds=(MOVED, UNANSWERED)) for role in "jk"),
            Reported(about="j", rule="weakest_link"),
        ),
        on_brokers=True,
    ),
    Scenario(
        "writer_fenced",
        "A producer whose transactional id another one takes is fenced, and may not write any more.",
        (
            CreateTopic(topic="t"),
            StartWriter(writer="j", topic="t", is_transactional=True),
            Wait(seconds=6),
            StartWriter(writer="k", topic="t", is_transactional=True),
            Wait(seconds=6),
            CloseWriter(writer="j", kinds=("fenced",)),
            CloseWriter(writer="k"),
        ),
    ),
)
