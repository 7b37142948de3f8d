"""Small words that every explanation needs."""

from __future__ import annotations

from spark_jobs.transforms.rebalances.members import Member


def subject(member: Member) -> str:
    """The member as the subject of a sentence."""
    if member.client_id:
        return f"Client '{member.client_id}'"
    if member.instance_id:
        return f"Static member '{member.instance_id}'"
    return f"Member '{member.member_id}'" if member.member_id else "A member that no line names"
