"""The judge of episodes: which table of rulings decides, and the rulings on joins and the coordinator's lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Cause, Confidence, Outcome, Protocol
from kafka_hindsight.judgements.reasoning import rulings
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, always, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling, Unknown, Verdict
from kafka_hindsight.judgements.rebalances.case import Case, proof_of
from kafka_hindsight.judgements.rebalances.group_history import Change
from kafka_hindsight.judgements.rebalances.leave_rulings import EXPIRY_RULINGS, LEAVE_RULINGS
from kafka_hindsight.judgements.rebalances.rejoin_rulings import (
    EPOCH_RULINGS,
    REJOIN_RULINGS,
    SILENT_RULINGS,
    group_began,
)
from kafka_hindsight.knowledge.client_ids import is_default
from kafka_hindsight.knowledge.reasons import LEFT_BEFORE, REMOVED_WHILE_ALIVE
from kafka_hindsight.knowledge.session_timers import LEAST_SESSION_MS
from kafka_hindsight.shared.durations import LOOK_BACK, MS, SAME_ACT
from kafka_hindsight.shared.words import duration

_DEPARTURES = {
    Change.LEFT: "after it had left",
    Change.EXPIRED: "after its session had run out",
    Change.NOT_REJOINED: "after it had been dropped for not rejoining in time",
    Change.NOT_SYNCED: "after it had been dropped for not asking for its assignment",
    Change.REPLACED: "in the place of its former process",
    Change.FORGOTTEN: "after the last line about the former group of that name",
}

_DROPPED = (Change.EXPIRED, Change.NOT_REJOINED)
"""The removals of members that did not join again in a join phase."""

_REASONS_TO_REJOIN = {
    LEFT_BEFORE: "it had left",
    REMOVED_WHILE_ALIVE: "the coordinator had removed it while it was alive",
}


def former_self_was_not_removed(case: Case) -> Proof | None:
    """The same client had joined within the look-back (24 h), and no line shows it removed."""
    former = case.former_self
    if former is None or former.last_removal_until(case.at) is not None:
        return None
    return proof_of(*former.introduced_by, *case.registry.first_line(former))


def came_back_after_removal(case: Case) -> Proof | None:
    """The same client was in the group within the look-back (24 h), and a line shows it leave or removed."""
    removal = case.former_self and case.former_self.last_removal_until(case.at)
    if not case.former_self or not removal:
        return None
    delay = duration(case.at - removal.at)
    if not case.context.read_times.is_whole(removal.at, case.at):
        delay = f"at most {delay}"  # It may have come and gone meanwhile.
    words = {"delay": delay, "departure": _DEPARTURES[removal.how]}
    return proof_of(*case.former_self.introduced_by, removal.event, **words)


def was_there_by_its_words(case: Case) -> Proof | None:
    """The client's reason on the coordinator's line: it had left, or it had been removed while it was alive."""
    reason = _REASONS_TO_REJOIN.get(case.client_reason or "")
    return Proof(words={"reason": reason}) if reason else None


def is_surely_the_same(case: Case) -> Proof | None:
    """The instance id, the member id, or with a client id that no library chose the host, is the same as before."""
    member, former = case.member, case.former_self
    is_there = member.host is not None and former is not None and member.host == former.host
    is_there = is_there and not is_default(member.client_id or "")
    has_its_id = former is not None and member.member_id == former.member_id
    return proof_if(member.instance_id or is_there or has_its_id)


def like_one_had_gone(case: Case) -> Proof | None:
    """A member that may be the same had gone, or was no longer heard, within the look-back (24 h)."""
    departure = case.lookalike_departure
    if departure is None:
        return None
    at_most = "at most " if departure.is_bound else ""
    silence = f"{at_most}{duration(max(case.at - departure.silent_since, SAME_ACT))}"
    words = {"lookalike": case.likeness(departure.member), "silence": silence}
    return proof_of(*departure.member.introduced_by, departure.removal.event, **words)


def its_log_names_a_former_self(case: Case) -> Proof | None:
    """The member's own log names, within the look-back (24 h), another member of its client, and only before it."""
    member, line = case.member, None if case.member.member_id else case.own_line
    former = case.registry.logs.former_in(member.client_id or "", member.member_id, line)
    return proof_of(former) if former is not None and former.happened_at >= case.at - LOOK_BACK else None


