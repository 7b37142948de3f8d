"""The truth of a drill: what was done to the cluster, and what the audit should call it (docs/design.md section 8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

REBALANCE_CODES: Mapping[str, tuple[str, ...]] = {
    "member_join": ("member_joined",),
    "member_leave": ("member_left",),
    "session_expired_dead": ("member_dead",),
    "session_expired_alive": ("heartbeat_expired",),
    "rejoin_after_expiry": ("member_rejoined",),
    "max_poll_exceeded": ("max_poll_exceeded",),
    "partitions_added": ("partitions_added",),
    "subscription_changed": ("subscription_changed",),
    "topic_created": ("topic_created",),
    "topic_deleted": ("topic_deleted",),
    "operator_rebalance": ("client_requested",),
    "removed_by_admin": ("removed_by_admin",),
    "rolling_restart": ("member_left", "member_rejoined"),
    "sync_timeout": ("sync_timeout",),
    "join_timeout": ("join_timeout",),
    "assignor_changed": ("assignor_changed",),
    "connector_changed": ("connector_changed",),
    "static_member_changed": ("static_member_changed",),
    "not_authenticated": ("not_authenticated",),
    "access_denied": ("access_denied",),
    "throttled": ("throttled",),
}
"""expect → the causes of gold.rebalances that meet it. The last eight are this drill's own: docs/drill.md."""

SILENCES = ("no_rebalance", "static_rejoin_no_rebalance", "static_leave_silent")
EXPIRY_CODES = ("member_left", "member_dead")
"""No rebalance is expected until the member's session runs out; then it is one of these."""

OUTAGE_KINDS: Mapping[str, str] = {
    "failover_orderly": "controlled_shutdown",
    "failover_planned": "controlled_shutdown",
    "failover_crash": "crash",
    "failover_unresponsive": "unresponsive",
}
"""expect → the manner of an absence. Recordings from before say failover_planned for a shutdown in order."""
FAILOVER_KINDS: Mapping[str, str] = {
    "preferred_election": "preferred_election",
    "unclean_election": "unclean_election",
    "offline_partition": "offline",
    "reassignment": "reassignment",
}
ROLLING_RESTART = "rolling_restart"
DURATION_BLAME = "duration_blame"
IMBALANCE = "imbalance"

LOG_DIR_FAILED = "log_dir_failed"
AUTOMATIC_ELECTION = "automatic_election"
NO_FAILOVER = "no_failover"
CONTROLLER_CHANGE = "controller_change"
ISR_LAPSE = "isr_lapse"
BROKERS_ROLLED = "brokers_rolled"
RECORDS_LOST = "records_lost"
RECORDS_TRUNCATED = "records_truncated"
UNDER_MIN_ISR = "under_min_isr"
FAILED_START = "failed_start"
QUORUM_LOST = "quorum_lost"
HOST_SILENT = "host_silent"
FOLLOWER_REFUSED = "follower_refused"
FINDING, NO_FINDING = "finding", "no_finding"
START_ENDED = "broker_start_ended"
"""The action of a start that failed though nothing was done to make it fail: the cluster itself refused it."""
ELECTED_UNCLEANLY = "elected_uncleanly"
"""The action of an election from outside the ISR that the metadata log holds, whether it was forced or not."""
MAINTENANCE_DECLARED = "maintenance_declared"
"""The action of an operator who declares maintenance: `from`, `to`, `reason`. `to` is missing while it lasts."""
OWN = (
    *(LOG_DIR_FAILED, AUTOMATIC_ELECTION, NO_FAILOVER, CONTROLLER_CHANGE, ISR_LAPSE, BROKERS_ROLLED),
    *(RECORDS_LOST, RECORDS_TRUNCATED, UNDER_MIN_ISR, FAILED_START, QUORUM_LOST, HOST_SILENT),
    *(FOLLOWER_REFUSED, FINDING, NO_FINDING),
)
"""What this drill expects beyond the design: docs/drill.md."""

EXPECTS = frozenset({*REBALANCE_CODES, *SILENCES, *OUTAGE_KINDS, *FAILOVER_KINDS, DURATION_BLAME, IMBALANCE, *OWN})

# Source: group.min.session.timeout.ms of the broker, default 6000: no session is shorter where the truth names none.
SHORTEST_SESSION_MS = 6000


class TruthError(ValueError):
    """The truth cannot be scored as it stands. Says every line that is wrong."""


@dataclass(frozen=True)
class Act:
    """One thing done to the cluster. `session` is the session timeout of its member, `fields` its whole line."""

    at: datetime
    action: str
    expect: str | None
    group: str | None
    client: str | None
    instance: str | None
    broker: int | None
    topic: str | None
    partition: int | None
    session: timedelta
    fields: Mapping[str, Any]

    @property
    def verdict(self) -> str | None:
        """The expected verdict, or the one that was expected until it became undecided."""
        return self.expect or self.fields.get("undecided")

    @property
    def is_on_broker(self) -> bool:
        """Whether it was done to a broker (a group or topic that names its broker was not)."""
        return self.broker is not None and self.group is None and self.topic is None

    @property
    def scope(self) -> str:
        """The object of the act, in words."""
        parts = (("group", self.group), ("client", self.client), ("broker", self.broker), ("topic", self.topic))
        return " ".join(f"{k} {v}" for k, v in parts if v is not None) or "cluster"


def read_truth(lines: Iterable[str | Mapping[str, Any]]) -> tuple[Act, ...]:
    """The acts of a truth file.

    The lines are text or parsed; the acts are in the order of time.
    Raises TruthError where a line is not a JSON object, has no instant, or expects something that cannot be scored.
    """
    problems: list[str] = []
    rows: list[tuple[datetime, Mapping[str, Any]]] = []
    for number, line in enumerate(lines, 1):
        if isinstance(line, str) and not line.strip():
            continue
        try:
            rows.append(_read_row(line))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise TruthError("; ".join(problems))
    rows.sort(key=lambda r: r[0])
    sessions: dict[tuple[object, object], int] = {}
    acts = []
    for at, row in rows:
        member = (row.get("group"), row.get("client"))
        if row.get("session_timeout_ms") is not None:
            sessions[member] = int(row["session_timeout_ms"])
        acts.append(_act(at, row, timedelta(milliseconds=sessions.get(member, SHORTEST_SESSION_MS))))
    return tuple(acts)


def _read_row(line: str | Mapping[str, Any]) -> tuple[datetime, Mapping[str, Any]]:
    row = json.loads(line) if isinstance(line, str) else line
    if not isinstance(row, Mapping) or not isinstance(row.get("at"), str) or not isinstance(row.get("action"), str):
        raise ValueError("found no JSON object with the texts `at` and `action`")
    expect = row.get("expect")
    if expect is not None and expect not in EXPECTS:
        raise ValueError(f"expects {expect!r}, which no rule scores; known: {', '.join(sorted(EXPECTS))}")
    at = datetime.fromisoformat(row["at"])
    return (at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)), row


def _act(at: datetime, row: Mapping[str, Any], session: timedelta) -> Act:
    return Act(
        at=at,
        action=row["action"],
        expect=row.get("expect"),
        group=row.get("group"),
        client=row.get("client"),
        instance=row.get("group_instance_id"),
        broker=row.get("broker"),
        topic=row.get("topic"),
        partition=row.get("partition"),
        session=session,
        fields=row,
    )
