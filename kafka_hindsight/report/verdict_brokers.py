"""The brokers' part of the verdict: restarts, outages, leaders, and what became of the data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from kafka_hindsight.catalog.codes import FailoverKind, OutOfSyncKind, TruncationVerdict
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, OutOfSyncPeriod, RollingRestart, Truncation
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import brokers_named, declared, lost_records, outage_at
from kafka_hindsight.report.sections.danger import exposure, worst_simulation
from kafka_hindsight.report.sections.restarts import headline, in_order
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.absences import away, is_orderly

RESTARTS_NAMED = 2
_IN_ORDER = frozenset({FailoverKind.CONTROLLED_SHUTDOWN, FailoverKind.PREFERRED_ELECTION, FailoverKind.REASSIGNMENT})


def broker_sentences(page: PageRows, named: Collection[str]) -> tuple[str, ...]:
    """What the brokers went through, but for outages that are named already, by id; some may be empty."""
    lost = [row for row in page.of(Truncation) if row.verdict == TruncationVerdict.COMMITTED_LOST]
    slow = {row.broker for row in page.of(OutOfSyncPeriod) if row.kind == OutOfSyncKind.SLOW}
    return (
        " ".join(f"{words.sentence(s)}." for s in _outages(page, named)),
        *_restarts(page),
        _failovers(page),
        f"{words.counted(len(lost), 'truncation')} took committed records." if lost else "",
        " ".join(said for _, said in exposure(page)),
        f"{words.sentence(brokers_named(slow, 6))} fell out of sync though alive." if slow else "",
        _simulation(page),
    )


def _restarts(page: PageRows) -> Iterator[str]:
    rows = in_order(page)
    for row in rows[:RESTARTS_NAMED]:
        yield f"{headline(row)}, {_when(page, row)}{declared(row)}."
    rest = len(rows) - RESTARTS_NAMED
    if rest > 0:
        yield f"{words.counted(rest, 'further rolling restart')}."


def _when(page: PageRows, row: RollingRestart) -> str:
    first = words.minute(row.started_at, page.day)
    if row.ended_at is None:
        return f"from {first}, and it was not over by the end"
    last = words.minute(row.ended_at, page.day)
    return f"at {first}" if last == first else f"from {first} to {last}"


def _outages(page: PageRows, named: Collection[str]) -> Iterator[str]:
    restarts = {row.restart_id for row in page.of(RollingRestart)}
    rows = [o for o in page.outages.values() if o.outage_id not in named and o.restart_id not in restarts]
    sudden = [_absence(page, row) for row in rows if not is_orderly(row)]
    if sudden:
        yield ("also " if any(named) else "") + words.listed(sudden, at_most=4)
    yield from _shutdowns(page, [row for row in rows if is_orderly(row)])
    yield from _gone({row.broker: row for row in page.outages.values()})


def _gone(last_of: Mapping[int, BrokerOutage]) -> Iterator[str]:
    brokers = [broker for broker, last in last_of.items() if last.up_at is None]
    if brokers:
        yield f"{brokers_named(brokers, 6)} had not come back by the end"


def _shutdowns(page: PageRows, orderly: Sequence[BrokerOutage]) -> Iterator[str]:
    if len(orderly) == 1:
        yield f"{outage_at(page, orderly[0])}{declared(orderly[0])}"
    elif orderly:
        yield f"{len(orderly)} shutdowns in order, of {brokers_named({row.broker for row in orderly}, 6)}"


def _absence(page: PageRows, outage: BrokerOutage) -> str:
    gone = away(outage)
    return outage_at(page, outage) + (f" for {gone}" if gone else "")


def _failovers(page: PageRows) -> str:
    rows = [row for row in page.of(Failover) if row.kind not in _IN_ORDER]
    apart = len(page.of(Failover)) - len(rows)
    if not rows and not apart:
        return ""
    clauses = [
        words.counted(len(rows), "leader change") + (f" besides {words.number(apart)} in order" if apart else "")
    ]
    offline = sum(row.kind == FailoverKind.OFFLINE for row in rows)
    if offline:
        clauses.append(f"a partition was left without a leader {words.times(offline)}")
    return ", ".join([*clauses, *_unclean(rows)]) + "."


def _unclean(rows: Sequence[Failover]) -> Iterator[str]:
    unclean = [row for row in rows if row.kind == FailoverKind.UNCLEAN_ELECTION]
    if unclean:
        low, high = _bounds(unclean)
        lost = f" that lost {lost_records(low, high)}" if high or low else ""
        yield f"{words.counted(len(unclean), 'unclean election')}{lost}"


def _bounds(rows: Sequence[Failover]) -> tuple[int | None, int | None]:
    lows = [r.records_lost_low for r in rows if r.records_lost_low is not None]
    highs = [r.records_lost_high for r in rows if r.records_lost_high is not None]
    return (sum(lows) if lows else None), (sum(highs) if len(highs) == len(lows) and highs else None)


def _simulation(page: PageRows) -> str:
    worst = worst_simulation(page)
    if worst is None:
        return ""
    harms = ((worst.partitions_offline, "would have no leader"), (worst.partitions_unclean, "would lose records"))
    said = [f"{words.counted(count, 'partition')} {harm}" for count, harm in harms if count]
    lost = f"{worst.scope_kind} {plain.shortened(worst.scope, 48)}"
    return f"Were {lost} lost now, {words.listed(said)}." if said else ""