def is_nameless(case: Case) -> Proof | None:
    """No line shows a member id, an instance id or a client id of the member."""
    member = case.member
    return proof_if(not (member.member_id or member.instance_id or member.client_id))


def names_do_not_identify(case: Case) -> Proof | None:
    """Neither an instance id nor a client id that it alone holds shows who the member is."""
    if case.identity.identifies(case.member, case.at):
        return None
    holders = case.identity.holders_at_once(case.member, case.at)
    joins = (case.registry.last_join(m.member_id, case.at) for m in holders)
    return proof_of(*(line for m in holders for line in m.introduced_by), *joins)


def keeps_its_member_id(case: Case) -> Proof | None:
    """The coordinator assigns, so that a consumer keeps its member id."""
    return proof_if(Protocol(case.episode.protocol).has_epochs)


def group_was_empty_of_its_like(case: Case) -> Proof | None:
    """The group was empty, and the last one that had gone has the member's host, or its client id and no other host."""
    if case.episode.members_before != 0 or case.lookalike_departure is None:
        return None
    member, former = case.member, case.lookalike_departure.member
    is_there = member.host is not None and member.host == former.host
    return proof_if(is_there or (member.client_id is not None and member.client_id == former.client_id))


def all_like_it_were_dropped(case: Case) -> Proof | None:
    """Each member of its client id that the group had was removed in this join phase, and was silent before it.

    One that was heard later lived beside it, and two consumers have one client id. It was last heard a session before
    its removal. A session that the logs do not show is as long as the shortest of that client id, else as the shortest
    that brokers allow.
    """
    until = (case.episode.joined_at or case.at) + SAME_ACT
    others = case.identity.present_lookalikes(case.member, case.at)
    removals = [next((r for r in m.removals if case.at <= r.at <= until and r.how in _DROPPED), None) for m in others]
    were_silent = all(
        r is not None and r.at - (case.identity.session_ms(m) or LEAST_SESSION_MS) * MS < case.at
        for m, r in zip(others, removals)
    )
    return proof_of(*(r.event for r in removals if r)) if removals and were_silent else None


def group_had_others(case: Case) -> Proof | None:
    """The group had members within the look-back (24 h)."""
    return proof_if(not case.identity.had_no_member(case.at))


def history_has_holes(case: Case) -> Proof | None:
    """Not every member that the group had within the look-back (24 h) is known."""
    return proof_if(case.lookalike_departure is not None or not case.history.is_whole(case.at))


def history_reaches_back(case: Case) -> Proof | None:
    """The group's history is known from its first generation on, or for the whole look-back (24 h)."""
    return proof_if(case.history.reaches_back(case.at))


def history_is_short(case: Case) -> Proof | None:
    """In every other case: the logs begin later than the look-back."""
    return Proof(words={"coverage": duration(case.at - case.history.observed_from)})


_NAMES = "CommonClientConfigs client.id: nothing makes it unique; KIP-848: a member id is a bare uuid"
_SAME_CLIENT = "the same instance id, else the same client id and, where known, host: KIP-345, KIP-394"

