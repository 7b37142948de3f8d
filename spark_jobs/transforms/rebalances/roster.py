"""Who was in a group, from when to when, and on which host: one row a stay."""

from __future__ import annotations

from typing import Any

from spark_jobs.transforms.rebalances.members import MemberRegistry

ROSTER = (
    "cluster STRING, group_id STRING, member_id STRING, host STRING, session_timeout_ms BIGINT,"
    " since TIMESTAMP, until TIMESTAMP, how STRING"
)


def roster_of(cluster: str, group_id: str, directory: MemberRegistry) -> list[dict[str, Any]]:
    """The stays of the group's members (ROSTER).

    Gives: `since` null where nobody saw the member come, `until` and `how` null where nobody saw it go.
    """
    rows: list[dict[str, Any]] = []
    for member_id, member in sorted(directory.members.items()):
        since = member.first_at
        ends: list[tuple[Any, Any]] = sorted((r.at, r.how) for r in member.removals)
        for until, how in ends or [(None, None)]:
            rows.append(
                {
                    "cluster": cluster,
                    "group_id": group_id,
                    "member_id": member_id,
                    "host": member.host,
                    "session_timeout_ms": member.session_timeout_ms,
                    "since": since,
                    "until": until,
                    "how": how,
                }
            )
            since = until
    return rows
