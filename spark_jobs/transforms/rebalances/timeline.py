"""The state machine of a classic group: its coordinator's lines in order become episodes.

A join phase ends with 'Stabilized' (the generation rises); the rebalance ends when the leader's assignment arrives,
or when the group is empty. There is no line for Stable. Source: GroupCoordinator.scala, GroupMetadataManager.java.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spark_jobs.knowledge.reasons import CoordinatorReason, read_coordinator_reason, split_members
from spark_jobs.transforms.rebalances.model import SAME_ACT, Act, Episode, Event, Gap

_STARTLESS = CoordinatorReason("unclaimed")


class _Machine:
    """One group's state while its events are folded."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.open: Episode | None = None
        self.done: list[Episode] = []
        self.gaps: list[Gap] = []
        self.generation: int | None = None
        self.member_count: int | None = None
        self.coordinator: int | None = None
        self.moved_at: Event | None = None
        self.removed: Event | None = None
        self.doubtful: Episode | None = None

    def feed(self, event: Event) -> None:
        handler = _HANDLERS.get(event["kind"])
        if handler is not None:
            handler(self, event)

    def start(self, event: Event) -> None:
        self.decide_cut(event["generation"])
        self.see_generation(event["generation"], event)
        if self.open is not None:
            self.overtake(event, event["generation"])
        reason = read_coordinator_reason(event["reason"])
        self.open = Episode(
            group_id=self.group_id,
            protocol="classic",
            coordinator=event["broker"],
            from_generation=event["generation"],
            to_generation=None,
            started_at=event["happened_at"],
            reason=reason,
            raw_reason=event["reason"],
            members_before=self.member_count,
            events=[event],
        )
        self.coordinator = event["broker"]

    def complete_join(self, event: Event) -> None:
        episode = self.episode_ending_in(event)
        episode.joined_at = event["happened_at"]
        episode.to_generation = event["generation"]
        episode.members_after = self.member_count = event["member_count"]
        episode.events.append(event)
        self.generation = event["generation"]

    def receive_assignment(self, event: Event) -> None:
        episode = self.open
        if episode is None or episode.to_generation != event["generation"]:
            self.lose_end(event["generation"])
            if self.generation is not None and event["generation"] > self.generation:
                self.see_generation(event["generation"], event)
            return
        episode.ended_at = event["happened_at"]
        episode.outcome = "completed"
        episode.events.append(event)
        self.close()

    def empty(self, event: Event) -> None:
        episode = self.episode_ending_in(event)
        episode.to_generation = event["generation"]
        episode.joined_at = episode.ended_at = event["happened_at"]
        episode.outcome = "emptied"
        episode.members_after = self.member_count = 0
        episode.events.append(event)
        self.generation = event["generation"]
        self.close()

    def load(self, event: Event) -> None:
        moved = self.coordinator is not None and event["broker"] != self.coordinator
        if self.open is not None:
            self.cut(event)
        if moved:
            self.moved_at = event
        self.coordinator = event["broker"]
        if event["generation"] is not None:
            self.decide_cut(event["generation"])
            self.see_generation(event["generation"], event)
        if event["member_count"] is not None:
            self.member_count = event["member_count"]

    def unload(self, event: Event) -> None:
        if event["broker"] != self.coordinator and self.coordinator is not None:
            return
        if event["generation"] is not None and event["protocol"] != "consumer":
            self.lose_end(event["generation"])
            self.see_generation(event["generation"], event)
        self.moved_at = event
        if self.open is not None:
            self.open.cut_by_move = True
            self.open.cut_shown = self.open.joined_at is None and event["generation"] is not None
            self.open.events.append(event)
            self.doubtful = self.open

    def follow(self, event: Event) -> None:
        """A group that is converted goes on counting; its epochs are rebuilt elsewhere."""
        self.generation = event["generation"]

    def remove(self, event: Event) -> None:
        self.removed = event
        self.member_count = 0

    def episode_ending_in(self, event: Event) -> Episode:
        """The open episode; where its first line is missing, one that began no later than now, cause unknown."""
        before = event["generation"] - 1
        if self.open is not None and self.open.joined_at is None and self.open.from_generation != before:
            self.lose_end(event["generation"])
        if self.open is None or self.open.joined_at is not None:
            if self.open is not None:
                self.overtake(event, before)
            self.see_generation(before, event)
            self.coordinator = event["broker"]
            self.open = Episode(
                group_id=self.group_id,
                protocol="classic",
                coordinator=event["broker"],
                from_generation=before,
                to_generation=None,
                started_at=event["happened_at"],
                reason=_STARTLESS,
                members_before=self.member_count,
            )
        return self.open

    def see_generation(self, generation: int, event: Event) -> None:
        """Continuity: a generation that does not follow the last one is a gap, explained or lost evidence."""
        if self.generation is not None and generation != self.generation:
            self.gaps.append(
                Gap(self.generation, generation, event["happened_at"], self.explain_gap(generation), event)
            )
        self.generation = generation

    def explain_gap(self, generation: int) -> str | None:
        last = self.generation
        if self.removed is not None and generation <= 1:
            return "the group was removed and began anew"
        if last is not None and generation < last and self.moved_at is not None:
            return f"the coordinator moved before generation {last} was stored"
        if generation == 0:
            return "the group began anew: its metadata had been removed"
        return None

    def overtake(self, event: Event, generation: int) -> None:
        """The open episode ends where the next one begins: it was interrupted, or its own end is lost."""
        self.lose_end(generation)
        if self.open is not None:
            self.interrupt(event)

    def lose_end(self, generation: int) -> None:
        """A later generation was reached than an open join phase is known to have: the lines of its end are lost."""
        if self.open is not None and self.open.joined_at is None and generation > (self.open.from_generation or 0):
            self.open.cut_by_move = False
            self.close()

    def decide_cut(self, generation: int) -> None:
        """Whether a move really cut a rebalance short: then its generation was not stored, and the old one goes on."""
        episode, self.doubtful = self.doubtful, None
        if episode is None or episode.outcome == "completed":
            return
        episode.cut_shown = episode.cut_shown or generation == episode.from_generation
        if generation > (episode.from_generation or 0):
            episode.cut_by_move, episode.outcome, episode.ended_at = False, "unfinished", None
            if self.open is episode:
                self.close()

    def interrupt(self, event: Event) -> None:
        """The open episode is overtaken by the one that begins now."""
        assert self.open is not None
        self.open.outcome = "interrupted"
        self.open.ended_at = event["happened_at"]
        self.close()

    def cut(self, event: Event) -> None:
        """The open episode is lost with its coordinator."""
        assert self.open is not None
        self.open.cut_by_move = True
        self.open.events.append(event)
        self.doubtful = self.open
        if self.open.joined_at is None:
            self.interrupt(event)

    def close(self) -> None:
        assert self.open is not None
        self.done.append(self.open)
        self.open = None
        self.moved_at = None
        self.removed = None


