"""Scenarios of members that brokers refuse or hold back: passwords, certificates, rights, quotas, names taken twice."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import StartFailure
from lab.drill.guards import CERTIFICATE, PASSWORD
from lab.drill.scenarios.groups import CONSUMER
from lab.drill.steps import (
    Close,
    CreateTopic,
    Deny,
    DrillStep,
    EndCertificate,
    ExceedQuota,
    Gone,
    Kill,
    LimitFetches,
    LimitRequests,
    Reported,
    Scenario,
    Start,
    Wait,
    WithdrawPassword,
)
from lab.drill.steps_on_brokers import (
    Advertise,
    Certify,
    FailStart,
    InSync,
    PreferredElection,
    StartBroker,
    StopBroker,
    UsePassword,
    WithdrawBrokerPassword,
)

_KRAFT = ("combined", "separate")
_SINCE = (3, 5)
"""KIP-900: the first KRaft that keeps passwords of users."""

_NOWHERE = "kafka-9.invalid"
"""A name that no name server knows. Source: RFC 2606."""

_REFUSED = "broker_not_authenticated"


def _loses(b: Start, *steps: DrillStep) -> tuple[DrillStep, ...]:
    return (Start(member="a"), b, Wait(seconds=3), *steps, Gone(member="b"), Close(member="a"))


def _restarts(broker: str) -> tuple[DrillStep, ...]:
    return (StopBroker(broker=broker), StartBroker(broker=broker), InSync())


def _starts_lost(member: str, library: str) -> Start:
    nowhere = {"bootstrap.servers": f"{_NOWHERE}:9092"}
    return Start(member=member, library=library, config=nowhere, refused=True, expect="no_rebalance")


def _scenario(
    name: str,
    sentence: str,
    steps: tuple[DrillStep, ...],
    since: tuple[int, ...] = _SINCE,
    on_brokers: bool = False,
    layouts: tuple[str, ...] = _KRAFT,
) -> Scenario:
    return Scenario(name, sentence, steps, since, kraft_since=_SINCE, layouts=layouts, on_brokers=on_brokers)


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
    _scenario(
        "fetches_limited",
        "A quota on what a member fetches holds it back, and the group keeps it.",
        (
            *(Start(member="a"), Start(member="b")),
            LimitFetches(member="b"),
            Wait(seconds=15),
            Reported(about="b", rule="client_throttled"),
            *(Close(member="b"), Close(member="a")),
        ),
        since=(4, 4),
    ),
    _scenario(
        "writes_limited",
        "A quota on what a client writes holds a producer back.",
        (ExceedQuota(program="p", quota="producer_byte_rate"), Reported(about="p", rule="client_throttled")),
    ),
    _scenario(
        "mutations_limited",
        "A quota on how many partitions are created holds an administrator's program back.",
        (ExceedQuota(program="p", quota="controller_mutation_rate"), Reported(about="p", rule="client_throttled")),
    ),
    _scenario(
        "client_id_twice",
        "Two processes with one client id harm no group.",
        (
            Start(member="a"),
            Start(member="b", twin="a"),
            Wait(seconds=3),
            Close(member="a"),
            Reported(about="b", expect="no_finding"),
            Close(member="b"),
        ),
    ),
    _scenario(
        "name_unknown",
        "A member whose bootstrap.servers no name server knows never joins.",
        (
            Start(member="a"),
            *(_starts_lost("b", "java"), _starts_lost("c", "librdkafka")),
            *(Reported(about=member, rule="name_unknown") for member in "bc"),
            *(Kill(member=member, expect="no_rebalance") for member in "bc"),
            Close(member="a"),
        ),
    ),
    _scenario(
        "advertised_name_unknown",
        "A member that a broker sends to a name that no name server knows cannot read what that broker leads.",
        (
            Start(member="a"),
            Advertise(broker="bystander", host=_NOWHERE),
            *_restarts("bystander"),
            PreferredElection(),
            Start(member="b", shows=PASSWORD),
            Wait(seconds=10),
            Reported(about="b", rule="name_unknown"),
            *(Close(member="b"), Close(member="a")),
            Advertise(broker="bystander"),
            *_restarts("bystander"),
        ),
        on_brokers=True,
    ),
    _scenario(
        "broker_password_withdrawn",
        "A follower whose password is withdrawn fetches nothing, and its leaders take it out of the ISR.",
        (
            CreateTopic(topic="t", placed=(("y", "x"),)),
            UsePassword(broker="x"),
            *_restarts("x"),
            WithdrawBrokerPassword(broker="x", topic="t"),
            Reported(about="x", rule=_REFUSED),
            *_restarts("x"),  # A fetcher that was refused does not try again.
        ),
        on_brokers=True,
    ),
    _scenario(
        "broker_certificate_ended",
        "A broker whose certificate has ended follows no leader, and no broker follows it, once they connect again.",
        (
            Certify(broker="x", listener=CERTIFICATE, lasts=90),  # It restarts within that time on a busy machine too.
            *_restarts("x"),
            Wait(seconds=90),
            Reported(about="x", expect="follower_refused"),
            *(StopBroker(broker="y"), StartBroker(broker="y")),
            *(CreateTopic(topic="t", placed=(("y", "x"),)), Wait(seconds=15)),
            *(Reported(about=broker, rule=_REFUSED) for broker in "xy"),
            Certify(broker="x", listener=CERTIFICATE),
            *_restarts("x"),
        ),
        on_brokers=True,
    ),
    _scenario(
        "controller_certificate_ended",
        "A node whose certificate has ended reaches no other controller, does not register, and gives up.",
        (
            Certify(broker="x", listener="controller", lasts=1),
            StopBroker(broker="x"),
            FailStart(broker="x", why=StartFailure.NOT_AUTHENTICATED),
            Reported(about="x", rule=_REFUSED),
            Certify(broker="x", listener="controller"),
            *(StartBroker(broker="x"), InSync()),
        ),
        on_brokers=True,
    ),
    _scenario(
        "start_id_taken",
        "A broker that is started with the id of another one is not let in, and the other one serves on.",
        (
            StopBroker(broker="x"),
            FailStart(broker="x", why=StartFailure.ID_TAKEN, expect=None),
            Reported(about="x", rule="broker_started_twice"),
            *(StartBroker(broker="x"), InSync()),
        ),
        layouts=("separate",),
        on_brokers=True,
    ),
)
