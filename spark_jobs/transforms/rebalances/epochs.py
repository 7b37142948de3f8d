"""The epochs of a KIP-848 group: every rise of the group epoch is one rebalance.

Joins, leaves and fencings stand just before the epoch they raise; the coordinator writes no reason. Members reconcile
one by one, and from 4.0 on only their own logs tell when they are done. Source: GroupMetadataManager.java, KIP-848.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from spark_jobs.knowledge.reasons import CoordinatorReason
from spark_jobs.transforms.rebalances.model import SAME_ACT, Act, Episode, Event, Gap
from spark_jobs.transforms.rebalances.records import REACHED

_ACTS = {
    "member_joined": "joined",
    "member_left": "left",
    "member_fenced": "expired",
    "static_member_returned": "returned",
}
_ONLY_BEFORE_4_0 = ("member_subscribed", "member_assignment_state", "subscription_metadata")
"""Lines that tell a coordinator of 3.7 to 3.9: later ones print them at DEBUG. Source: GroupMetadataManager.java."""
_NO_REASON = CoordinatorReason("none")


def build_epochs(group_id: str, events: Sequence[Event]) -> tuple[list[Episode], list[Gap]]:
    """The episodes of one KIP-848 group, and the breaks in its epochs.

    Takes: the group's events in order. Gives: episodes in order of their epochs.
    Odd: 3.7 to 3.9 do not print the rise that a leave or a fencing brings; such a break is explained by it.
    """
    machine = _Machine(group_id, prints_every_rise=not any(e["kind"] in _ONLY_BEFORE_4_0 for e in events))
    for event in events:
        machine.feed(event)
    _end(machine.episodes, events)
    return machine.episodes, machine.gaps


class _Machine:
    """One group's state while its events are folded."""

    def __init__(self, group_id: str, prints_every_rise: bool) -> None:
        self.group_id = group_id
        self.prints_every_rise = prints_every_rise
        self.episodes: list[Episode] = []
        self.gaps: list[Gap] = []
        self.pending: list[Act] = []
        self.skipped: list[Act] = []
        self.members: set[str] = set()
        self.epoch: int | None = None
        self.hash: str | None = None
        self.moved = False

    def feed(self, event: Event) -> None:
        kind = event["kind"]
        if kind in _ACTS:
            self.pending.append(_act_of(event))
            _count(self.members, event)
        elif kind == "epoch_bumped":
            self.bump(event)
        elif kind in ("join_completed", "group_emptied"):
            self.epoch = event["generation"]  # a classic group that is converted goes on counting
        if kind in ("target_computed", "group_unloaded") and event["protocol"] == "consumer":
            self.show(event)
        if kind in ("group_loaded", "group_unloaded"):
            self.moved = True

    def bump(self, event: Event) -> None:
        epoch = event["generation"]
        stale = [a for a in self.pending if event["happened_at"] - a.at > SAME_ACT]
        acts = [a for a in self.pending if a not in stale]
        if self.epoch is not None and epoch != self.epoch + 1:
            self.see_gap(event, epoch - self.epoch - 1, [*self.skipped, *stale])
        self.episodes.append(_episode(self.group_id, event, acts, self.hash, frozenset(self.members)))
        self.pending, self.skipped, self.moved = [], [], False
        self.epoch, self.hash = epoch, event["detail"]

    def show(self, event: Event) -> None:
        """A line that names an epoch which no line began."""
        if self.epoch is not None and (event["generation"] or 0) > self.epoch:
            self.see_gap(event, event["generation"] - self.epoch, self.pending)
            self.skipped, self.pending, self.epoch = [], [], event["generation"]

    def see_gap(self, event: Event, missing: int, acts: Sequence[Act]) -> None:
        assert self.epoch is not None
        explained = self.explain(event["generation"], missing, acts)
        self.gaps.append(Gap(self.epoch, event["generation"], event["happened_at"], explained, event))

    def explain(self, epoch: int, missing: int, acts: Sequence[Act]) -> str | None:
        went = len([a for a in acts if a.what != "joined"])
        if not self.prints_every_rise and 0 < missing <= went:
            return "members left or were fenced, and this version does not print the epoch that this raises"
        if missing < 0 and epoch == 1:
            return "the group began anew: its metadata had been removed"
        if missing < 0 and self.moved:
            return f"the coordinator moved before epoch {self.epoch} was stored"
        return None


