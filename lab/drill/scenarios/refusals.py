"""Scenarios of members that brokers refuse or hold back: passwords, certificates, rights, quotas, names taken twice."""

from __future__ import annotations

from lab.drill.guards import CERTIFICATE, PASSWORD
from lab.drill.scenarios.groups import CONSUMER
from lab.drill.steps import (
    Close,
    Deny,
    EndCertificate,
    Gone,
    LimitRequests,
    Scenario,
    Start,
    Step,
    Wait,
    WithdrawPassword,
)
from lab.drill.steps_on_brokers import InSync, StartBroker, StopBroker

_KRAFT = ("combined", "separate")
_SINCE = (3, 5)
"""KIP-900: the first KRaft that keeps passwords of users."""


def _loses(b: Start, *steps: Step) -> tuple[Step, ...]:
    return (Start(member="a"), b, Wait(seconds=3), *steps, Gone(member="b"), Close(member="a"))


def _scenario(
    name: str, sentence: str, steps: tuple[Step, ...], since: tuple[int, ...] = _SINCE, on_brokers: bool = False
) -> Scenario:
    return Scenario(name, sentence, steps, since, kraft_since=_SINCE, layouts=_KRAFT, on_brokers=on_brokers)


ACCESS_SCENARIOS: tuple[Scenario, ...] = (
    _scenario(
        "password_withdrawn",
        "A member whose user is deleted is alive, and brokers refuse its connections.",
        _loses(Start(member="b", shows=PASSWORD), WithdrawPassword(member="b")),
    ),
    _scenario(
        "password_withdrawn_librdkafka",
        "librdkafka says in other words that its password is not taken any more, and goes on trying.",
        _loses(Start(member="b", shows=PASSWORD, library="librdkafka"), WithdrawPassword(member="b")),
    ),
    _scenario(
        "certificate_ended",
        "A certificate that has ended is found out by the next full handshake, as with a broker that restarted.",
        _loses(
            Start(member="b", shows=CERTIFICATE, lasts=50),
            EndCertificate(member="b"),
            *(step for x in "xyz" for step in (StopBroker(broker=x), StartBroker(broker=x), InSync())),
        ),
        on_brokers=True,
    ),
    _scenario(
        "group_denied",
        "A member that may not read its group any more is alive, and its heartbeats are refused.",
        _loses(Start(member="b", shows=PASSWORD), Deny(member="b", what="group")),
    ),
    _scenario(
        "group_denied_consumer_protocol",
        "Under KIP-848 a member that may not read its group any more is fenced when its session is over.",
        (
            Start(member="a", config=CONSUMER),
            Start(member="b", shows=PASSWORD, config=CONSUMER),
            Wait(seconds=3),
            Deny(member="b", what="group"),
            Gone(member="b"),
            Close(member="a"),
        ),
        since=(4, 0),
    ),
    _scenario(
        "topic_denied",
        "A member that may not read its topic any more ends with an exception, and leaves in order.",
        _loses(Start(member="b", shows=PASSWORD), Deny(member="b", what="topic")),
    ),
    _scenario(
        "requests_limited",
        "A quota on requests holds a member's heartbeats back until its session is over.",
        _loses(Start(member="b", shows=PASSWORD), LimitRequests(member="b")),
    ),
)
