"""Who came: a member the group had not had, or one that came back."""

from __future__ import annotations

from datetime import timedelta

from spark_jobs.knowledge.reasons import LEFT_BEFORE, REMOVED_WHILE_ALIVE, read_client_reason
from spark_jobs.transforms.rebalances.members import Directory, Member
from spark_jobs.transforms.rebalances.model import Act, GroupContext, Verdict
from spark_jobs.transforms.rebalances.wording import subject, took

LOOK_BACK = timedelta(hours=24)
_HOW_IT_WENT = {
    "left": "after it had left",
    "expired": "after its session had run out",
    "unjoined": "after it had been dropped for not rejoining in time",
    "unsynced": "after it had been dropped for not asking for its assignment",
    "replaced": "in the place of its former process",
}


def judge_join(act: Act, directory: Directory, context: GroupContext, knows_all: bool) -> Verdict:
    """Whether a joining member is new to the group or came back.

    Takes: `knows_all`, whether the group's history is known from its first generation on.
    """
    member = directory.get(act.member_id, act.instance_id)
    who = subject(member)
    earlier = directory.earlier(member, act.at, LOOK_BACK)
    if earlier is not None:
        return _judge_return(act, member, earlier, who)
    said = read_client_reason(act.client_reason)
    if said == REMOVED_WHILE_ALIVE:
        return Verdict(
            "member_rejoined", "certain", f"{who} came back after the coordinator had removed it while it was alive."
        )
    if said == LEFT_BEFORE:
        return Verdict("member_rejoined", "certain", f"{who} came back after it had left.")
    if member.client_id and not member.instance_id and directory.is_shared(member.client_id):
        return Verdict(
            "member_joined",
            "possible",
            f"{who} joined; several members hold that client id at once, so it cannot be told whether it was there.",
        )
    if member.client_id is None and member.instance_id is None:
        return Verdict(
            "member_joined", "possible", f"{who} joined; no witness names its client, which may have been there before."
        )
    if directory.had_unnamed(act.at):
        return Verdict(
            "member_joined",
            "likely",
            f"{who} joined the group, which is not known to have had it; no witness names the client of every member"
            " before.",
        )
    if knows_all or act.at - context.observed_from >= LOOK_BACK:
        return Verdict("member_joined", "certain", f"{who} joined the group, which had not had it before.")
    return Verdict(
        "member_joined",
        "likely",
        f"{who} joined the group, which had not had it in the {took(act.at - context.observed_from)} that can be seen.",
    )


def _judge_return(act: Act, member: Member, earlier: Member, who: str) -> Verdict:
    gone = earlier.gone_before(act.at)
    if gone is None:
        return Verdict(
            "member_rejoined", "likely", f"{who} came back while its former self was still waiting to be removed."
        )
    same_place = bool(member.instance_id) or (member.host is not None and member.host == earlier.host)
    return Verdict(
        "member_rejoined",
        "certain" if same_place or member.member_id == earlier.member_id else "likely",
        f"{who} came back {took(act.at - gone[0])} {_HOW_IT_WENT[gone[1]]}.",
    )
