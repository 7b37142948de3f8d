"""Settings that would have helped: what each avoids by how Kafka works, what it costs, and where that stands."""

from __future__ import annotations

from dataclasses import dataclass, field

SESSION_TIMEOUT_MS = 45_000
"""Kafka's own session.timeout.ms since 3.0, which it chose to outlast a short trouble of the network. A longer one is
not replayed: it hides dead members for longer than Kafka's authors would. Source: KIP-735."""


@dataclass(frozen=True)
class Remedy:
    """One setting. `option` is Kafka's name for it."""

    setting: str
    option: str
    avoids: str
    costs: str
    source: str = field(compare=False)


REMEDIES = (
    Remedy(
        setting="static_membership",
        option="group.instance.id",
        avoids="the leaving and the coming of a member that is back before its session runs out: it sends no"
        " LeaveGroup, and the coordinator gives its partitions back to it",
        costs="the partitions of a member that was closed for good stand until its session runs out",
        source="KIP-345; a session timeout of 45 s is Kafka's default since 3.0 (KIP-735)",
    ),
    Remedy(
        setting="cooperative_assignment",
        option="partition.assignment.strategy",
        avoids="no rebalance, but that partitions stand which stay with their member: only moved ones do",
        costs="a second rebalance whenever partitions move",
        source="KIP-429",
    ),
    Remedy(
        setting="session_timeout",
        option="session.timeout.ms",
        avoids="the removal of a member that was silent for less than the time-out, and its coming back",
        costs="a member that died is noticed later",
        source="KIP-735: 45 s is Kafka's default since 3.0; no longer one is replayed",
    ),
    Remedy(
        setting="max_poll_interval",
        option="max.poll.interval.ms",
        avoids="the leaving of a member that processed for less than the interval, and its coming back",
        costs="a member that hangs is noticed later; it is also the longest that others wait for it in a rebalance",
        source="KIP-62; ConsumerConfig max.poll.interval.ms",
    ),
)
REMEDY_BY_SETTING = {r.setting: r for r in REMEDIES}
