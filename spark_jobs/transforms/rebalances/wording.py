"""Small words that every explanation needs."""

from __future__ import annotations

from datetime import timedelta

from spark_jobs.transforms.rebalances.members import Member


def took(length: timedelta | int | float) -> str:
    """A length of time in words a person uses; a number counts milliseconds."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else length / 1000
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 90:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def subject(member: Member) -> str:
    """The member as the subject of a sentence."""
    if member.client_id:
        return f"Client '{member.client_id}'"
    if member.instance_id:
        return f"Static member '{member.instance_id}'"
    return f"Member '{member.member_id}'" if member.member_id else "A member that no line names"