_HANDLERS = {
    "rebalance_started": _Machine.start,
    "join_completed": _Machine.complete_join,
    "assignment_received": _Machine.receive_assignment,
    "group_emptied": _Machine.empty,
    "group_loaded": _Machine.load,
    "group_unloaded": _Machine.unload,
    "epoch_bumped": _Machine.follow,
    "group_dead": _Machine.remove,
    "groups_deleted": _Machine.remove,
}


def drop_superseded_coordinators(events: Iterable[Event]) -> Iterator[Event]:
    """The events without what a broker says of a group that another one has loaded since.

    Odd: a broker that was paused wakes as coordinator, finds every session run out, and acts on it until it learns
    that its partitions were given away; nobody follows it. It speaks again when it loads the group anew.
    """
    holder: int | None = None
    superseded: set[int | None] = set()
    for event in events:
        broker = event["broker"] if event["origin"] == "broker" else None
        if event["kind"] == "group_loaded":
            superseded = (superseded | {holder}) - {broker}
            holder = broker
        elif broker is not None and broker in superseded:
            continue
        elif event["kind"] == "rebalance_started" or event["kind"] == "epoch_bumped":
            holder = broker
        yield event


def build_episodes(group_id: str, events: Iterable[Event]) -> tuple[list[Episode], list[Gap]]:
    """The episodes of one classic group, and the breaks in its generations.

    Takes: the group's events in order. Gives: episodes in order of their start; the last may be unfinished.
    Keeps: each finished join phase is one episode, and generations rise by one from episode to episode but at a gap.
    """
    machine = _Machine(group_id)
    for event in events:
        machine.feed(event)
    if machine.open is not None:
        machine.done.append(machine.open)
    return machine.done, machine.gaps


