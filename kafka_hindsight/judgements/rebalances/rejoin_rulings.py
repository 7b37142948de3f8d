"""The causes of a rebalance whose coordinator names no member that came or went.

A member rejoined by itself, a group epoch rose, or the coordinator writes no reason at all.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause, Outcome, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.proofs import POSSIBLE, Predicate, Proof, always, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling, Unknown
from kafka_hindsight.judgements.rebalances.case import REASON_WORDS, Case, by_its_words, proof_of
from kafka_hindsight.judgements.rebalances.leave_rulings import logs_cover_the_return
from kafka_hindsight.knowledge import reasons
from kafka_hindsight.knowledge.reasons import read_client_reason, read_metadata_change
from kafka_hindsight.shared.durations import LONG_AGO, NEXT_POLL, RETURN_WITHIN, SAME_ACT
from kafka_hindsight.shared.words import duration

TOPIC_CAUSES = {
    Cause.TOPIC_CREATED: "topic '{topic}' was created",
    Cause.TOPIC_DELETED: "topic '{topic}' was deleted",
    Cause.PARTITIONS_ADDED: "partitions were added to topic '{topic}'",
}
"""The causes that are changes of topics, and how a sentence words them."""

OTHER_CHANGES = tuple(TOPIC_CAUSES)[1:]
"""Those that a ruling on a topic's creation decides too."""


def rejoins_because(reason: str) -> Predicate[Case]:
    """The member gave this reason to rejoin, in its own log or on the coordinator's line."""

    def holds(case: Case) -> Proof | None:
        if read_client_reason(case.request) != reason:
            return None
        return proof_of(case.own_request) + by_its_words(*([case.own_request] if case.own_request else []))

    return with_sentence(
        f"The reason in the member's own log, else on the coordinator's line: {REASON_WORDS[reason]}.", holds
    )


def own_log_shows_request(case: Case) -> Proof | None:
    """The member's own log shows its request to rejoin."""
    return proof_if(case.own_request)


def free_words(case: Case) -> Proof | None:
    """The reason is one that no client writes by itself."""
    is_free = read_client_reason(case.request) == reasons.FREE_TEXT
    return proof_of(case.own_request, reason=case.request) if is_free else None


def request_names_topics(case: Case) -> Proof | None:
    """The reason names the topics before and after; of what changed, what was logged last decides."""
    change = read_metadata_change(case.request)
    if change is None:
        return None
    changes = [
        *((Cause.TOPIC_CREATED, t) for t in change.added),
        *((Cause.TOPIC_DELETED, t) for t in change.removed),
        *((Cause.PARTITIONS_ADDED, t) for t in change.extended),
    ]
    # What the client knew before may be older than what it had rejoined for: then an earlier change is among them.
    at = {(c.kind, c.topic): c.at for c in case.changes_of_all_topics}
    latest = max(changes, key=lambda pair: at.get(pair, LONG_AGO), default=None)
    if latest is None:
        return None
    cause, topic = latest
    others = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return Proof(words={"change": TOPIC_CAUSES[cause].format(topic=topic), "other_changes": others}, code=cause)


def one_change_fits(case: Case) -> Proof | None:
    """In the 11 minutes before, one change of the group's topics was logged."""
    if len({(c.kind, c.topic) for c in case.topic_changes}) != 1:
        return None
    fits = case.topic_changes[-1]
    cause = next(cause for cause in TOPIC_CAUSES if cause == fits.kind)
    later = duration(case.episode.started_at - fits.at)
    words = {"change": TOPIC_CAUSES[cause].format(topic=fits.topic), "later": later}
    return Proof((fits.event,), words, code=cause)


def likely_if_topic_is_read(case: Case) -> Proof | None:
    """Likely where a line shows that the group reads the topic, or it rejoined within a second, else possible.

    Source: a client that waits for a topic asks for it again each retry.backoff.ms, and else each metadata.max.age.ms.
    """
    change = case.topic_changes[-1]
    is_read, is_at_once = change.topic in case.registry.topics, case.episode.started_at - change.at <= SAME_ACT
    clause = ", which the group reads" if is_read else ""
    return Proof(words={"reader_clause": clause}, confidence=None if is_read or is_at_once else POSSIBLE)


