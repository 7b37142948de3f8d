"""What a member's own log tells: one process of one client, cut out of the log by the lines that start and end it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from spark_jobs.knowledge.reasons import LEFT_BEFORE, read_client_reason
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.rebalances.model import Event

_STARTS = ("client_configured",)
_LEAVING_STATES = ("PREPARE_LEAVING", "LEAVING")


@dataclass(frozen=True)
class ProcessLog:
    """The lines of the process that held one member id: from its start to the start of the next one.

    `named` is the line that shows whose log it is: that names the member id, or was spoken while the member was there.
    `next_start` is the first line of the next process of that client, `has_starts` tells whether the log names
    starts at all (librdkafka's names none): only then does the absence of a start prove anything.
    """

    lines: Sequence[Event]
    next_start: Event | None
    has_starts: bool
    named: Event | None = None

    @property
    def exists(self) -> bool:
        """Whether the process left any line."""
        return bool(self.lines)

    @property
    def identity(self) -> tuple[Event, ...]:
        """The lines that show which process of which member it is."""
        started = self.lines[0] if self.lines and self.lines[0]["kind"] in _STARTS else None
        return tuple(e for e in (started, self.named) if e is not None)

    def of_kind(self, *kinds: str) -> list[Event]:
        """Its lines of those kinds, in order."""
        return [e for e in self.lines if e["kind"] in kinds]

    def after(self, at: datetime) -> list[Event]:
        """Its lines later than `at`."""
        return [e for e in self.lines if e["happened_at"] > at]

    def near(self, at: datetime, before: timedelta, after: timedelta, *kinds: str) -> list[Event]:
        """Its lines of those kinds from `before` ahead of `at` to `after` past it."""
        return [e for e in self.of_kind(*kinds) if at - before <= e["happened_at"] <= at + after]


def process_log(directory: MemberRegistry, member: Member, at: datetime) -> ProcessLog:
    """The log of the process that held `member` at `at`.

    The process is the one that names the member id; where no line does (librdkafka), the one that ran at `at`.
    """
    log = directory.log_of(member)
    starts = [n for n, e in enumerate(log) if e["kind"] in _STARTS]
    named = next((n for n, e in enumerate(log) if e["member_id"] == member.member_id), None)
    if named is None:
        named = max((n for n, e in enumerate(log) if e["happened_at"] <= at), default=None)
        if named is None or log[named]["member_id"]:  # it speaks of another member, and held that one
            return ProcessLog((), None, bool(starts))
    first = max((n for n in starts if n <= named), default=0)
    following = next((n for n in starts if n > named), None)
    next_start = log[following] if following is not None else None
    return ProcessLog(tuple(log[first:following]), next_start, bool(starts), log[named])


def closing_lines(log: ProcessLog, before: datetime) -> list[Event]:
    """The lines in which the process says that it closes its consumer, or leaves on purpose, no later than `before`.

    Odd: a process whose poll limit ran out leaves as well; that is not counted here.
    """
    if log.of_kind("client_poll_expired"):
        last_expiry = log.of_kind("client_poll_expired")[-1]["happened_at"]
        lines: Iterable[Event] = [e for e in log.lines if e["happened_at"] > last_expiry + timedelta(seconds=1)]
    else:
        lines = log.lines
    return [e for e in lines if e["happened_at"] <= before and _closes(e)]


def _closes(event: Event) -> bool:
    kind = event["kind"]
    if kind in ("client_closed", "client_releasing"):
        return True
    if kind == "client_leaving":
        return "poll timeout" not in str(event["client_reason"])
    if kind == "client_generation_reset":
        return read_client_reason(event["reason"]) == LEFT_BEFORE
    return bool(kind == "client_state_changed" and event["state"] in _LEAVING_STATES)