def _act_of(event: Event) -> Act:
    what = _ACTS[event["kind"]]
    if event["kind"] == "member_fenced" and "session expired" not in (event["reason"] or ""):
        what = "unsynced" if "sync" in (event["reason"] or "") else "dropped"
    return Act(what, event["happened_at"], event["member_id"], event["instance_id"], events=[event])


def _count(members: set[str], event: Event) -> None:
    if event["kind"] in ("member_joined", "static_member_returned"):
        members.add(event["member_id"])
        members.discard(event["old_member_id"])
    else:
        members.discard(event["member_id"])


def _episode(group_id: str, event: Event, acts: list[Act], last_hash: str | None, members: frozenset[str]) -> Episode:
    came = sum(a.what == "joined" for a in acts)
    went = sum(a.what in ("left", "expired", "dropped", "unsynced") for a in acts)
    changed = None if event["detail"] is None or last_hash is None else event["detail"] != last_hash
    epoch = event["generation"]
    return Episode(
        group_id=group_id,
        protocol="consumer",
        coordinator=event["broker"],
        from_generation=epoch - 1,
        to_generation=epoch,
        started_at=event["happened_at"],
        reason=_NO_REASON,
        members_before=max(len(members) - came + went, 0),
        members_after=len(members),
        member_ids=members,
        metadata_hash_changed=changed,
        acts=acts,
        events=[event],
    )


def _end(episodes: list[Episode], events: Iterable[Event]) -> None:
    """When an epoch was reached by all: its last member became stable, as records tell, else the members' own logs.

    Odd: a client prints the epoch it had before the change, so that a member that gives partitions back becomes
    stable under the epoch before; a member that keeps what it has prints nothing. Only where every member has a log
    does silence mean that.
    """
    states = [e for e in events if e["kind"] in ("client_state_changed", "member_assignment_state")]
    witnesses = {e["member_id"] for e in states}
    reached = sorted((e for e in events if e["kind"] == REACHED), key=lambda e: (e["happened_at"], e["order"]))
    for n, episode in enumerate(episodes):
        following = episodes[n + 1].started_at if n + 1 < len(episodes) else None
        if episode.members_after == 0:
            episode.ended_at, episode.outcome = episode.started_at, "emptied"
        elif reached and _recorded_end(episode, reached, following):
            continue
        elif episode.member_ids <= witnesses:
            _reach(episode, states, following)


def _recorded_end(episode: Episode, reached: Sequence[Event], following: datetime | None) -> bool:
    """Ends the episode as the records of its members tell; whether they do.

    Source: CurrentMemberAssignment; an epoch is reached when each member that is left is stable at it.
    """
    at_epoch: dict[str, Event] = {}
    for event in reached:
        if event["state"] is None:
            at_epoch.pop(event["member_id"], None)
        else:
            at_epoch[event["member_id"]] = event
        if following is not None and event["happened_at"] >= following and event["generation"] != episode.to_generation:
            episode.ended_at, episode.outcome = following, "interrupted"
            episode.events.append(event)
            return True
        if at_epoch and all(
            e["generation"] == episode.to_generation and e["state"] == "stable" for e in at_epoch.values()
        ):
            episode.ended_at, episode.outcome = max(event["happened_at"], episode.started_at), "completed"
            episode.events.append(event)
            return True
    return False


def _reach(episode: Episode, states: Sequence[Event], following: datetime | None) -> None:
    last: dict[str, Event] = {
        e["member_id"]: e
        for e in states
        if e["member_id"] in episode.member_ids
        and e["happened_at"] >= episode.started_at
        and (following is None or e["happened_at"] < following)
    }
    if not last:
        return
    if all(e["state"] == "STABLE" for e in last.values()):
        episode.ended_at, episode.outcome = max(e["happened_at"] for e in last.values()), "completed"
    elif following is not None:
        episode.ended_at, episode.outcome = following, "interrupted"