def several_changes_fit(case: Case) -> Proof | None:
    """Several changes of the group's topics were logged in the 11 minutes before."""
    events = tuple(c.event for c in case.topic_changes[-3:])
    return Proof(events, {"count": len(case.topic_changes)}) if events else None


def is_leader(case: Case) -> Proof | None:
    """The coordinator's line says that the group's leader rejoins, or that a member does, and it has no other one.

    Source: before 2.7 one text stands for both; GroupCoordinator.scala doJoinGroup.
    """
    says_which = " during " in (case.episode.raw_reason or "")
    is_alone = case.registry.count_at(case.at) == 1 and case.history.is_whole(case.at)
    return proof_if(case.episode.reason.act == "leader_rejoined" or (is_alone and not says_which))


def had_trouble(case: Case) -> Proof | None:
    """The reason names an error of the coordinator, or a rebalance that was running."""
    is_trouble = read_client_reason(case.request) in (reasons.COORDINATOR_TROUBLE, reasons.FOLLOWS)
    return proof_of(case.own_request, reason=case.request) if is_trouble else None


def move_had_cut_the_one_before(case: Case) -> Proof | None:
    """The coordinator's move had cut the rebalance before short."""
    return proof_if(case.episode.previous and case.episode.previous.cut_by_move)


def follows_at_once_and_is_cooperative(case: Case) -> Proof | None:
    """A line shows a cooperative assignor, and the rebalance before was completed at most 5 s ago."""
    before, cooperative = case.episode.previous, case.registry.is_cooperative(case.member)
    if cooperative is None or before is None or before.ended_at is None or before.outcome != Outcome.COMPLETED:
        return None
    is_at_once = case.episode.started_at - before.ended_at <= NEXT_POLL
    return proof_of(cooperative, *before.events) if is_at_once else None


def own_words(case: Case) -> Proof | None:
    """The reason in the member's own log."""
    return proof_if(case.own_request, reason=case.request)


def asked_just_before(case: Case) -> Proof | None:
    """The member's own log names its reason at most 5 s before."""
    request = case.own_request
    return proof_if(request is not None and request.happened_at >= case.episode.started_at - NEXT_POLL)


def delay_was_over(case: Case) -> Proof | None:
    """The delay that the member's own log names with its last assignment ended within 5 s."""
    assignment = _last_assignment(case)
    if assignment is None or not assignment.took_ms:
        return None
    over = assignment.happened_at + timedelta(milliseconds=assignment.took_ms)
    is_over = abs(case.episode.started_at - over) <= NEXT_POLL
    return proof_of(assignment, delay=duration(assignment.took_ms)) if is_over else None


def had_to_give_back(case: Case) -> Proof | None:
    """The member's own log says at most 5 s before that its assignment revokes connectors or tasks."""
    assignment = _last_assignment(case)
    is_at_once = assignment is not None and case.episode.started_at - assignment.happened_at <= NEXT_POLL
    revokes = assignment is not None and "revokedConnectorIds=[], revokedTaskIds=[]" not in str(assignment.detail)
    return proof_of(assignment) if is_at_once and revokes else None


def gave_an_empty_reason(case: Case) -> Proof | None:
    """The client's reason on the coordinator's line is empty: it sent one, without words."""
    return proof_if(case.episode.reason.client_reason == "" and case.own_request is None)


def follows_at_once(case: Case) -> Proof | None:
    """The rebalance before ended at most 5 s ago: what a worker gives back then goes to others."""
    before = case.episode.previous
    ended_at = before.ended_at if before is not None else None
    return proof_if(ended_at is not None and case.episode.started_at - ended_at <= NEXT_POLL)


