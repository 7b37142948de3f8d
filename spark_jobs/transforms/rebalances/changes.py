"""What changed: a member of the group rejoins, over other topics, over revoked partitions, or since it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from spark_jobs.knowledge.reasons import (
    COORDINATOR_TROUBLE,
    ENFORCED,
    FOLLOWS,
    FREE_TEXT,
    GIVEN_MEMBER_ID,
    METADATA_CHANGED,
    REVOKES,
    SUBSCRIPTION_CHANGED,
    MetadataChange,
    read_client_reason,
    read_metadata_change,
)
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.rebalances.model import Episode, Event, GroupContext, TopicChange, Verdict
from spark_jobs.transforms.rebalances.wording import subject, took

METADATA_LAG = timedelta(minutes=11)
"""How long after a change of topics a group may still react to it: metadata.max.age.ms (5 min) for classic members,
10 min between two refreshes of a regular expression under KIP-848, and a minute for the rebalance to begin.
Source: ConsumerConfig, GroupCoordinatorConfig."""

FOLLOWS_AT_ONCE = timedelta(seconds=5)
"""A cooperative member that has revoked partitions rejoins within its next poll."""

_CHANGE_WORDS = {
    "topic_created": "topic '{}' was created",
    "topic_deleted": "topic '{}' was deleted",
    "partitions_added": "partitions were added to topic '{}'",
}


def judge_rejoin(episode: Episode, directory: MemberRegistry, context: GroupContext) -> Verdict:
    """Why a member of the group rejoined it by itself: the leader, or one with other metadata."""
    member = directory.get(episode.reason.members[0] if episode.reason.members else None)
    own = _own_words(episode, directory, member)
    words = own["reason"] if own else episode.reason.client_reason
    said = read_client_reason(words) if own else read_client_reason(episode.reason.client_reason)
    lines = (own,) if own else ()
    who = subject(member)
    if said == REVOKES:
        return Verdict(
            "cooperative_followup",
            "certain",
            f"{who} gave back partitions and rejoined so that others get them.",
            lines,
        )
    if said == SUBSCRIPTION_CHANGED:
        return Verdict("subscription_changed", "certain", f"{who} subscribed to other topics.", lines)
    if said == METADATA_CHANGED:
        return _judge_metadata(episode, directory, context, member, read_metadata_change(words), lines)
    if said == ENFORCED:
        return Verdict("client_requested", "certain", f"{who} asked for a rebalance.", lines)
    if said == FREE_TEXT:
        sure = "certain" if own else "likely"
        return Verdict(
            "client_requested", sure, f"{who} asked for a rebalance, with a reason of its own: '{words}'.", lines
        )
    if said in (COORDINATOR_TROUBLE, FOLLOWS):
        return _judge_trouble(episode, who, words, lines)
    return _judge_wordless(episode, directory, context, member)


def _own_words(episode: Episode, directory: MemberRegistry, member: Member) -> Event | None:
    """The member's own last word on why it rejoins, since the rebalance before; None where its log says nothing."""
    since = episode.previous.started_at if episode.previous else None
    said = [
        e
        for e in directory.log_of(member)
        if e["kind"] == "client_join_requested"
        and (since is None or e["happened_at"] >= since)
        and e["happened_at"] <= episode.started_at + timedelta(milliseconds=200)
        and read_client_reason(e["reason"]) not in (GIVEN_MEMBER_ID, FOLLOWS)
    ]
    return said[-1] if said else None


def _judge_metadata(
    episode: Episode,
    directory: MemberRegistry,
    context: GroupContext,
    member: Member,
    change: MetadataChange | None,
    lines: tuple[Event, ...],
) -> Verdict:
    who = subject(member)
    if change is not None:
        named = [
            *(("topic_created", t) for t in change.added),
            *(("topic_deleted", t) for t in change.removed),
            *(("partitions_added", t) for t in change.grown),
        ]
        if named:
            kind, topic = named[0]
            more = f" and {len(named) - 1} more" if len(named) > 1 else ""
            return Verdict(
                kind,
                "certain",
                f"{who} rejoined since {_CHANGE_WORDS[kind].format(topic)}{more}, as its own log says.",
                lines,
            )
    candidates = recent_changes(episode, directory, context, member)
    if len({(c.kind, c.topic) for c in candidates}) == 1:
        found = candidates[-1]
        return Verdict(
            found.kind,
            "likely",
            f"{who} rejoined over changed metadata {took(episode.started_at - found.at)} after"
            f" {_CHANGE_WORDS[found.kind].format(found.topic)}.",
            (*lines, found.event),
        )
    return Verdict(
        "metadata_changed",
        "likely",
        f"{who} rejoined over changed metadata"
        + (
            f"; {len(candidates)} changes of topics before it fit."
            if candidates
            else "; no line tells which topic changed."
        ),
        (*lines, *(c.event for c in candidates[-3:])),
    )


