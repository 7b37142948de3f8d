"""Each episode gets its cause, and each member that took part its own."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.transforms.rebalances.arrivals import judge_join
from spark_jobs.transforms.rebalances.changes import judge_epoch, judge_rejoin
from spark_jobs.transforms.rebalances.departures import judge_expiry, judge_leave
from spark_jobs.transforms.rebalances.history_coverage import HistoryCoverage
from spark_jobs.transforms.rebalances.members import MemberRegistry
from spark_jobs.transforms.rebalances.model import Act, Episode, GroupContext, Verdict
from spark_jobs.transforms.rebalances.wording import subject


def judge_episode(
    episode: Episode, directory: MemberRegistry, context: GroupContext, recall: HistoryCoverage
) -> Verdict:
    """Why the episode began: the act that its own reason names, else what changed.

    Odd: where the line that starts it is missing, the first act that is left may be one that joined in.
    """
    if episode.reason.act == "storage_error":
        return Verdict(
            "storage_error", "certain", "The coordinator could not write the group's assignment to __consumer_offsets."
        )
    if episode.reason.act == "over_capacity":
        return Verdict(
            "group_over_capacity",
            "likely",
            "The group that the coordinator loaded has more members than group.max.size.",
        )
    if episode.reason.act == "static_protocol_changed":
        return Verdict(
            "assignor_changed",
            "certain",
            "A static member came back with other assignors, and the group's assignor changed.",
        )
    if episode.trigger is not None:
        verdict = judge_act(episode.trigger, episode, directory, context, recall)
        return _without_start(verdict) if episode.lacks_start else verdict
    if episode.reason.act in ("leader_rejoined", "metadata_updated"):
        return judge_rejoin(episode, directory, context)
    if episode.protocol == "consumer":
        return judge_epoch(episode, directory, context)
    if episode.lacks_start:
        return Verdict("unknown", "unknown", "The line that starts this rebalance is missing, and with it its reason.")
    return Verdict("unknown", "unknown", "The coordinator gives no reason that tells the cause.")


def _without_start(verdict: Verdict) -> Verdict:
    if verdict.confidence == "unknown":
        return verdict
    said = f"The line that starts this rebalance is missing; this fell into it: {verdict.explanation}"
    return replace(verdict, confidence="possible", explanation=said)


def judge_act(
    act: Act, episode: Episode, directory: MemberRegistry, context: GroupContext, recall: HistoryCoverage
) -> Verdict:
    """Why one member acted, or was acted upon."""
    member = directory.get(act.member_id, act.instance_id)
    who = subject(member)
    if act.what == "joined":
        return judge_join(act, directory, recall)
    if act.what == "left":
        return judge_leave(act, episode, directory, context)
    if act.what == "expired":
        return judge_expiry(act, episode, directory, context)
    if act.what == "dropped":
        return Verdict(
            "join_timeout", "certain", f"{who} was dropped since it did not rejoin within the rebalance timeout."
        )
    if act.what == "unsynced":
        return Verdict(
            "sync_timeout", "certain", f"{who} was dropped since it joined and never asked for its assignment."
        )
    return Verdict("static_member_changed", "likely", f"{who} came back, or was replaced, with other metadata.")
