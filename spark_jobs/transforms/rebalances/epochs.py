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
_NO_REASON = CoordinatorReason("none")


def build_epochs(group_id: str, events: Sequence[Event]) -> tuple[list[Episode], list[Gap]]:
    """The episodes of one KIP-848 group, and the breaks in its epochs.

    Takes: the group's events in order. Gives: episodes in order of their epochs.
    Odd: 3.7 to 3.9 do not print the rise that a leave or a fencing brings; such a break is explained by it.
    """
    episodes: list[Episode] = []
    gaps: list[Gap] = []
    pending: list[Act] = []
    skipped: list[Act] = []
    members: set[str] = set()
    last_hash: str | None = None
    moved: Event | None = None
    for event in events:
        if event["kind"] in _ACTS:
            act = _act_of(event)
            pending.append(act)
            _count(members, event)
        elif event["kind"] in ("group_loaded", "group_unloaded"):
            moved = event
        elif event["kind"] == "epoch_bumped":
            stale = [a for a in pending if event["happened_at"] - a.at > SAME_ACT]
            skipped.extend(stale)
            acts = [a for a in pending if a not in stale]
            before = episodes[-1].to_generation if episodes else None
            if before is not None and event["generation"] != before + 1:
                explained = _explain(skipped, before, event, moved)
                gaps.append(Gap(before, event["generation"], event["happened_at"], explained, event))
            episodes.append(_episode(group_id, event, acts, before, last_hash, frozenset(members)))
            pending, skipped, moved, last_hash = [], [], None, event["detail"]
    _end(episodes, events)
    return episodes, gaps


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


def _episode(
    group_id: str, event: Event, acts: list[Act], before: int | None, last_hash: str | None, members: frozenset[str]
) -> Episode:
    came = sum(a.what == "joined" for a in acts)
    went = sum(a.what in ("left", "expired", "dropped", "unsynced") for a in acts)
    changed = None if event["detail"] is None or last_hash is None else event["detail"] != last_hash
    epoch = event["generation"]
    return Episode(
        group_id=group_id,
        protocol="consumer",
        coordinator=event["broker"],
        from_generation=before if before is not None else epoch - 1,
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


def _explain(skipped: Sequence[Act], before: int, event: Event, moved: Event | None) -> str | None:
    missing = event["generation"] - before - 1
    if 0 < missing <= len([a for a in skipped if a.what != "joined"]):
        return "members left or were fenced, and this version does not print the epoch that this raises"
    if missing < 0 and moved is not None:
        return f"the coordinator moved before epoch {before} was stored"
    return None


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