def a_worker_had_gone(case: Case) -> Proof | None:
    """A member went in the rebalance before: its work is given to others when a delay is over."""
    before = case.episode.previous
    return proof_if(before is not None and any(c.what.is_removal for c in before.changes))


def _last_assignment(case: Case) -> Event | None:
    """The last assignment of a Connect worker, by its own log."""
    assignments = case.own_log.of_kind(Kind.CLIENT_WORK_ASSIGNED)
    return assignments.last_before(case.episode.started_at)


_REASONS = "ConsumerCoordinator.java rejoinNeededOrPending; KIP-800"
_EMPTY = (
    "WorkerCoordinator.requestRejoin keeps its words for its own log, and AbstractCoordinator sends an empty reason;"
    " ConsumerCoordinator always gives one (3.2 and later)"
)
_TOPICS = "ConsumerCoordinator.java MetadataSnapshot, updatePatternSubscription; KAFKA-3888"

REJOIN_RULINGS: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.SCHEDULED_DELAY_OVER,
        "{who}, a Connect worker, rejoined when the delay of {delay} for a lost worker was over: its connectors and"
        " tasks are given to others.",
        proof=(delay_was_over,),
        source="KIP-415; IncrementalCooperativeAssignor.java handleLostAssignments",
        cases=("groups/connect-4.3 15:08:33.499", "groups/connect-4.3 15:08:07.425"),
    ),
    Likely(
        Cause.COOPERATIVE_FOLLOWUP,
        "{who}, a Connect worker, gave back connectors or tasks and rejoined so that others get them.",
        proof=(had_to_give_back,),
        source="KIP-415; IncrementalCooperativeAssignor.java",
        cases=("groups/connect-4.3 15:09:13.711", "groups/connect-4.3 15:08:07.425"),
    ),
    Likely(
        Cause.CONNECTOR_CHANGED,
        "{who}, a Connect worker, rejoined after a change that its own log shows: '{reason}'.",
        proof=(rejoins_because(reasons.CONNECTOR_CHANGED), asked_just_before, own_words),
        source="KIP-415; DistributedHerder.java",
        cases=("groups/connect-4.3 15:07:49.326", "groups/connect-4.3 15:08:33.499"),
    ),
    Likely(
        Cause.CONNECTOR_CHANGED,
        "{who} rejoined with an empty reason, as a Connect worker does: its connectors or tasks changed.",
        proof=(gave_an_empty_reason,),
        unless=(follows_at_once, a_worker_had_gone),
        source=_EMPTY,
        cases=(
            "made: the leader rejoins with an empty reason",
            "made: the leader rejoins at once, with an empty reason",
        ),
    ),
    Possible(
        Cause.CONNECTOR_CHANGED,
        "{who} rejoined with an empty reason, as a Connect worker does: its connectors or tasks changed, or those of"
        " another worker were given to others.",
        proof=(gave_an_empty_reason,),
        source=f"{_EMPTY}; KIP-415",
        cases=(
            "made: the leader rejoins at once, with an empty reason",
            "made: the leader rejoins with an empty reason",
        ),
    ),
    Certain(
        Cause.COOPERATIVE_FOLLOWUP,
        "{who} gave back partitions and rejoined so that others get them.",
        proof=(rejoins_because(reasons.REVOKES),),
        source="KIP-429; ConsumerCoordinator.java onJoinComplete",
        cases=("groups/cooperative-2.8 01:49:25.358", "groups/subscribed-2.8 01:46:33.201"),
    ),
    Certain(
        Cause.SUBSCRIPTION_CHANGED,
        "{who} subscribed to other topics.",
        proof=(rejoins_because(reasons.SUBSCRIPTION_CHANGED),),
        source=_REASONS,
        cases=("groups/subscribed-2.8 01:46:33.201", "groups/leaves-3.9 01:55:12.019"),
    ),
    Certain(
        Cause.TOPIC_CREATED,
        "{who} rejoined because {change}{other_changes}, as its own log shows.",
        proof=(rejoins_because(reasons.METADATA_CHANGED), request_names_topics),
        source=_TOPICS,
        also=OTHER_CHANGES,
        cases=("groups/topics-3.9 01:55:52.661", "groups/topics-3.9 01:55:52.661 (brokers only)"),
    ),
    Likely(
        Cause.TOPIC_CREATED,
        "{who} rejoined over changed metadata {later} after {change}.",
        proof=(rejoins_because(reasons.METADATA_CHANGED), one_change_fits),
        also=OTHER_CHANGES,
        source=f"{_TOPICS}; metadata.max.age.ms",
        cases=("night-4.1/ads-rx-13 01:48:19.758 (brokers only)", "groups/topics-3.9 01:55:52.661 (brokers only)"),
    ),
    Likely(
        Cause.METADATA_CHANGED,
        "{who} rejoined over changed metadata; {count} changes of topics before it fit.",
        proof=(rejoins_because(reasons.METADATA_CHANGED), several_changes_fit),
        source=_REASONS,
        cases=("made: metadata changed after two topics", "groups/topics-3.9 01:55:52.661 (brokers only)"),
    ),
    Likely(
        Cause.METADATA_CHANGED,
        "{who} rejoined over changed metadata; no line shows which topic changed.",
        proof=(rejoins_because(reasons.METADATA_CHANGED),),
        source=_REASONS,
        cases=("groups/topics-3.9 01:55:52.661 (brokers only)", "groups/topics-3.9 01:55:52.661"),
    ),
    Likely(
        Cause.CLIENT_REQUESTED,
        "{who} asked for a rebalance.",
        proof=(rejoins_because(reasons.ENFORCED),),
        source="Consumer.enforceRebalance; KIP-568, KIP-800",
        cases=("made: enforceRebalance", "groups/leaves-3.9 01:55:12.019"),
    ),
    Certain(
        Cause.CLIENT_REQUESTED,
        "{who} asked for a rebalance, and its own log shows its reason: '{reason}'.",
        proof=(own_log_shows_request, free_words),
        source="Consumer.enforceRebalance; KIP-568, KIP-800",
        cases=("groups/leaves-3.9 01:55:12.019", "groups/leaves-3.9 01:55:12.019 (brokers only)"),
    ),
    Likely(
        Cause.CLIENT_REQUESTED,
        "{who} asked for a rebalance, with a reason of its own: '{reason}'.",
        proof=(free_words,),
        source="Consumer.enforceRebalance; KIP-568, KIP-800",
        cases=("groups/leaves-3.9 01:55:12.019 (brokers only)", "groups/subscribed-2.8 01:46:33.201"),
    ),
    Likely(
        Cause.COORDINATOR_MOVED,
        "{who} rejoined at the new coordinator: the move had cut its rebalance short.",
        proof=(had_trouble, move_had_cut_the_one_before),
        source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
        cases=("made: rejoins after a move", "made: rejoins while the group rebalances"),
    ),
    Unknown(
        Cause.UNKNOWN,
        "{who} rejoined ('{reason}'), which does not show what began the rebalance.",
        proof=(had_trouble,),
        source="AbstractCoordinator.java JoinGroupResponseHandler",
        cases=("made: rejoins while the group rebalances", "groups/subscribed-2.8 01:46:33.201"),
    ),
    Likely(
        Cause.COOPERATIVE_FOLLOWUP,
        "{who}, a cooperative member, rejoined at once after the rebalance before: it gave partitions back.",
        proof=(follows_at_once_and_is_cooperative,),
        source="KIP-429; ConsumerCoordinator.java onJoinComplete",
        cases=("made: a cooperative member rejoins at once", "groups/cooperative-2.8 01:49:25.358 (brokers only)"),
    ),
    Likely(
        Cause.TOPIC_CREATED,
        "{who}, the leader, rejoined {later} after {change}{reader_clause}. That change fits, but the application may"
        " also have asked for a rebalance.",
        proof=(is_leader, one_change_fits, likely_if_topic_is_read),
        also=OTHER_CHANGES,
        source=f"{_TOPICS}; coordinators before 3.2 log no reason of the client",
        cases=(
            "made: the leader rejoins after topic_created, which it reads",
            "groups/grown-2.8 01:46:51.810 (brokers only)",
        ),
    ),
    Possible(
        Cause.METADATA_CHANGED,
        "{who}, the leader, rejoined without a reason: the topics changed, the application asked for it, or a Connect"
        " worker's connectors changed.",
        proof=(is_leader,),
        source="GroupCoordinator.scala: coordinators before 3.2 log no reason of the client",
        cases=("groups/grown-2.8 01:46:51.810 (brokers only)", "groups/grown-2.8 01:46:51.810"),
    ),
    Possible(
        Cause.SUBSCRIPTION_CHANGED,
        "{who} rejoined with other metadata, without a reason: it reads other topics, its assignors changed, or a"
        " Connect worker's connectors did.",
        proof=(always,),
        source="GroupCoordinator.scala updateMemberAndRebalance",
        cases=("groups/subscribed-2.8 01:46:33.201 (brokers only)", "groups/grown-2.8 01:46:51.810 (brokers only)"),
    ),
)


