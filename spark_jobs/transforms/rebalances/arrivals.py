"""Who came: a member the group had not had, or one that came back."""

from __future__ import annotations

from spark_jobs.knowledge.reasons import LEFT_BEFORE, REMOVED_WHILE_ALIVE, read_client_reason
from spark_jobs.transforms.rebalances.history_coverage import LOOK_BACK, HistoryCoverage
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.rebalances.model import Act, Verdict
from spark_jobs.transforms.rebalances.wording import subject, took

_HOW_IT_WENT = {
    "left": "after it had left",
    "expired": "after its session had run out",
    "unjoined": "after it had been dropped for not rejoining in time",
    "unsynced": "after it had been dropped for not asking for its assignment",
    "replaced": "in the place of its former process",
}


def judge_join(act: Act, directory: MemberRegistry, recall: HistoryCoverage) -> Verdict:
    """Whether a joining member is new to the group or came back."""
    member = directory.get(act.member_id, act.instance_id)
    who = subject(member)
    earlier = directory.earlier(member, act.at, LOOK_BACK)
    if earlier is not None:
        return _judge_return(act, member, earlier, who, directory)
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
    if directory.had_unnamed(act.at) or not recall.is_whole(act.at):
        return Verdict(
            "member_joined",
            "likely",
            f"{who} joined the group, which is not known to have had it; not every member before is known.",
        )
    if recall.reaches_back(act.at):
        return Verdict("member_joined", "certain", f"{who} joined the group, which had not had it before.")
    seen = took(act.at - recall.observed_from)
    return Verdict(
        "member_joined", "likely", f"{who} joined the group, which had not had it in the {seen} that can be seen."
    )


def _judge_return(act: Act, member: Member, earlier: Member, who: str, directory: MemberRegistry) -> Verdict:
    gone = earlier.gone_before(act.at)
    if gone is None:
        return Verdict(
            "member_rejoined",
            "likely",
            f"{who} came back while its former self was still waiting to be removed.",
            (*earlier.introduced_by, *directory.first_words(earlier)),
        )
    same_place = bool(member.instance_id) or (member.host is not None and member.host == earlier.host)
    return Verdict(
        "member_rejoined",
        "certain" if same_place or member.member_id == earlier.member_id else "likely",
        f"{who} came back {took(act.at - gone.at)} {_HOW_IT_WENT[gone.how]}.",
        (*earlier.introduced_by, gone.event),
    )
