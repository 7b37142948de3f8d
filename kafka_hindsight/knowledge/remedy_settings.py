"""Settings that would have helped: what each one avoids, what it costs, and the source."""

from __future__ import annotations

from dataclasses import dataclass

SESSION_TIMEOUT_MS = 45_000
"""Kafka's own session.timeout.ms since 3.0, chosen to survive a short network fault. A longer one is not
simulated: it hides dead members for longer than Kafka's authors would. Source: KIP-735."""


@dataclass(frozen=True)
class Remedy:
    """One setting. `option` is Kafka's name for it."""

    setting: str
    option: str
    avoids: str
    costs: str
    source: str


REMEDIES = (
    Remedy(
        setting="static_membership",
        option="group.instance.id",
        avoids="the rebalances when a member leaves and rejoins before its session expires: it sends no"
        " LeaveGroup, and the coordinator gives its partitions back to it",
        costs="the partitions of a member that was closed for good stand still until its session expires",
        source="KIP-345; a session timeout of 45 s is Kafka's default since 3.0 (KIP-735)",
    ),
    Remedy(
        setting="cooperative_assignment",
        option="partition.assignment.strategy",
        avoids="the pause of partitions that keep their owner; the number of rebalances stays",
        costs="a second rebalance whenever partitions move",
        source="KIP-429",
    ),
    Remedy(
        setting="session_timeout",
        option="session.timeout.ms",
        avoids="the rebalances when a member that was silent for less than the timeout is removed and rejoins",
        costs="a dead member is detected later",
        source="KIP-735: 45 s is Kafka's default since 3.0; no longer one is simulated",
    ),
    Remedy(
        setting="max_poll_interval",
        option="max.poll.interval.ms",
        avoids="the rebalances when a member that processed for less than the interval leaves and rejoins",
        costs="a member that hangs is detected later; others also wait for it that long in a rebalance",
        source="KIP-62; ConsumerConfig max.poll.interval.ms",
    ),
)
REMEDY_BY_SETTING = {r.setting: r for r in REMEDIES}