def client_subscribed_again(case: Case) -> Proof | None:
    """A client's own log shows that it subscribed again less than 5 s before; its first subscription does not count."""
    at = case.episode.started_at
    resubscriptions = case.registry.logs.resubscriptions.between(at - NEXT_POLL, at)
    last = max(resubscriptions, key=lambda e: (e.happened_at, e.line_id), default=None)
    return None if last is None else proof_of(last, client=last.client_id)


def topics_stayed_the_same(case: Case) -> Proof | None:
    """The metadata hash of the subscribed topics is the same as in the epoch before."""
    return proof_if(case.episode.metadata_hash_changed is False)


def is_share_group(case: Case) -> Proof | None:
    """The group is a share group."""
    return proof_if(case.episode.protocol == Protocol.SHARE)


def is_of_consumers(case: Case) -> Proof | None:
    """The group is one of consumers, whose epochs have no other reasons."""
    return proof_if(case.episode.protocol == Protocol.CONSUMER)


def topics_changed(case: Case) -> Proof | None:
    """The metadata hash of the subscribed topics is another than in the epoch before."""
    return proof_if(case.episode.metadata_hash_changed)


def likely_if_topics_changed(case: Case) -> Proof | None:
    """Likely where the metadata hash of the subscribed topics is another than in the epoch before, else possible."""
    if topics_changed(case):
        return Proof(words={"topics": ", and the subscribed topics changed"})
    return Proof(words={"topics": ""}, confidence=POSSIBLE)


