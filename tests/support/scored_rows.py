"""Acts of a truth, and rows that may meet them: what the tests of the score are made of."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from lab.drill import score
from tests.support.rows import AT, values

Row = dict[str, Any]


def at(seconds: float) -> Any:
    return AT + timedelta(seconds=seconds)


def act(seconds: float, action: str = "act", expect: str | None = None, **scope: Any) -> Row:
    return {"at": at(seconds).isoformat(), "action": action, **({"expect": expect} if expect else {}), **scope}


def member(seconds: float, expect: str, client: str = "a", **more: Any) -> Row:
    return act(seconds, "member_act", expect, group="g", client=client, **more)


def rebalance(seconds: float, cause: str, client: str | None = "a", confidence: str = "certain", **more: Any) -> Row:
    columns = {"group_id": "g", "rebalance_id": f"{cause}@{seconds}", **more}
    return values(
        BY_NAME["gold.rebalances"],
        started_at=at(seconds), cause=cause, client_id=client, confidence=confidence, **columns,
    )  # fmt: skip


def contributor(cause: str, client: str | None = "b", instance: str | None = None) -> Row:
    return {"client_id": client, "instance_id": instance, "member_id": None, "cause": cause, "at": AT}


def outage(seconds: float, broker: int, kind: str, confidence: str = "certain") -> Row:
    return values(BY_NAME["gold.broker_outages"], down_at=at(seconds), broker=broker, kind=kind, confidence=confidence)


def failover(seconds: float, kind: str, topic: str = "t", leader_from: int = 1) -> Row:
    return values(
        BY_NAME["gold.failovers"],
        happened_at=at(seconds), kind=kind, topic=topic, leader_from=leader_from, leader_to=2, confidence="certain",
    )  # fmt: skip


def incident(incident_id: str, kind: str = "rolling_restart") -> Row:
    return values(BY_NAME["gold.incidents"], incident_id=incident_id, kind=kind)


def met(acts: list[Row], **tables: list[Row]) -> list[bool]:
    return [e.met for e in score.score(tables, acts).expectations]


def wrong(acts: list[Row], **tables: list[Row]) -> list[str | None]:
    return [v.wrong for v in score.score(tables, acts).verdicts]
