"""Partitions that stand, and settings that would have helped a group, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.tones import Grade, GradedCode, GradedNoun


@dataclass(frozen=True, kw_only=True)
class StallNoun(GradedNoun):
    """One way to stand or fall behind, in words. `label` follows a partition: `orders-1 fell behind`.

    `is_stand`: it stood still.
    """

    label: str
    is_stand: bool = True


@dataclass(frozen=True, kw_only=True)
class RemedyNoun(Noun):
    """One setting in words. `option` is Kafka's name for it; `avoids` and `costs` are clauses."""

    label: str
    option: str
    avoids: str
    costs: str
    source: str


# fmt: off
class StallKind(GradedCode):
    """Whether a partition that had an owner stood or fell behind while records waited, and what else its owner did."""

    noun: StallNoun

    FALLS_BEHIND = StallNoun(
        code="falls_behind", label="fell behind", grade=Grade.WARN, is_stand=False,
        meaning="Its owner read it more slowly than records arrived.",
    )
    OWNER_STANDS = StallNoun(
        code="owner_stands", label="stood with all of its owner", grade=Grade.BAD,
        meaning="Its owner moved none of its partitions in which records waited.",
    )
    HELD_BY_TRANSACTION = StallNoun(
        code="held_by_transaction", label="was held back by an open transaction", grade=Grade.BAD,
        meaning="A transaction was open at the group's position: read_committed consumers get nothing behind it.",
    )
    STANDS_ALONE = StallNoun(
        code="stands_alone", label="stood while its owner moved others", grade=Grade.BAD,
        meaning="Its owner moved other partitions, and not this one.",
    )


class RemedySetting(NounCode):
    """The setting that would have helped a group."""

    noun: RemedyNoun

    STATIC_MEMBERSHIP = RemedyNoun(
        code="static_membership", label="static membership", option="group.instance.id",
        meaning="group.instance.id.",
        avoids="the rebalances when a member leaves and rejoins before its session expires: it sends no LeaveGroup, and"
        " the coordinator gives its partitions back to it",
        costs="the partitions of a member that was closed for good stand still until its session expires",
        source="KIP-345; a session timeout of 45 s is Kafka's default since 3.0 (KIP-735)",
    )
    COOPERATIVE_ASSIGNMENT = RemedyNoun(
        code="cooperative_assignment", label="a cooperative assignor", option="partition.assignment.strategy",
        meaning="A cooperative assignor.",
        avoids="the pause of partitions that keep their owner; the number of rebalances stays",
        costs="a second rebalance whenever partitions move",
        source="KIP-429",
    )
    SESSION_TIMEOUT = RemedyNoun(
        code="session_timeout", label="a longer session timeout", option="session.timeout.ms",
        meaning="session.timeout.ms.",
        avoids="the rebalances when a member that was silent for less than the timeout is removed and rejoins",
        costs="a dead member is detected later",
        source="KIP-735: 45 s is Kafka's default since 3.0; no longer one is simulated",
    )
    MAX_POLL_INTERVAL = RemedyNoun(
        code="max_poll_interval", label="a longer poll interval", option="max.poll.interval.ms",
        meaning="max.poll.interval.ms.",
        avoids="the rebalances when a member that processed for less than the interval leaves and rejoins",
        costs="a member that hangs is detected later; others also wait for it that long in a rebalance",
        source="KIP-62; ConsumerConfig max.poll.interval.ms",
    )
# fmt: on
