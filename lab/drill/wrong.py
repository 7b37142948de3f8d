"""Which rebalances are wrong, whatever their confidence, given what was done.

A verdict is *wrong*, whatever its confidence, when one of these holds:

- a rebalance is a false alarm, or breaks a silence that an act promised;
- a rebalance says that a member came, or that it went, while an act upon that member expects that it came, or went,
  otherwise and no other rebalance answers that act;
- a rebalance says that a member went although nothing was done to it, and the act that caused it was done to another;
- a rebalance says that the group had not had a member whose coming an earlier one had reported;
- an act upon a member or a group is not met, and this is the first rebalance of that member or group after it.

An act is answered by one rebalance: the first that fits. What is owed without an act (a member that comes, a
cooperative follow-up, partitions of a share group that became ready, one that Kafka Streams asks for by itself), and
what happens before the first act or after the last, is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.codes import Cause
from lab.drill.act_expectations import (
    SILENCES,
    calls,
    codes_of,
    is_after,
    is_expiry,
    is_member,
    names_member,
    of_group,
    rows_until_expiry,
)
from lab.drill.acts import Act
from lab.drill.libraries import STREAMS
from lab.drill.rows import GoldRow, GoldTables

FALSE_ALARM = "nothing was done that causes it"

ALWAYS_OWED = frozenset(
    {
        *("member_joined", "member_rejoined", "cooperative_followup", "scheduled_delay_over"),
        "share_partitions_initialized",
    }
)
BROKER_INDUCED_CAUSES = frozenset(c for c in Cause if c.noun.is_broker_induced)
FOLLOW_UPS = frozenset({Cause.COOPERATIVE_FOLLOWUP, Cause.COORDINATOR_MOVED})
ARRIVALS = frozenset(c for c in Cause if c.noun.is_arrival)
DEPARTURES = frozenset(c for c in Cause if c.noun.is_departure)


@dataclass(frozen=True)
class PlayedNight:
    """A night: the acts, the audit's rows, and which of them meet.

    `unmet`: acts whose expectation no row meets. `meeting`: identities (`id`) of the rows that meet one.
    """

    acts: Sequence[Act]
    tables: GoldTables
    unmet: Sequence[Act]
    meeting: frozenset[int]

    def covers(self, at: datetime) -> bool:
        """Whether the truth says what was done at that instant."""
        return bool(self.acts) and self.acts[0].at <= at <= self.acts[-1].at

    def before(self, row: GoldRow, table: str = "rebalances") -> list[Act]:
        """The acts to which a row may be an answer."""
        return [a for a in self.acts if is_after(a, row, table)]


def is_owed(row: GoldRow, night: PlayedNight) -> bool:
    """Whether a rebalance was caused by what was done: by an expectation that it meets, or else by its cause.

    The acts of a Connect connector's consumers (`consumers`: their group) follow from those of its workers.
    """
    if id(row) in night.meeting or row["cause"] in ALWAYS_OWED:
        return True
    if any(a.fields.get("consumers") == row["group_id"] for a in night.acts):
        return True
    if _is_asked_for_by_streams(row, night):
        return True
    caused = any(a.group == row["group_id"] and row["cause"] in _possible_causes(a) for a in night.before(row))
    return caused or _is_broker_induced(row, night)


def _is_asked_for_by_streams(row: GoldRow, night: PlayedNight) -> bool:
    """Whether an application of Kafka Streams asked for a rebalance by itself; the drill asks none for one.

    Source: StreamThread.runLoop enforces a rebalance when the one is due that StreamsPartitionAssignor scheduled: at 0,
    which is at once, where a task has to be given up before it can move, later where a standby has to catch up first.
    """
    of_streams = (a for a in night.acts if a.group == row["group_id"] and a.fields.get("library") == STREAMS)
    return row["cause"] == Cause.CLIENT_REQUESTED and any(of_streams)


def _follows_by_itself(row: GoldRow, night: PlayedNight) -> bool:
    """Whether a rebalance answers none of the acts before it."""
    return row["cause"] in FOLLOW_UPS or _is_asked_for_by_streams(row, night)


def _causes(act: Act) -> tuple[str, ...]:
    return codes_of(act.expect, "rebalances")


def _possible_causes(act: Act) -> tuple[str, ...]:
    """The causes that an act may have: as it expects, or as it did before its scenario ended early."""
    return (*_causes(act), *codes_of(act.fields.get("undecided"), "rebalances"))


def wrong_or_false_alarm(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why a rebalance is wrong: one that nothing caused is a false alarm, whatever it says."""
    return wrong_rebalance(row, night) if is_owed(row, night) else FALSE_ALARM


