"""Whether a member that joins is new to the group or came back."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.judgements.reasoning.proofs import Proof, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling
from kafka_hindsight.judgements.rebalances.case import Case, shown
from kafka_hindsight.judgements.rebalances.model import Change
from kafka_hindsight.knowledge.reasons import LEFT_BEFORE, REMOVED_WHILE_ALIVE
from kafka_hindsight.shared.words import duration

_HOW_IT_WENT = {
    Change.LEFT: "after it had left",
    Change.EXPIRED: "after its session had run out",
    Change.NOT_REJOINED: "after it had been dropped for not rejoining in time",
    Change.NOT_SYNCED: "after it had been dropped for not asking for its assignment",
    Change.REPLACED: "in the place of its former process",
}

_BY_ITS_WORDS = {
    LEFT_BEFORE: "it had left",
    REMOVED_WHILE_ALIVE: "the coordinator had removed it while it was alive",
}


def former_self_was_not_removed(case: Case) -> Proof | None:
    """The same client had joined within the look-back (24 h), and no line shows it removed."""
    former = case.earlier
    if former is None or former.gone_before(case.at) is not None:
        return None
    return shown(*former.introduced_by, *case.registry.first_line(former))


def came_back_after_removal(case: Case) -> Proof | None:
    """The same client was in the group within the look-back (24 h), and a line shows it leave or removed."""
    gone = case.earlier and case.earlier.gone_before(case.at)
    if not case.earlier or not gone:
        return None
    how = _HOW_IT_WENT[gone.how]
    return shown(*case.earlier.introduced_by, gone.event, away=duration(case.at - gone.at), how=how)


def was_there_by_its_words(case: Case) -> Proof | None:
    """The client's reason on the coordinator's line: it had left, or it had been removed while it was alive."""
    how = _BY_ITS_WORDS.get(case.client_reason or "")
    return Proof(words={"how": how}) if how else None


def is_surely_the_same(case: Case) -> Proof | None:
    """The instance id, the member id or the host is the same as before."""
    member, former = case.member, case.earlier
    is_there = member.host is not None and former is not None and member.host == former.host
    has_its_id = former is not None and member.member_id == former.member_id
    return proof_if(member.instance_id or is_there or has_its_id)


def client_id_is_shared(case: Case) -> Proof | None:
    """Several members of the group held that client id at once."""
    client_id = case.member.client_id
    is_shared = client_id and not case.member.instance_id and case.registry.is_shared(client_id)
    return proof_if(is_shared)


def client_is_not_known(case: Case) -> Proof | None:
    """No evidence shows the member's client id or instance id."""
    return proof_if(case.member.client_id is None and case.member.instance_id is None)


def history_has_holes(case: Case) -> Proof | None:
    """Not every member that the group had within the look-back (24 h) is known."""
    return proof_if(case.registry.had_unnamed(case.at) or not case.history.is_whole(case.at))


def history_reaches_back(case: Case) -> Proof | None:
    """The group's history is known from its first generation on, or for the whole look-back (24 h)."""
    return proof_if(case.history.reaches_back(case.at))


def history_is_short(case: Case) -> Proof | None:
    """In every other case: the logs begin later than the look-back."""
    return Proof(words={"covered": duration(case.at - case.history.observed_from)})


_SAME_CLIENT = "the same instance id, else the same client id and, where known, host: KIP-345, KIP-394"

# fmt: off
JOIN_RULINGS: Sequence[Ruling[Case]] = (
    Likely(Cause.MEMBER_REJOINED, "{who} came back while its former self was still waiting to be removed.",
           proof=(former_self_was_not_removed,), source=_SAME_CLIENT,
           cases=("made: joins again under another id", "groups/deployment-4.1 01:45:30.028")),
    Certain(Cause.MEMBER_REJOINED, "{who} came back {away} {how}.",
            proof=(came_back_after_removal, is_surely_the_same), source=_SAME_CLIENT,
            cases=("groups/emptied-2.8 13:31:06.681", "groups/deployment-4.1 01:45:30.028")),
    Likely(Cause.MEMBER_REJOINED, "{who} came back {away} {how}; its client id alone identifies it.",
           proof=(came_back_after_removal,), source=_SAME_CLIENT,
           cases=("groups/deployment-4.1 01:45:30.028", "groups/emptied-2.8 13:31:06.681")),
    Likely(Cause.MEMBER_REJOINED, "{who} came back after {how}, by its own words.",
           proof=(was_there_by_its_words,),
           source="KIP-800; AbstractCoordinator.java requestRejoin, maybeLeaveGroup",
           cases=("made: rejoins after UNKNOWN_MEMBER_ID", "groups/pause-4.1 01:41:18.996")),
    Possible(Cause.MEMBER_JOINED, "{who} joined; several members hold that client id at once, so it is not"
             " known whether it was there before.",
             proof=(client_id_is_shared,), source="CommonClientConfigs client.id: nothing makes it unique",
             cases=("made: two members hold one client id", "groups/pause-4.1 01:41:04.275")),
    Possible(Cause.MEMBER_JOINED, "{who} joined; its client is not known, and may have been there before.",
             proof=(client_is_not_known,), source="KIP-848: a member id is a bare uuid",
             cases=("groups/kip848-4.1 01:46:05.182 (brokers only)", "groups/kip848-4.1 01:46:05.182")),
    Likely(Cause.MEMBER_JOINED, "{who} joined the group, which is not known to have had it; not every member"
           " before is known.",
           proof=(history_has_holes,), source=_SAME_CLIENT,
           cases=("made: joins after a generation gap", "groups/pause-4.1 01:41:04.275")),
    Certain(Cause.MEMBER_JOINED, "{who} joined the group, which had not had it before.",
            proof=(history_reaches_back,), source=f"{_SAME_CLIENT}; the look-back is our own choice",
            cases=("groups/pause-4.1 01:41:04.275", "groups/pause-4.1 01:41:18.996")),
    Likely(Cause.MEMBER_JOINED, "{who} joined the group, which had not had it in the {covered} that the logs"
           " cover.",
           proof=(history_is_short,), source=_SAME_CLIENT,
           cases=("made: joins soon after the logs begin", "groups/pause-4.1 01:41:04.275")),
)
# fmt: on
