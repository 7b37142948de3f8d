"""The kinds of silence of a member that a group lost, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import NounCode
from kafka_hindsight.catalog.nouns.protocols import AdvisedNoun


@dataclass(frozen=True, kw_only=True)
class SilenceNoun(AdvisedNoun):
    """One kind of silence in words. `advice` takes the place of the cause's; empty where the cause's is right."""

    label: str
    source: str


# fmt: off
class Silence(NounCode):
    """Kind of silence of a member whose process lived."""

    noun: SilenceNoun

    NETWORK = SilenceNoun(
        code="network", label="cut off",
        meaning="Its process ran and could not reach its coordinator.",
        advice="Look at the network between the member's host and its coordinator: links, firewalls and load"
        " balancers that drop connections, name servers, a node of Kubernetes that lost its network. Look too"
        " at other members on its host. A longer {session} bridges a short cut, and delays the removal of"
        " members that died.",
        source="NetworkClient.java; rdkafka_broker.c",
    )
    PAUSE = SilenceNoun(
        code="pause", label="stood still",
        meaning="Its process, or its part that sends heartbeats, stood still.",
        advice="Look for long GC pauses in its GC log, CPU limits of its container, a host that slept, was suspended"
        " or swapped at that time. Do not look at the network. A longer {session} bridges short pauses, and"
        " delays the removal of members that died.",
        source="AbstractCoordinator.java HeartbeatThread; rdkafka_cgrp.c",
    )
    SLOW = SilenceNoun(
        code="slow", label="slow",
        meaning="Its handler took longer than max.poll.interval.ms, and its heartbeats went on.",
        source="KIP-62",
    )
    COORDINATOR = SilenceNoun(
        code="coordinator", label="its coordinator did not serve",
        meaning="Its coordinator, or the host of that, was away or stood still.",
        advice="See the outage of the broker. Nothing is wrong with the member: leave its settings as they are.",
        source="GroupCoordinator.scala onExpireHeartbeat",
    )
    UNKNOWN = SilenceNoun(
        code="unknown", label="not known", meaning="No evidence shows which.", source="its own log would show it",
    )
# fmt: on
