"""The rebalance protocols of groups, in words, and advice that depends on them."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode


@dataclass(frozen=True, kw_only=True)
class ProtocolNoun(Noun):
    """One protocol in words.

    `session`, `heartbeat`: the settings that rule how soon a silent member is removed. Members set those of the classic
    protocol, an administrator those of a group with epochs. By default brokers take sessions from `shortest_session_ms`
    to `longest_session_ms`. `size`: the brokers' setting for the most members. `tool`: the script of Kafka that shows
    such a group.
    """

    session: str
    heartbeat: str
    size: str
    shortest_session_ms: int = 45_000
    longest_session_ms: int = 60_000
    tool: str = "kafka-consumer-groups.sh"


# fmt: off
class Protocol(NounCode):
    """Rebalance protocol of a group."""

    noun: ProtocolNoun

    CLASSIC = ProtocolNoun(
        code="classic", meaning="Join phases led by one member.",
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms", size="group.max.size",
        shortest_session_ms=6_000, longest_session_ms=1_800_000,
    )
    CONSUMER = ProtocolNoun(
        code="consumer", meaning="KIP-848: the coordinator assigns.",
        session="consumer.session.timeout.ms", heartbeat="consumer.heartbeat.interval.ms",
        size="group.consumer.max.size",
    )
    STREAMS = ProtocolNoun(
        code="streams", meaning="KIP-1071: the coordinator assigns the tasks of Kafka Streams.",
        session="streams.session.timeout.ms", heartbeat="streams.heartbeat.interval.ms",
        size="group.streams.max.size",
        tool="kafka-streams-groups.sh",
    )
    SHARE = ProtocolNoun(
        code="share", meaning="KIP-932: the members of a share group read the same partitions.",
        session="share.session.timeout.ms", heartbeat="share.heartbeat.interval.ms",
        size="group.share.max.size",
        tool="kafka-share-groups.sh",
    )

    @property
    def has_epochs(self) -> bool:
        """Whether the coordinator assigns, in epochs, and no member leads."""
        return self is not Protocol.CLASSIC

    @property
    def is_of_consumers(self) -> bool:
        """Whether its members are consumers, whose timeouts are settings of their own."""
        return self in (Protocol.CLASSIC, Protocol.CONSUMER)
# fmt: on


@dataclass(frozen=True, kw_only=True)
class AdvisedNoun(Noun):
    """A code with advice to a group.

    `advice` names settings in braces, as in `{session}`: knowledge/advice.py fills in the names that the library of a
    member, or its group, has for them, and leaves out a sentence about a setting that it has not. `epochs_advice` takes
    the place of `advice` for groups with epochs; empty where `advice` is right for both.
    """

    advice: str = ""
    epochs_advice: str = ""
