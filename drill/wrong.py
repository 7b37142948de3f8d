"""Which verdicts are wrong, whatever their confidence, given what was done.

A verdict is *wrong*, whatever its confidence, when one of these holds:

- a rebalance is a false alarm, or breaks a silence that an act promised;
- a rebalance says that a member came, or that it went, while an act upon that member expects that it came, or went,
  otherwise and is not answered by another rebalance, and no act upon it expects just this (each act is answered by
  one rebalance: the first that fits);
- a rebalance says that a member went to whom nothing was done, and the act it is owed to was done to another;
- an outage, while nothing done to that broker within 40 s expects its kind;
- a failover put down to its old leader's outage, while all that was done to that broker expects outages of other kinds;
- an unclean election or a reassignment of a topic for which nobody expects one.

What nothing was done about and DESIGN owes without an act (a member that joins, a cooperative follow-up) is not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from drill.match import (
    OUTAGE_APART,
    Row,
    Tables,
    calls,
    is_after,
    is_expiry,
    is_member,
    names_member,
    of_group,
    rows_until_expiry,
)
from drill.truth import FAILOVER_KINDS, OUTAGE_KINDS, REBALANCE_CODES, SILENCES, Act

ALWAYS_OWED = frozenset({"member_joined", "member_rejoined", "cooperative_followup"})
OWED_TO_BROKERS = frozenset({"coordinator_moved", "heartbeat_expired", "storage_error"})
ARRIVALS = frozenset({"member_joined", "member_rejoined"})
DEPARTURES = frozenset(
    {
        "member_left",
        "member_dead",
        "heartbeat_expired",
        "max_poll_exceeded",
        "sync_timeout",
        "join_timeout",
        "removed_by_admin",
    }
)
OUTAGE_OF_FAILOVER: Mapping[str, str] = {
    "controlled_shutdown": "controlled_shutdown",
    "broker_crash": "crash",
    "broker_unresponsive": "unresponsive",
}
"""failovers.kind → the kind of the outage that such a failover is put down to."""
ASKED_FOR = ("unclean_election", "reassignment")


def is_owed(row: Row, acts: Sequence[Act]) -> bool:
    """Whether a rebalance that meets no expectation is owed all the same, to what was done before it."""
    if row["cause"] in ALWAYS_OWED:
        return True
    before = [a for a in acts if is_after(a, row["started_at"])]
    if row["cause"] in OWED_TO_BROKERS and any(a.is_on_broker for a in before):
        return True
    return any(a.group == row["group_id"] and row["cause"] in _causes(a) for a in before)


def _causes(act: Act) -> tuple[str, ...]:
    return REBALANCE_CODES.get(str(act.expect), ())


def wrong_rebalance(row: Row, acts: Sequence[Act], tables: Tables) -> str | None:
    """Why an owed rebalance is wrong; None where nothing speaks against it."""
    for act in (a for a in acts if a.expect in SILENCES and a.group == row["group_id"]):
        if any(r is row for r in rows_until_expiry(act, acts, tables)) and not is_expiry(act, row):
            return f"{act.action} of {act.scope} expects {act.expect}"
    before = [a for a in acts if a.group == row["group_id"] and is_after(a, row["started_at"])]
    family = next((f for f in (ARRIVALS, DEPARTURES) if row["cause"] in f), frozenset[str]())
    on_member = [a for a in before if names_member(a) and is_member(a, row)]
    answered = [a for a in on_member if family.intersection(_causes(a))]
    others = [a for a in answered if row["cause"] not in _causes(a) and not _is_answered(a, tables)]
    if others and not any(_is_first_answer(row, a, tables) for a in answered):
        return "; ".join(f"{a.action} of {a.scope} expects {a.expect}" for a in others)
    return _wrong_member(row, before, acts) if row["cause"] in DEPARTURES and not on_member else None


def _is_first_answer(row: Row, act: Act, tables: Tables) -> bool:
    """An act is answered once: a later rebalance of that name cannot hide behind it."""
    called = (r for r in of_group(act, tables) if is_after(act, r["started_at"]) and calls(act, r, _causes(act)))
    return next(called, None) is row


def _is_answered(act: Act, tables: Tables) -> bool:
    """Whether some rebalance calls the act what it was: then another one of that member is about something else."""
    return any(is_after(act, r["started_at"]) and calls(act, r, _causes(act)) for r in of_group(act, tables))


def _wrong_member(row: Row, before: Sequence[Act], acts: Sequence[Act]) -> str | None:
    """A departure put down to a member to whom nothing was done, and owed to no broker."""
    if row.get("client_id") is None and row.get("instance_id") is None:
        return None
    if any(is_expiry(a, row) for a in acts if a.expect in SILENCES and a.group == row["group_id"]):
        return None
    if row["cause"] in OWED_TO_BROKERS and any(a.is_on_broker and is_after(a, row["started_at"]) for a in acts):
        return None
    others = [a for a in before if names_member(a) and row["cause"] in _causes(a)]
    return f"nothing was done to that member, but {others[0].action} to {others[0].scope}" if others else None


def wrong_outage(row: Row, acts: Sequence[Act]) -> str | None:
    """Why an outage is wrong; None where nothing speaks against it, or where it lies outside the truth."""
    if not acts or not acts[0].at <= row["down_at"] <= acts[-1].at:
        return None
    near = [a for a in acts if a.broker == row["broker"] and abs(row["down_at"] - a.at) <= OUTAGE_APART]
    expecting = [a for a in near if a.expect in OUTAGE_KINDS]
    if any(OUTAGE_KINDS[str(a.expect)] == row["kind"] for a in expecting):
        return None
    if expecting:
        return "; ".join(f"{a.action} of {a.scope} expects {a.expect}" for a in expecting)
    return "nothing was done to that broker that stops it"


def wrong_failover(row: Row, acts: Sequence[Act]) -> str | None:
    """Why a failover is wrong; None where nothing speaks against it, or where it lies outside the truth."""
    if not acts or not acts[0].at <= row["happened_at"] <= acts[-1].at:
        return None
    before = [a for a in acts if is_after(a, row["happened_at"])]
    if row["kind"] in ASKED_FOR:
        asked = any(a.topic == row["topic"] and FAILOVER_KINDS.get(str(a.expect)) == row["kind"] for a in before)
        return None if asked else f"nobody expects the {row['kind']} of that topic"
    outage = OUTAGE_OF_FAILOVER.get(row["kind"])
    on_leader = [a for a in before if a.expect in OUTAGE_KINDS and a.broker == row.get("leader_from")]
    if outage is None or not on_leader or any(OUTAGE_KINDS[str(a.expect)] == outage for a in on_leader):
        return None
    return "; ".join(f"{a.action} of {a.scope} expects {a.expect}" for a in on_leader)