_EPOCHS = "GroupMetadataManager.java; KIP-848"

EPOCH_RULINGS: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.SUBSCRIPTION_CHANGED,
        "Client '{client}' subscribed to other topics, as its own log shows.",
        proof=(client_subscribed_again,),
        source="KIP-848; AsyncKafkaConsumer.java subscribe",
        cases=("made: a KIP-848 client subscribes again", "made: an epoch that shows nothing"),
    ),
    Likely(
        Cause.SUBSCRIPTION_CHANGED,
        "A member changed its subscription: no member joined or left, and the topics stayed the same.",
        proof=(topics_stayed_the_same, is_of_consumers),
        source=_EPOCHS,
        cases=("made: an epoch with the same topics", "made: an epoch with other topics"),
    ),
    Likely(
        Cause.SHARE_PARTITIONS_INITIALIZED,
        "No member joined or left, and the topics stayed the same: the coordinator assigns partitions of the share"
        " group that are initialized now.",
        proof=(topics_stayed_the_same, is_share_group),
        source="GroupMetadataManager.java shareGroupHeartbeat, initializedAssignmentPending; KIP-932",
        cases=("groups/share-4.3 15:14:55.835", "made: an epoch with the same topics"),
    ),
    Likely(
        Cause.TOPIC_CREATED,
        "No member joined or left{topics}; {later} before, {change}.",
        proof=(one_change_fits, likely_if_topics_changed),
        source=_EPOCHS,
        also=OTHER_CHANGES,
        cases=("made: an epoch with other topics after partitions_added", "made: an epoch with other topics"),
    ),
    Likely(
        Cause.METADATA_CHANGED,
        "No member joined or left, and the subscribed topics changed; no line shows which.",
        proof=(topics_changed,),
        source=_EPOCHS,
        cases=("made: an epoch with other topics", "made: an epoch with the same topics"),
    ),
    Unknown(
        Cause.UNKNOWN,
        "No member joined or left, and no line shows what changed.",
        proof=(always,),
        source=_EPOCHS,
        cases=("made: an epoch that shows nothing", "made: an epoch with the same topics"),
    ),
)


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
    while episode.from_generation != 0:
        before = episode.previous
        if before is None or before.to_generation != episode.from_generation or before.changes:
            return None
        if before.from_generation != 0 and new_client_asked(replace(case, episode=before)) is None:
            return None
        episode = before
    return Proof()


