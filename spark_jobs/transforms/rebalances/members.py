"""Who is who in one group: which client stands behind a member id, since when, and whether it was there before."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spark_jobs.knowledge.reasons import name_in_member_id, option_value, read_coordinator_reason, split_members
from spark_jobs.transforms.rebalances.model import SAME_ACT, Event
from spark_jobs.transforms.rebalances.records import RECORDED

_REMOVALS = {"member_left": "left", "member_failed": "expired", "member_fenced": "expired"}
_SILENT = ("expired", "unjoined", "unsynced")
_ARRIVALS = {"member_joined", "member_id_assigned", "member_added", "member_rejoined_pending", "rebalance_started"}
_TOPIC = re.compile(r"[a-zA-Z0-9._-]+")
_TELLS_GENERATION = {"member_loaded", "client_joined", "client_synced", RECORDED}


@dataclass(frozen=True)
class Removal:
    """How a member went, and the line that tells it: left, expired, unjoined, unsynced or replaced."""

    at: datetime
    how: str
    event: Event


@dataclass
class Member:
    """One member id of one group.

    `named_by`, `placed_by`, `cooperative_by`, `limited_by`: the lines that told its client id, its instance id, that
    its assignor is cooperative, and its poll limit.
    """

    member_id: str
    client_id: str | None = None
    instance_id: str | None = None
    host: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    is_cooperative: bool | None = None
    first_at: datetime | None = None
    first_generation: int | None = None
    named_by: Event | None = None
    placed_by: Event | None = None
    cooperative_by: Event | None = None
    limited_by: Event | None = None
    removals: list[Removal] = field(default_factory=list)

    @property
    def known_at(self) -> datetime | None:
        """When it was first heard of: some are named only by the line that removes them."""
        return min((at for at in (self.first_at, *(r.at for r in self.removals)) if at is not None), default=None)

    @property
    def introduced_by(self) -> tuple[Event, ...]:
        """The lines that show who it is. A dynamic member's id itself begins with its client id."""
        says_itself = self.instance_id is None and self.client_id == name_in_member_id(self.member_id)
        return tuple(e for e in (None if says_itself else self.named_by, self.placed_by) if e is not None)

    def gone_before(self, at: datetime) -> Removal | None:
        """Its last removal no later than `at`; None where it was there all the time."""
        return max((r for r in self.removals if r.at <= at), default=None, key=lambda r: (r.at, r.how))