JOIN_RULINGS: tuple[Ruling[Case], ...] = (
    Possible(
        Cause.MEMBER_JOINED,
        "A member joined whose id is masked: it may have been in the group before.",
        proof=(is_nameless,),
        source="GroupCoordinator.scala addMemberAndRebalance; ids are often masked in logs that are passed on",
        cases=("made: a masked member joins", "groups/pause-4.1 01:41:04.275"),
    ),
    Likely(
        Cause.MEMBER_REJOINED,
        "{who} came back while its former self was still waiting to be removed.",
        proof=(former_self_was_not_removed,),
        source=_SAME_CLIENT,
        cases=("made: joins again under another id", "groups/deployment-4.1 01:45:30.028"),
    ),
    Certain(
        Cause.MEMBER_REJOINED,
        "{who} came back {delay} {departure}.",
        proof=(came_back_after_removal, is_surely_the_same),
        source=_SAME_CLIENT,
        cases=("groups/emptied-2.8 13:31:06.681", "groups/deployment-4.1 01:45:30.028"),
    ),
    Likely(
        Cause.MEMBER_REJOINED,
        "{who} came back {delay} {departure}; its client id alone identifies it.",
        proof=(came_back_after_removal,),
        source=_SAME_CLIENT,
        cases=("groups/deployment-4.1 01:45:30.028", "groups/emptied-2.8 13:31:06.681"),
    ),
    Likely(
        Cause.MEMBER_REJOINED,
        "{who} came back. Its reason says that {reason}.",
        proof=(was_there_by_its_words,),
        source="KIP-800; AbstractCoordinator.java requestRejoin, maybeLeaveGroup",
        cases=("made: rejoins after UNKNOWN_MEMBER_ID", "groups/pause-4.1 01:41:18.996"),
    ),
    Likely(
        Cause.MEMBER_REJOINED,
        "{who} came back: its own log also names its former self.",
        proof=(its_log_names_a_former_self,),
        source="one log is one installation's: what writes into it after another one's end is started in its place",
        cases=("made: joins as the next one in a log", "made: joins beside another one in a log"),
    ),
    Likely(
        Cause.MEMBER_JOINED,
        "{who} joined a group that began with it, at generation 0; {lookalike} had been in the former group of that"
        " name {silence} before.",
        proof=(like_one_had_gone, names_do_not_identify, group_began),
        source=f"GroupMetadata.scala; {_NAMES}",
        cases=("made: a group begins once more", "made: an empty group on one host"),
    ),
    Likely(
        Cause.MEMBER_REJOINED,
        "{who} came back: the group had been empty, and {lookalike} was last heard in it {silence} before.",
        proof=(like_one_had_gone, names_do_not_identify, group_was_empty_of_its_like),
        source=_NAMES,
        cases=("made: an empty group on one host", "made: two members hold one client id"),
    ),
    Likely(
        Cause.MEMBER_REJOINED,
        "{who} came back: each member of its client id that the group had was silent before, did not join"
        " again, and was removed in the same join phase.",
        proof=(all_like_it_were_dropped,),
        source=f"GroupCoordinator.scala handleHeartbeat, onCompleteJoin, onExpireHeartbeat; {_NAMES}",
        cases=("made: joins as its like is dropped", "made: joins as one of its like is dropped"),
    ),
    Likely(
        Cause.MEMBER_JOINED,
        "{who}, a new consumer, joined {silence} after {lookalike} was last heard. A consumer that had been there would"
        " have kept its member id.",
        proof=(like_one_had_gone, names_do_not_identify, keeps_its_member_id),
        source="KIP-848: a consumer keeps its member id for as long as it lives",
        cases=("groups/kip848-4.1 01:46:18.627 (brokers only)", "groups/kip848-4.1 01:47:40.959 (brokers only)"),
    ),
    Possible(
        Cause.MEMBER_JOINED,
        "{who} joined; {lookalike} was last heard in the group {silence} before, and no name shows whether it is the"
        " same.",
        proof=(like_one_had_gone, names_do_not_identify),
        source=_NAMES,
        cases=("made: one of two members with one client id is replaced", "groups/pause-4.1 01:41:04.275"),
    ),
    Likely(
        Cause.MEMBER_JOINED,
        "{who} joined the group. No line shows it there before, but not every earlier member is known.",
        proof=(history_has_holes,),
        source=_SAME_CLIENT,
        cases=("made: joins after a generation gap", "groups/pause-4.1 01:41:04.275"),
    ),
    Likely(
        Cause.MEMBER_JOINED,
        "{who} joined the group beside its other members: no member that may be the same had left before.",
        proof=(names_do_not_identify, group_had_others),
        source=_NAMES,
        cases=("made: two members hold one client id", "groups/pause-4.1 01:41:04.275"),
    ),
    Certain(
        Cause.MEMBER_JOINED,
        "{who} joined the group. It had not been in the group before.",
        proof=(history_reaches_back,),
        source=f"{_SAME_CLIENT}; the look-back is our own choice",
        cases=("groups/pause-4.1 01:41:04.275", "groups/pause-4.1 01:41:18.996"),
    ),
    Likely(
        Cause.MEMBER_JOINED,
        "{who} joined the group. The logs cover the {coverage} before, and do not show it there.",
        proof=(history_is_short,),
        source=_SAME_CLIENT,
        cases=("made: joins soon after the logs begin", "groups/pause-4.1 01:41:04.275"),
    ),
)


