"""The truth of a drill: its acts, with what the audit should call them (docs/design.md section 8)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from lab.drill.act_expectations import OF_ACTS
from lab.drill.acts import Act, TruthError

# Source: group.min.session.timeout.ms of the broker, default 6000: no session is shorter where the truth names none.
SHORTEST_SESSION_MS = 6000


def read_truth(lines: Iterable[str | Mapping[str, Any]]) -> tuple[Act, ...]:
    """The acts of a truth file.

    The lines are text or parsed; the acts are in the order of time.
    Raises TruthError where a line is not a JSON object, has no instant, or expects something that cannot be scored.
    """
    problems: list[str] = []
    rows: list[tuple[datetime, Mapping[str, Any]]] = []
    for number, line in enumerate(lines, 1):
        if isinstance(line, str) and not line.strip():
            continue
        try:
            rows.append(_read_row(line))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if problems:
        raise TruthError("; ".join(problems))
    rows.sort(key=lambda r: r[0])
    sessions: dict[tuple[object, object], int] = {}
    acts = []
    for at, row in rows:
        member = (row.get("group"), row.get("client"))
        if row.get("session_timeout_ms") is not None:
            sessions[member] = int(row["session_timeout_ms"])
        acts.append(_act(at, row, timedelta(milliseconds=sessions.get(member, SHORTEST_SESSION_MS))))
    return tuple(acts)


def _read_row(line: str | Mapping[str, Any]) -> tuple[datetime, Mapping[str, Any]]:
    row = json.loads(line) if isinstance(line, str) else line
    if not isinstance(row, Mapping) or not isinstance(row.get("at"), str) or not isinstance(row.get("action"), str):
        raise ValueError("found no JSON object with the texts `at` and `action`")
    expect = row.get("expect")
    if expect is not None and expect not in OF_ACTS:
        raise ValueError(f"expects {expect!r}, which no rule scores; known: {', '.join(sorted(OF_ACTS))}")
    at = datetime.fromisoformat(row["at"])
    return (at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)), row


def _act(at: datetime, row: Mapping[str, Any], session: timedelta) -> Act:
    return Act(
        at=at,
        action=row["action"],
        expect=row.get("expect"),
        group=row.get("group"),
        client=row.get("client"),
        instance=row.get("group_instance_id"),
        broker=row.get("broker"),
        topic=row.get("topic"),
        partition=row.get("partition"),
        session=session,
        fields=row,
    )