class MemberRegistry:
    """The members of one group, from every witness: coordinator lines, loaded groups, client logs, snapshots, records.

    Takes: all events of the group in order, client lines among them, and sightings (kind member_seen).
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.members: dict[str, Member] = {}
        self.logs: dict[str, list[Event]] = defaultdict(list)
        self.by_generation: dict[int, set[str]] = defaultdict(set)
        self.topics: set[str] = set()
        self._settings: dict[str, Event] = {}
        self._acts: dict[str, list[Event]] = defaultdict(list)
        self._joins: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            self._read(event)
        self._name_members()

    def _read(self, event: Event) -> None:
        if event["origin"] == "client" and event["client_id"]:
            self.logs[event["client_id"]].append(event)
            if event["kind"] == "client_configured":
                self._settings[event["client_id"]] = event
        for member_id, instance_id in _namings(event):
            self._see(self._member(member_id), instance_id, event)
            if event["kind"] in _REMOVALS or event["kind"] in _ARRIVALS:
                self._acts[member_id].append(event)
            if event["kind"] in _ARRIVALS or event["kind"] in ("client_joined", "client_synced"):
                self._joins[member_id].append(event)
        if event["kind"] in ("member_seen", "client_subscribed", RECORDED) and event["detail"]:
            self.topics.update(_TOPIC.findall(event["detail"]))
        if event["kind"] == "static_member_replaced" and event["old_member_id"]:
            self._replace(event)
        for member_id, how in _dropped(event):
            self._member(member_id).removals.append(Removal(event["happened_at"], how, event))
        if event["kind"] in ("group_emptied", "group_dead"):
            self._empty(event)

    def _member(self, member_id: str) -> Member:
        return self.members.setdefault(member_id, Member(member_id))

    def _see(self, member: Member, instance_id: str | None, event: Event) -> None:
        if member.client_id is None and event["client_id"]:
            member.client_id, member.named_by = event["client_id"], event
        if member.instance_id is None and instance_id:
            member.instance_id, member.placed_by = instance_id, event
        member.host = member.host or (event["host"] or "").lstrip("/") or None
        member.session_timeout_ms = member.session_timeout_ms or event["session_timeout_ms"]
        if member.rebalance_timeout_ms is None and event["rebalance_timeout_ms"]:
            member.rebalance_timeout_ms, member.limited_by = event["rebalance_timeout_ms"], event
        if event["assignor"]:
            member.is_cooperative, member.cooperative_by = "cooperative" in event["assignor"], event
        if event["kind"] in _TELLS_GENERATION and event["generation"] is not None:
            self.by_generation[event["generation"]].add(member.member_id)
            if member.first_generation is None or event["generation"] < member.first_generation:
                member.first_generation = event["generation"]
        at = event["happened_at"]
        if event["kind"] in _REMOVALS:
            member.removals.append(Removal(at, _REMOVALS[event["kind"]], event))
        elif event["kind"] != "member_loaded":
            # A loaded group tells of the past: when it was loaded says nothing about when the member came.
            member.first_at = min(at, member.first_at or at)

    def _replace(self, event: Event) -> None:
        old = self._member(event["old_member_id"])
        if old.instance_id is None and event["instance_id"]:
            old.instance_id, old.placed_by = option_value(event["instance_id"]), event
        old.removals.append(Removal(event["happened_at"], "replaced", event))

    def _empty(self, event: Event) -> None:
        at = event["happened_at"]
        for member in self.members.values():
            if not member.removals and (member.first_at is None or member.first_at < at):
                member.removals.append(Removal(at, "left", event))

    def _name_members(self) -> None:
        """The client in front of a dynamic member's uuid; for a static member a witness has to tell the client."""
        for member in self.members.values():
            name = name_in_member_id(member.member_id)
            if member.instance_id is None and member.client_id is None:
                member.client_id = name
            settings = self._settings.get(member.client_id or "")
            if settings is not None:
                member.session_timeout_ms = member.session_timeout_ms or settings["session_timeout_ms"]
                if member.rebalance_timeout_ms is None:
                    member.rebalance_timeout_ms, member.limited_by = settings["rebalance_timeout_ms"], settings
        clients = {m.instance_id: m for m in self.members.values() if m.instance_id and m.client_id}
        for member in self.members.values():
            if member.instance_id in clients and member.client_id is None:
                same = clients[member.instance_id]
                member.client_id, member.named_by = same.client_id, same.named_by

    def get(self, member_id: str | None, instance_id: str | None = None) -> Member:
        """The member of that id; where the line named none, the last holder of the instance id, or nobody known."""
        if member_id is not None:
            return self.members.get(member_id) or Member(
                member_id, client_id=None if instance_id else name_in_member_id(member_id), instance_id=instance_id
            )
        held = [m for m in self.members.values() if instance_id and m.instance_id == instance_id]
        return max(held, key=lambda m: (m.first_at is not None, m.first_at, m.member_id), default=Member(""))

    def same_client(self, one: Member, other: Member) -> bool:
        """Whether two members are the same: the same instance id, else the same client id and, where told, host."""
        if one.member_id == other.member_id:
            return True
        if one.instance_id or other.instance_id:
            return one.instance_id == other.instance_id
        if not one.client_id or one.client_id != other.client_id or self.is_shared(one.client_id):
            return False
        return one.host is None or other.host is None or one.host == other.host

    def is_shared(self, client_id: str) -> bool:
        """Whether several members held that client id at once, so that it identifies nobody.

        Odd: a dead member that waits for its session to run out is no second holder.
        """
        spans = sorted(
            (m.first_at, m.member_id, m)
            for m in self.members.values()
            if m.client_id == client_id and not m.instance_id and m.first_at is not None
        )
        return any(
            not first.removals
            or (first.removals[-1].how not in _SILENT and first.removals[-1].at > second_at + SAME_ACT)
            for (_, _, first), (second_at, _, _) in itertools.pairwise(spans)
        )

    def had_unnamed(self, before: datetime) -> bool:
        """Whether the group had members by then whose client no witness names: any of them may be the same."""
        return any(
            m.client_id is None and m.instance_id is None and m.known_at is not None and m.known_at < before - SAME_ACT
            for m in self.members.values()
        )

    def count_at(self, at: datetime) -> int:
        """How many members that witnesses name can have been in the group at that instant."""
        return sum(
            (m.first_at is None or m.first_at <= at + SAME_ACT) and m.gone_before(at) is None
            for m in self.members.values()
        )

    def earlier(self, member: Member, at: datetime, look_back: timedelta) -> Member | None:
        """The same client as it was in the group before `at`, removed or gone, within the look-back."""
        found = [
            m
            for m in self.members.values()
            if (m.member_id != member.member_id or m.gone_before(at) or self._had_joined(m, at))
            and self.same_client(m, member)
            and m.known_at is not None
            and (m.known_at < at - SAME_ACT or m.gone_before(at))
            and max([m.known_at, *(r.at for r in m.removals if r.at <= at)]) >= at - look_back
        ]
        return max(found, key=lambda m: (m.known_at, m.member_id), default=None)

    def _had_joined(self, member: Member, at: datetime) -> bool:
        """Whether it had joined under the same id: KIP-848 members keep theirs, and the line of a leave may be lost."""
        return any(
            e["kind"] == "member_joined" and e["happened_at"] < at - SAME_ACT for e in self._acts[member.member_id]
        )

    def later(self, member: Member, at: datetime, within: timedelta) -> tuple[Member, datetime] | None:
        """The same client as it came back after `at`, and when."""
        returns = [
            (e["happened_at"], m.member_id, m)
            for m in self.members.values()
            if self.same_client(m, member)
            for e in self._acts[m.member_id]
            if e["kind"] in _ARRIVALS and at < e["happened_at"] <= at + within
        ]
        first = min(returns, default=None, key=lambda r: r[:2])
        return None if first is None else (first[2], first[0])

    def arrival(self, member_id: str, at: datetime) -> Event | None:
        """The line of the member's arrival at `at` that says most: the one that starts the rebalance, if any."""
        lines = [
            e
            for e in self._acts[member_id]
            if e["kind"] in _ARRIVALS and at - SAME_ACT <= e["happened_at"] <= at + SAME_ACT
        ]
        return max(lines, default=None, key=lambda e: (e["kind"] == "rebalance_started", e["happened_at"]))

    def joined_last(self, member_id: str, before: datetime) -> Event | None:
        """The member's last joining before an instant, by its own log or by the lines that name its arrival."""
        own = [e for e in self._joins[member_id] if e["happened_at"] < before - SAME_ACT]
        return max(own, default=None, key=lambda e: e["happened_at"])

    def first_words(self, member: Member) -> tuple[Event, ...]:
        """The first line that tells of the member's arrival."""
        return tuple(self._acts[member.member_id][:1])

    def is_cooperative(self, member: Member) -> Event | None:
        """The line that shows the member, or one of its group, with a cooperative assignor."""
        if member.is_cooperative is not None:
            return member.cooperative_by if member.is_cooperative else None
        return next((m.cooperative_by for _, m in sorted(self.members.items()) if m.is_cooperative), None)

    def log_of(self, member: Member) -> list[Event]:
        """The lines of the member's own log, in order; empty where there is no log or its client id is shared."""
        if not member.client_id or self.is_shared(member.client_id):
            return []
        return self.logs.get(member.client_id, [])


def _namings(event: Event) -> Iterator[tuple[str, str | None]]:
    """The members an event names, with the instance id where it tells one: some stand only in a reason."""
    if event["kind"] == "rebalance_started":
        reason = read_coordinator_reason(event["reason"])
        if reason.act == "joined":
            yield from ((m, reason.instance_id) for m in reason.members)
    elif event["member_id"]:
        yield event["member_id"], option_value(event["instance_id"])


def _dropped(event: Event) -> Iterator[tuple[str, str]]:
    """The members that an event drops without a line of their own, and how they went."""
    if event["kind"] == "members_not_rejoined":
        yield from ((m, "unjoined") for m in split_members(event["members"] or ""))
    elif event["kind"] == "rebalance_started":
        reason = read_coordinator_reason(event["reason"])
        if reason.act == "sync_expired":
            yield from ((m, "unsynced") for m in reason.members)
