"""The rebalance protocols of groups, in words, and advice that depends on them."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode


@dataclass(frozen=True, kw_only=True)
class ProtocolNoun(Noun):
    """One protocol in words.

    `session`, `heartbeat`: the settings that rule how soon a silent member is removed. Members set those of the classic
    protocol, an administrator those of a group with epochs. `tool`: the script of Kafka that shows such a group.
    """

    session: str
    heartbeat: str
    tool: str = "kafka-consumer-groups.sh"


# fmt: off
class Protocol(NounCode):
    """Rebalance protocol of a group."""

    noun: ProtocolNoun

    CLASSIC = ProtocolNoun(
        code="classic", meaning="Join phases led by one member.",
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms",
    )
    CONSUMER = ProtocolNoun(
        code="consumer", meaning="KIP-848: the coordinator assigns.",
        session="consumer.session.timeout.ms", heartbeat="consumer.heartbeat.interval.ms",
    )
    STREAMS = ProtocolNoun(
        code="streams", meaning="KIP-1071: the coordinator assigns the tasks of Kafka Streams.",
        session="streams.session.timeout.ms", heartbeat="streams.heartbeat.interval.ms",
        tool="kafka-streams-groups.sh",
    )
    SHARE = ProtocolNoun(
        code="share", meaning="KIP-932: the members of a share group read the same partitions.",
        session="share.session.timeout.ms", heartbeat="share.heartbeat.interval.ms",
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

    `epochs_advice` takes the place of `advice` for groups with epochs, whose members refuse settings of the classic
    protocol; empty where `advice` is right for both. It has `{session}` and `{heartbeat}` for the group's settings.
    """

    advice: str = ""
    epochs_advice: str = ""

    def advice_for(self, protocol: Protocol) -> str:
        """The advice to a group of a protocol."""
        if protocol.has_epochs and self.epochs_advice:
            return self.epochs_advice.format(session=protocol.noun.session, heartbeat=protocol.noun.heartbeat)
        return self.advice