def wrong_rebalance(row: GoldRow, night: PlayedNight) -> str | None:
    """Why an owed rebalance is wrong; None where nothing speaks against it."""
    reasons = (rule(row, night) for rule in _REBALANCE_RULES)
    return next((why for why in reasons if why), None)


def _breaks_silence(row: GoldRow, night: PlayedNight) -> str | None:
    for act in (a for a in night.acts if a.expect in SILENCES and a.group == row["group_id"]):
        if any(r is row for r in rows_until_expiry(act, night.acts, night.tables)) and not is_expiry(act, row):
            return expects(act)
    return None


def _misnames_member_act(row: GoldRow, night: PlayedNight) -> str | None:
    """Beside an act upon that member that expects another arrival or departure."""
    answerable = _acts_of_its_family(row, night)
    others = [a for a in answerable if row["cause"] not in _causes(a) and _first_answer(a, night) is None]
    if others and not any(_first_answer(a, night) is row for a in answerable):
        return "; ".join(map(expects, others))
    return None


def _acts_of_its_family(row: GoldRow, night: PlayedNight) -> list[Act]:
    """The acts upon that member that expect an arrival, where the row says one, or a departure."""
    family = next((f for f in (ARRIVALS, DEPARTURES) if row["cause"] in f), frozenset[Cause]())
    return [a for a in _acts_on_member(row, night) if family.intersection(_causes(a))]


def _acts_on_member(row: GoldRow, night: PlayedNight) -> list[Act]:
    return _on_member(row, night.before(row))


def _on_member(row: GoldRow, acts: Sequence[Act]) -> list[Act]:
    return [a for a in acts if a.group == row["group_id"] and names_member(a) and is_member(a, row)]


def _first_answer(act: Act, night: PlayedNight) -> GoldRow | None:
    """An act is answered once: a later rebalance of that name cannot hide behind it, nor is it spoken against by it."""
    rows = of_group(act, night.tables)
    return next((r for r in rows if is_after(act, r, "rebalances") and calls(act, r, _causes(act))), None)


def _blames_an_untouched_member(row: GoldRow, night: PlayedNight) -> str | None:
    """A departure put down to a member although nothing was done to it, and that no broker caused."""
    names_none = row.get("client_id") is None and row.get("instance_id") is None
    if row["cause"] not in DEPARTURES or names_none or _may_have_gone(row, night):
        return None
    in_group = (a for a in night.before(row) if a.group == row["group_id"] and names_member(a))
    others = [a for a in in_group if row["cause"] in _causes(a)]
    return f"nothing was done to that member, but {others[0].action} to {others[0].scope}" if others else None


def _may_have_gone(row: GoldRow, night: PlayedNight) -> bool:
    """Whether that member had a reason to go: an act upon it, a session that expired in a silence, or a broker."""
    if any(a.expect is None or a.expect in SILENCES for a in _acts_on_member(row, night)):
        return True
    if any(is_expiry(a, row) for a in night.acts if a.expect in SILENCES and a.group == row["group_id"]):
        return True
    return bool(_acts_of_its_family(row, night)) or _is_broker_induced(row, night)


def _is_broker_induced(row: GoldRow, night: PlayedNight) -> bool:
    """Whether the cause lies with a broker, and something was done to one."""
    return row["cause"] in BROKER_INDUCED_CAUSES and any(a.is_on_broker for a in night.before(row))


def _came_before(row: GoldRow, night: PlayedNight) -> str | None:
    """A member that the group had had cannot be one that it had not."""
    if row["cause"] != "member_joined":
        return None
    starts = [a for a in _on_member(row, night.acts) if "member_joined" in _causes(a)]
    answered = [(a, first) for a in starts if (first := _first_answer(a, night))]
    if any(first is row for _, first in answered):
        return None
    earlier = [a for a, first in answered if first["started_at"] < row["started_at"]]
    return f"{earlier[0].action} of {earlier[0].scope} was answered before" if earlier else None


def _leaves_unmet(row: GoldRow, night: PlayedNight) -> str | None:
    """The first rebalance after an act, of its member or group, that answers it with a code that no act expects."""
    if id(row) in night.meeting or _follows_by_itself(row, night):
        return None
    for act in (a for a in night.unmet if a.group == row["group_id"] and row["cause"] not in _causes(a)):
        rows = (r for r in of_group(act, night.tables) if is_after(act, r, "rebalances"))
        if next((r for r in rows if not names_member(act) or is_member(act, r)), None) is row:
            return expects(act)
    return None


_REBALANCE_RULES: tuple[Callable[[GoldRow, PlayedNight], str | None], ...] = (
    _breaks_silence,
    _misnames_member_act,
    _blames_an_untouched_member,
    _came_before,
    _leaves_unmet,
)


def expects(act: Act) -> str:
    """The act, its object and its expectation, in words."""
    return f"{act.action} of {act.scope} expects {act.verdict}"