def reason_is(act: str, words: str) -> Predicate[Case]:
    """The coordinator wrote this reason for the rebalance."""
    return with_sentence(
        f"The coordinator's reason for the rebalance: {words}.",
        lambda case: proof_if(case.episode.reason.act == act),
    )


def lacks_start(case: Case) -> Proof | None:
    """The line that starts the rebalance is missing."""
    return proof_if(case.episode.lacks_start)


def member_was(what: Change, words: str) -> Predicate[Case]:
    """The coordinator did this to the member."""
    return with_sentence(
        f"The coordinator's line says: {words}.",
        lambda case: proof_if(case.change is not None and case.change.what == what),
    )


def move_cut_it_short(case: Case) -> Proof | None:
    """The coordinator moved while the rebalance ran, and no line shows that the generation was reached."""
    verdict = case.start_verdict
    return None if verdict is None else Proof(verdict.evidence, {"trigger": verdict.sentence})


REASON_RULINGS: tuple[Ruling[Case], ...] = (
    Certain(
        Cause.STORAGE_ERROR,
        "The coordinator could not write the group's assignment to __consumer_offsets.",
        proof=(reason_is("storage_error", "an error when storing the group's assignment"),),
        source="GroupCoordinator.scala propagateAssignment; GroupMetadataManager.java",
        cases=("groups/storage-4.3 12:35:46.475", "groups/storm-2.8 01:48:17.257"),
    ),
    Likely(
        Cause.GROUP_OVER_CAPACITY,
        "The group that the coordinator loaded has more members than group.max.size.",
        proof=(reason_is("over_capacity", "the freshly loaded group is over capacity"),),
        source="KIP-389; GroupCoordinator.scala onGroupLoaded",
        cases=("made: a loaded group is over capacity", "groups/storage-4.3 12:35:46.475"),
    ),
    Certain(
        Cause.ASSIGNOR_CHANGED,
        "A static member came back with other assignors, and the group's assignor changed.",
        proof=(reason_is("static_protocol_changed", "the group's selectedProtocol will change"),),
        source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345",
        cases=("groups/assignor-4.3 12:17:54.972", "made: a static member returns with other metadata"),
    ),
    Unknown(
        Cause.UNKNOWN,
        "The line that starts this rebalance is missing, and with it its reason.",
        proof=(lacks_start,),
        source="GroupCoordinator.scala prepareRebalance writes it at INFO",
        cases=("made: a join phase without its first line", "made: words that no coordinator writes"),
    ),
    Unknown(
        Cause.UNKNOWN,
        "The coordinator gives no reason that shows the cause.",
        proof=(always,),
        source="GroupCoordinator.scala prepareRebalance",
        cases=("made: words that no coordinator writes", "made: a join phase without its first line"),
    ),
)

