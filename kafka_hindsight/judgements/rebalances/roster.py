"""Who was in a group, from when to when, and on which host: one row a stay."""

from __future__ import annotations

from datetime import datetime

from kafka_hindsight.catalog.rows import MemberStay
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.judgements.rebalances.model import Change


def roster_of(cluster: str, group_id: str, registry: MemberRegistry) -> list[MemberStay]:
    """The stays of the group's members.

    Gives: `since` null where no evidence shows the member come, `until` and `how` null where none shows it go.
    """
    rows: list[MemberStay] = []
    for member_id, member in sorted(registry.members.items()):
        since = member.first_at
        ends: list[tuple[datetime | None, Change | None]] = [*sorted((r.at, r.how) for r in member.removals)]
        for until, how in ends or [(None, None)]:
            rows.append(
                MemberStay(
                    cluster=cluster,
                    group_id=group_id,
                    member_id=member_id,
                    host=member.host,
                    session_timeout_ms=member.session_timeout_ms,
                    since=since,
                    until=until,
                    how=how,
                )
            )
            since = until
    return rows
