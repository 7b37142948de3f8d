"""The causes of a rebalance whose coordinator writes no reason, and names no member that joins or leaves.

Brokers before 2.1 name only a member whose session expired. The state of the group shows more: a group without members
rebalances only when a member joins, and loses all its members at once only when they leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause, Outcome
from kafka_hindsight.judgements.reasoning.proofs import Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Likely, Possible, Ruling, Unknown
from kafka_hindsight.judgements.rebalances.case import Case, proof_of
from kafka_hindsight.judgements.rebalances.leave_rulings import logs_cover_the_return
from kafka_hindsight.shared.durations import LONG_AGO, NEXT_POLL, RETURN_WITHIN, SAME_ACT
from kafka_hindsight.shared.words import duration

AT_ONCE = timedelta(seconds=5)
"""A join phase that ends sooner has dropped no member for not rejoining: that takes max.poll.interval.ms, or the
session of a client before 0.10.1, which is 6 s at least. Source: GroupCoordinator.scala onCompleteJoin; KIP-62;
group.min.session.timeout.ms."""


def group_began(case: Case) -> Proof | None:
    """The group's generation was 0: its coordinator had made it, without a member."""
    return proof_if(case.episode.from_generation == 0)


def group_was_empty(case: Case) -> Proof | None:
    """The last line before says that the group is empty."""
    return proof_if(case.episode.members_before == 0)


def process_stopped(case: Case) -> Proof | None:
    """A log that names the group and no other one says at most 5 s before that its process stops."""
    stop = case.registry.stops.last_until(case.at + SAME_ACT)
    return proof_of(stop) if stop is not None and stop.happened_at >= case.at - NEXT_POLL else None


def group_emptied_at_once(case: Case) -> Proof | None:
    """The join phase ended within 5 s without a member, and no session expired."""
    episode = case.episode
    is_at_once = episode.joined_at is not None and episode.joined_at - episode.started_at < AT_ONCE
    return proof_if(episode.outcome == Outcome.EMPTIED and is_at_once)


def no_one_came(case: Case) -> Proof | None:
    """No join phase ended with a member within the 10 minutes after it."""
    settled = case.registry.settled.first_since(case.at)
    return proof_if(settled is None or settled.happened_at > case.at + RETURN_WITHIN)


def new_client_asked(case: Case) -> Proof | None:
    """A client's log shows its first request to join within the second before, and this generation as its first."""
    before = case.episode.previous
    since = max(case.at - SAME_ACT, before.started_at if before else LONG_AGO)
    for request, generation in case.registry.logs.first_requests.between(since, case.at):
        if generation == case.episode.to_generation:
            return proof_of(request, client=request.client_id, lead=duration(case.at - request.happened_at))
    return None


def none_had_gone(case: Case) -> Proof | None:
    """Each rebalance since the group's first generation was a join as well."""
    episode = case.episode
    while episode.from_generation > 0:
        before = episode.previous
        if before is None or before.to_generation != episode.from_generation or before.changes:
            return None
        if before.from_generation > 0 and new_client_asked(replace(case, episode=before)) is None:
            return None
        episode = before
    return Proof()


_SOURCE = "GroupCoordinator.scala 0.11 to 2.0 addMemberAndRebalance, removeMemberAndUpdateGroup"

# fmt: off
SILENT_RULINGS: Sequence[Ruling[Case]] = (
    Likely(Cause.MEMBER_JOINED, "A member joined, and the group began with it, at generation 0: only a join begins a"
           " rebalance of a group without members.",
           proof=(group_began,), source=_SOURCE,
           cases=("made: no reason at generation 0", "made: no reason in an empty group")),
    Possible(Cause.MEMBER_JOINED, "A member joined the empty group: nothing else begins a rebalance of such a group. No"
             " line shows whether the member had been in it before.",
             proof=(group_was_empty,), source=_SOURCE,
             cases=("made: no reason in an empty group", "made: no reason at generation 0")),
    Likely(Cause.MEMBER_LEFT, "The group's members left: their process stopped, as its own log shows.",
           proof=(process_stopped,), source=f"{_SOURCE}; Connect.java stop; AbstractCoordinator.java maybeLeaveGroup",
           cases=("made: no reason, and a worker stops", "made: no reason, and all leave")),
    Likely(Cause.MEMBER_LEFT, "All members left the group at once. No session had run out, and no member came within"
           " {coverage}: they were closed.",
           proof=(group_emptied_at_once, no_one_came, logs_cover_the_return), source=_SOURCE,
           cases=("made: no reason, and all leave", "made: no reason, and all leave for a minute")),
    Possible(Cause.MEMBER_LEFT, "All members left the group at once, and no session had run out: they were closed, or"
             " did not poll within max.poll.interval.ms.",
             proof=(group_emptied_at_once,), source=f"{_SOURCE}; KIP-62",
             cases=("made: no reason, and all leave for a minute", "made: no reason, and all leave")),
    Likely(Cause.MEMBER_JOINED, "Client '{client}' joined the group: its own log shows its first request {lead}"
           " before. No member had left since the group began.",
           proof=(new_client_asked, none_had_gone), source=_SOURCE,
           cases=("made: no reason, and a client asks to join", "made: no reason")),
    Possible(Cause.MEMBER_JOINED, "Client '{client}' joined the group: its own log shows its first request {lead}"
             " before. No line shows whether it had been in the group before.",
             proof=(new_client_asked,), source=_SOURCE,
             cases=("made: no reason, and a client asks to join after one",
                    "made: no reason, and a client asks to join")),
    Unknown(Cause.UNKNOWN, "The coordinator writes no reason, and names no member.",
            proof=(always,), source="GroupCoordinator.scala prepareRebalance before 2.1",
            cases=("made: no reason", "made: no reason, and a client asks to join")),
)
# fmt: on