REMOVAL_RULINGS: tuple[Ruling[Case], ...] = (
    Certain(
        Cause.JOIN_TIMEOUT,
        "{who} was dropped because it did not rejoin within the rebalance timeout.",
        proof=(member_was(Change.NOT_REJOINED, "the member had not rejoined, or had not left its epoch, in time"),),
        source="GroupCoordinator.scala onCompleteJoin (2.7+); GroupMetadataManager.java",
        cases=("groups/dropped-4.3 12:19:21.879 (contributor)", "groups/kip848-4.1 01:47:08.865"),
    ),
    Certain(
        Cause.SYNC_TIMEOUT,
        "{who} was dropped because it joined and never asked for its assignment.",
        proof=(member_was(Change.NOT_SYNCED, "the member was removed on pending sync request expiration"),),
        source="GroupCoordinator.scala onExpirePendingSync (3.0+); KAFKA-12890",
        cases=("groups/unsynced-4.3 12:37:45.916", "groups/storm-2.8 01:48:17.257"),
    ),
    Likely(
        Cause.STATIC_MEMBER_CHANGED,
        "{who} came back, or was replaced, with other metadata.",
        proof=(member_was(Change.RETURNED, "it updates the metadata of a static member"),),
        source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345, KIP-814",
        cases=("made: a static member returns with other metadata", "groups/assignor-4.3 12:17:54.972"),
    ),
)

MOVE_RULINGS: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.COORDINATOR_MOVED,
        "The coordinator moved while the group was rebalancing and cut the rebalance short. {trigger}",
        proof=(move_cut_it_short,),
        source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
        cases=("made: moved while the assignment was awaited", "made: rejoins after a move"),
    ),
)


BY_CHANGE: dict[Change, Sequence[Ruling[Case]]] = {
    Change.JOINED: JOIN_RULINGS,
    Change.LEFT: LEAVE_RULINGS,
    Change.EXPIRED: EXPIRY_RULINGS,
    Change.NOT_REJOINED: REMOVAL_RULINGS,
    Change.NOT_SYNCED: REMOVAL_RULINGS,
    Change.RETURNED: REMOVAL_RULINGS,
}
"""The table that judges the change of one member."""

_REASONS_THAT_ARE_CAUSES = ("storage_error", "over_capacity", "static_protocol_changed")
"""Reasons of the coordinator that are the cause themselves, also where they name a member."""


def judge_episode(case: Case) -> Verdict:
    """Judge why the episode began: the change that its own reason names, else what changed.

    Where the line that starts it is missing, the first known change may be one that only fell into it.
    """
    episode = case.episode
    if episode.reason.act in _REASONS_THAT_ARE_CAUSES:
        return rulings.verdict_of(REASON_RULINGS, case)
    if case.change is not None:
        verdict = judge_change(case)
        if not episode.lacks_start:
            return verdict
        sentence = f"The line that starts this rebalance is missing; this fell into it: {verdict.sentence}"
        return replace(verdict, confidence=Confidence.POSSIBLE, sentence=sentence)
    if episode.reason.act in ("leader_rejoined", "metadata_updated"):
        return rulings.verdict_of(REJOIN_RULINGS, case)
    if Protocol(episode.protocol).has_epochs:
        return rulings.verdict_of(EPOCH_RULINGS, case)
    if episode.raw_reason is None and not episode.lacks_start:
        return rulings.verdict_of(SILENT_RULINGS, case)
    return rulings.verdict_of(REASON_RULINGS, case)


def judge_move(case: Case, start_verdict: Verdict) -> Verdict:
    """Judge whether a move of the coordinator cut the episode short; else keep the verdict on its start."""
    if case.episode.cut_by_move and case.episode.outcome in (Outcome.INTERRUPTED, Outcome.UNFINISHED):
        return rulings.verdict_of(MOVE_RULINGS, replace(case, start_verdict=start_verdict))
    return start_verdict


def judge_change(case: Case) -> Verdict:
    """Judge why one member changed, or was removed."""
    assert case.change is not None
    return rulings.verdict_of(BY_CHANGE[case.change.what], case)
