"""When no member of a group consumed: rows of gold.unavailability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from kafka_hindsight.catalog.codes import Confidence, Outcome, UnavailabilityKind
from kafka_hindsight.catalog.rows import Event, Rebalance, Unavailability
from kafka_hindsight.judgements.groups.costs import Stop
from kafka_hindsight.judgements.reasoning.bounded_intervals import BoundedInterval, ledger_row, span
from kafka_hindsight.judgements.reasoning.timelines import by_instant
from kafka_hindsight.judgements.rebalances.records import BURIED
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import MS

_REMOVED = (Kind.GROUP_DEAD, Kind.GROUPS_DELETED, BURIED)

_Chain = Sequence[Rebalance]


def rebuild_unavailability(
    rebalances: Sequence[Rebalance], stops: Mapping[str, Stop], events: Iterable[Event], logs_end: datetime
) -> list[Unavailability]:
    """Rows of gold.unavailability about one group: one from each stop of the whole group to its next assignment.

    Takes: events with what its records show; `logs_end`, the last line of any broker.
    """
    removals = by_instant(e for e in events if e.kind in _REMOVED)
    rows = []
    for chain, following in _chains(rebalances, stops):
        interval, first, last = _interval(chain, following), chain[0], chain[-1]
        removed = removals.first_after(interval.start)
        if removed:
            interval = interval.over_by(removed.happened_at)
        has_end = last.outcome in (Outcome.COMPLETED, Outcome.EMPTIED)
        confidence = Confidence.CERTAIN if has_end else Confidence.LIKELY
        kind, subject = UnavailabilityKind.NO_CONSUMER, (first.cluster, first.group_id)
        quotes, rebalance_id = [*first.evidence, *last.evidence], first.rebalance_id
        why = first.explanation
        rows.append(ledger_row(kind, subject, interval, logs_end, why, confidence, quotes, rebalance_id=rebalance_id))
    return rows


def _chains(rebalances: Sequence[Rebalance], stops: Mapping[str, Stop]) -> Iterator[tuple[_Chain, Rebalance | None]]:
    """Rebalances in a row from a stop of the whole group to its next assignment, and the rebalance after them.

    Edge case: a group that had no assignment before stops nothing. Under cooperative assignors, and where the
    coordinator assigns, members give back only what moves: such a group stops only where its last member goes.
    """
    ordered = sorted(rebalances, key=lambda r: (r.started_at, r.rebalance_id))
    chain: list[Rebalance] = []
    has_run = False
    for now, after in zip(ordered, [*ordered[1:], None], strict=False):
        has_run = has_run or bool(now.from_generation)
        if chain or (has_run and (now.outcome == Outcome.EMPTIED or stops[now.rebalance_id].is_eager)):
            chain.append(now)
        has_run = has_run or now.outcome == Outcome.COMPLETED
        is_over = now.outcome in (Outcome.COMPLETED, Outcome.UNFINISHED) or (now.protocol.has_epochs and chain[1:])
        if chain and (after is None or is_over):
            yield chain, after
            chain = []


def _interval(chain: _Chain, following: Rebalance | None) -> BoundedInterval[None]:
    """From the stop to the assignment.

    The members stop one after another, each when it learns of the rebalance, and all have stopped when the join phase
    ends. Where the coordinator assigns, the first member can consume before the last. The end of a rebalance that no
    evidence shows is not bounded, and where none follows it is not over.
    """
    first, last = chain[0], chain[-1]
    is_shown = last.outcome == Outcome.COMPLETED
    end = last.ended_at if is_shown else last.joined_at or last.started_at
    if following is None and not is_shown:
        end = None
    consumed_until: datetime | None = first.started_at
    is_last_gone = first.members_before == 1 or first.outcome == Outcome.EMPTIED
    if is_last_gone and first.cause.noun.is_silence:  # heartbeat or not, it can have consumed until its session expired
        session = first.session_timeout_ms
        consumed_until = None if session is None else first.started_at - session * MS
    stopped_at = next((at for at in map(_all_stopped_at, chain) if at), None)
    idle_until = last.started_at if end and last.protocol.has_epochs else end
    proven = None if last.outcome == Outcome.UNFINISHED else span(stopped_at, idle_until)
    possible = span(consumed_until, end) if is_shown or end is None else None
    return BoundedInterval(first.started_at, end, proven, possible, None)


def _all_stopped_at(rebalance: Rebalance) -> datetime | None:
    """When the last member had stopped: it was gone, or had joined again; None where that is not known."""
    if rebalance.outcome == Outcome.EMPTIED:
        return rebalance.ended_at
    return None if rebalance.protocol.has_epochs else rebalance.joined_at