_ACTS = {
    "member_left": "left",
    "member_failed": "expired",
    "member_id_assigned": "joined",
    "member_rejoined_pending": "joined",
    "member_added": "joined",
}
_TRIGGERS = {
    "joined": "joined",
    "left": "left",
    "expired": "expired",
    "sync_expired": "unsynced",
    "static_updated": "returned",
    "static_protocol_changed": "returned",
}


def attach_acts(episodes: list[Episode], events: Iterable[Event]) -> None:
    """Gives each episode its trigger, from its own reason, and the acts of other members that fell into it.

    Odd: the line of an act may stand on either side of the line it belongs to (model.SAME_ACT).
    """
    for episode in episodes:
        what = _TRIGGERS.get(episode.reason.act)
        if what:
            members: tuple[str | None, ...] = episode.reason.members or (None,)
            episode.acts = [
                Act(
                    what,
                    episode.started_at,
                    member,
                    episode.reason.instance_id,
                    episode.reason.client_reason,
                    is_by_instance=what == "left" and member is None,
                )
                for member in members
            ]
    unused = {e["member_id"] for e in events if e["kind"] == "pending_member_removed"}
    for event in events:
        what = _ACTS.get(event["kind"])
        if what and not (what == "joined" and event["member_id"] in unused):
            _attach(episodes, what, event)
        elif event["kind"] == "members_not_rejoined":
            _attach_dropped(episodes, event)


def _attach(episodes: list[Episode], what: str, event: Event) -> None:
    member, at = event["member_id"], event["happened_at"]
    own = [
        (abs((act.at - at).total_seconds()), n, act)
        for n, episode in enumerate(episodes)
        for act in episode.acts
        if act.what == what and act.member_id == member
    ]
    near = min(own, default=None, key=lambda found: found[:2])
    if near is not None and (near[0] <= 1.0 or what == "joined"):
        _complete(near[2], event)
        return
    act = Act(what, at, member)
    _complete(act, event)
    # A leave by instance id alone names no member in the reason (RJ-05): its own line names it.
    unnamed = [
        (abs(e.started_at - at), n, e)
        for n, e in enumerate(episodes)
        if e.acts and e.acts[0].member_id is None and e.acts[0].what == what and abs(e.started_at - at) <= SAME_ACT
    ]
    if unnamed:
        episode = min(unnamed, key=lambda found: found[:2])[2]
        act.is_by_instance = episode.acts[0].is_by_instance
        episode.acts[0] = act
        return
    running = [e for e in reversed(episodes) if e.runs_at(at)]
    if running:
        next((e for e in running if e.holds(at)), running[0]).acts.append(act)


def _complete(act: Act, event: Event) -> None:
    act.events.append(event)
    act.client_reason = act.client_reason or event["client_reason"]
    act.instance_id = act.instance_id or event["instance_id"]


def _attach_dropped(episodes: list[Episode], event: Event) -> None:
    episode = next((e for e in reversed(episodes) if e.runs_at(event["happened_at"])), None)
    if episode is not None:
        for member in split_members(event["members"] or ""):
            episode.acts.append(Act("dropped", event["happened_at"], member, events=[event]))