def recent_changes(
    episode: Episode, directory: MemberRegistry, context: GroupContext, member: Member | None = None
) -> list[TopicChange]:
    """The changes of topics that a group, or its leader, could be reacting to, oldest first.

    Takes: changes of the topics that a reading or a client's log shows the group to read, of all topics where nothing
    shows any. Odd: what came before the last rebalance over changed metadata was seen then, and what came before the
    member itself did was known to it from the start: metadata are read whole.
    """
    since = max(episode.started_at - METADATA_LAG, _last_metadata_rebalance(episode))
    if member is not None and member.first_at is not None:
        since = max(since, member.first_at)
    return [
        c
        for c in context.topic_changes
        if since <= c.at <= episode.started_at and (not directory.topics or c.topic in directory.topics)
    ]


def _last_metadata_rebalance(episode: Episode) -> datetime:
    before = episode.previous
    while before is not None:
        if before.reason.act == "leader_rejoined" and read_client_reason(before.reason.client_reason) in (
            METADATA_CHANGED,
            None,
        ):
            return before.started_at
        before = before.previous
    return datetime.min.replace(tzinfo=episode.started_at.tzinfo)


def _judge_trouble(episode: Episode, who: str, words: str | None, lines: tuple[Event, ...]) -> Verdict:
    before = episode.previous
    if before is not None and before.cut_by_move:
        return Verdict(
            "coordinator_moved",
            "likely",
            f"{who} rejoined at the new coordinator: the move had cut its rebalance short.",
            lines,
        )
    return Verdict("unknown", "unknown", f"{who} rejoined ('{words}'), which tells nothing of what began it.", lines)


def _judge_wordless(episode: Episode, directory: MemberRegistry, context: GroupContext, member: Member) -> Verdict:
    """No words from the coordinator nor from the client: brokers before 3.2, clients that send no reason."""
    who = subject(member)
    before = episode.previous
    at_once = (
        before is not None
        and before.ended_at is not None
        and episode.started_at - before.ended_at <= FOLLOWS_AT_ONCE
        and before.outcome == "completed"
    )
    cooperative = directory.is_cooperative(member)
    if at_once and before is not None and cooperative is not None:
        return Verdict(
            "cooperative_followup",
            "likely",
            f"{who}, a cooperative member, rejoined at once after the rebalance before: it gave partitions back.",
            (cooperative, *before.events),
        )
    candidates = recent_changes(episode, directory, context, member)
    if episode.reason.act == "leader_rejoined" and len({(c.kind, c.topic) for c in candidates}) == 1:
        found = candidates[-1]
        return Verdict(
            found.kind,
            "likely" if found.topic in directory.topics else "possible",
            f"{who}, the leader, rejoined {took(episode.started_at - found.at)} after"
            f" {_CHANGE_WORDS[found.kind].format(found.topic)}, which fits; so would a request of the application.",
            (found.event,),
        )
    if episode.reason.act == "leader_rejoined":
        return Verdict(
            "metadata_changed",
            "possible",
            f"{who}, the leader, rejoined without a reason: the topics changed, or the application asked for it.",
        )
    return Verdict(
        "subscription_changed",
        "possible",
        f"{who} rejoined with other metadata, without a reason: it reads other topics, or its assignors changed.",
    )


def judge_epoch(episode: Episode, directory: MemberRegistry, context: GroupContext) -> Verdict:
    """Why a KIP-848 group epoch rose without anybody coming or going."""
    said = _subscribed(episode, directory)
    if said:
        return Verdict(
            "subscription_changed",
            "certain",
            f"Client '{said[-1]['client_id']}' subscribed to other topics, as its own log says.",
            tuple(said[-1:]),
        )
    candidates = recent_changes(episode, directory, context)
    if episode.metadata_hash_changed is False:
        return Verdict(
            "subscription_changed",
            "likely",
            "A member changed its subscription: nobody came or went and the topics stayed the same.",
        )
    if len({(c.kind, c.topic) for c in candidates}) == 1:
        found = candidates[-1]
        return Verdict(
            found.kind,
            "likely" if episode.metadata_hash_changed else "possible",
            f"Nobody came or went; {took(episode.started_at - found.at)} before,"
            f" {_CHANGE_WORDS[found.kind].format(found.topic)}.",
            (found.event,),
        )
    if episode.metadata_hash_changed:
        return Verdict("metadata_changed", "likely", "Nobody came or went, and the subscribed topics changed.")
    return Verdict("unknown", "unknown", "Nobody came or went, and no line tells what changed.")


def _subscribed(episode: Episode, directory: MemberRegistry) -> Sequence[Event]:
    """Client lines that subscribe anew shortly before the epoch: not the first of their process."""
    found = []
    for log in directory.logs.values():
        earlier = False
        for event in log:
            if event["kind"] == "client_configured":
                earlier = False
            elif event["kind"] == "client_subscribed":
                near = timedelta(0) <= episode.started_at - event["happened_at"] <= FOLLOWS_AT_ONCE
                if earlier and near:
                    found.append(event)
                earlier = True
    return sorted(found, key=lambda e: (e["happened_at"], e["line_id"]))