_SILENT = "GroupCoordinator.scala 0.11 to 2.0 addMemberAndRebalance, removeMemberAndUpdateGroup"

SILENT_RULINGS: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.MEMBER_JOINED,
        "A member joined, and the group began with it, at generation 0: only a join begins a rebalance of a group"
        " without members.",
        proof=(group_began,),
        source=_SILENT,
        cases=("made: no reason at generation 0", "made: no reason in an empty group"),
    ),
    Possible(
        Cause.MEMBER_JOINED,
        "A member joined the empty group: nothing else begins a rebalance of such a group. No line shows whether the"
        " member had been in it before.",
        proof=(group_was_empty,),
        source=_SILENT,
        cases=("made: no reason in an empty group", "made: no reason at generation 0"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "The group's members left: their process stopped, as its own log shows.",
        proof=(process_stopped,),
        source=f"{_SILENT}; Connect.java stop; AbstractCoordinator.java maybeLeaveGroup",
        cases=("made: no reason, and a worker stops", "made: no reason, and all leave"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "All members left the group at once. No session had run out, and no member came within {coverage}: they were"
        " closed.",
        proof=(group_emptied_at_once, no_one_came, logs_cover_the_return),
        source=_SILENT,
        cases=("made: no reason, and all leave", "made: no reason, and all leave for a minute"),
    ),
    Possible(
        Cause.MEMBER_LEFT,
        "All members left the group at once, and no session had run out: they were closed, or did not poll within"
        " max.poll.interval.ms.",
        proof=(group_emptied_at_once,),
        source=f"{_SILENT}; KIP-62",
        cases=("made: no reason, and all leave for a minute", "made: no reason, and all leave"),
    ),
    Likely(
        Cause.MEMBER_JOINED,
        "Client '{client}' joined the group: its own log shows its first request {lead} before. No member had left"
        " since the group began.",
        proof=(new_client_asked, none_had_gone),
        source=_SILENT,
        cases=("made: no reason, and a client asks to join", "made: no reason"),
    ),
    Possible(
        Cause.MEMBER_JOINED,
        "Client '{client}' joined the group: its own log shows its first request {lead} before. No line shows whether"
        " it had been in the group before.",
        proof=(new_client_asked,),
        source=_SILENT,
        cases=("made: no reason, and a client asks to join after one", "made: no reason, and a client asks to join"),
    ),
    Unknown(
        Cause.UNKNOWN,
        "The coordinator writes no reason, and names no member.",
        proof=(always,),
        source="GroupCoordinator.scala prepareRebalance before 2.1",
        cases=("made: no reason", "made: no reason, and a client asks to join"),
    ),
)
"""Brokers before 2.1 name only a member whose session expired. The state of the group shows more: a group without
members rebalances only when a member joins, and loses all its members at once only when they leave."""
