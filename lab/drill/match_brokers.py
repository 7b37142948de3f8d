"""Which rows about brokers, leaders and replicas meet what an act was expected to be called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from kafka_hindsight.knowledge.rules import access_rules
from lab.drill.match import AFTER, BEFORE, Answer, Row, Rule, Tables, is_after, some
from lab.drill.truth import (
    AUTOMATIC_ELECTION,
    BROKERS_ROLLED,
    CONTROLLER_CHANGE,
    FAILED_START,
    FAILOVER_KINDS,
    FINDING,
    FOLLOWER_REFUSED,
    IMBALANCE,
    ISR_LAPSE,
    LOG_DIR_FAILED,
    NO_FAILOVER,
    NO_FINDING,
    OUTAGE_KINDS,
    QUORUM_LOST,
    RECORDS_LOST,
    RECORDS_TRUNCATED,
    UNDER_MIN_ISR,
    Act,
)

OUTAGE_APART = timedelta(seconds=40)


def _outage(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    kind = OUTAGE_KINDS[str(act.expect)]
    near = (r for r in tables.get("broker_outages", ()) if r["broker"] == act.broker)
    return some(r for r in near if abs(r["down_at"] - act.at) <= OUTAGE_APART and r["kind"] == kind)


def _failover(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    kind = FAILOVER_KINDS[str(act.expect)]
    return some(r for r in failovers_after(act, tables) if r["kind"] == kind)


def failovers_after(act: Act, tables: Tables) -> list[Row]:
    """The failovers of the act's topic and partition where an answer to it may lie."""
    return [
        r
        for r in tables.get("failovers", ())
        if is_after(act, r["happened_at"])
        and act.topic in (None, r["topic"])
        and act.partition in (None, r["partition"])
    ]


def _log_dir(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """Every partition that the broker led from the failed directory must have a row."""
    return _every(
        act.fields["led"],
        (r for r in failovers_after(act, tables) if r["kind"] == "log_dir_failed" and r["leader_from"] == act.broker),
    )


def _automatic(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    elected = (r for r in failovers_after(act, tables) if r["kind"] == "preferred_election")
    by_itself = (r for r in elected if not r.get("requested_by_operator"))
    return _every(((act.topic, p) for p in act.fields["partitions"]), by_itself)


def _every(owed: Iterable[Sequence[object]], rows: Iterable[Row]) -> Answer:
    by_partition = {(r["topic"], r["partition"]): r for r in rows}
    partitions = {tuple(p) for p in owed}
    return Answer(partitions <= by_partition.keys(), tuple(r for p, r in by_partition.items() if p in partitions))


def _no_failover(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """Until something else is done to the topic, or to a broker."""
    end = next((a.at for a in acts if a.at > act.at and (a.topic == act.topic or a.broker is not None)), None)
    rows = [r for r in failovers_after(act, tables) if end is None or r["happened_at"] < end]
    return Answer(not rows)


def _controller_change(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """One that goes is followed by another, one that comes alone follows itself or whoever was there."""
    it = act.fields["controller"]
    return some(
        r
        for r in tables.get("controller_changes", ())
        if is_after(act, r["happened_at"]) and it in (r["controller_from"], r["controller_to"])
    )


def _quorum_lost(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """The next controller, with bounds that hold how long there was none."""
    return some(
        r
        for r in tables.get("controller_changes", ())
        if is_after(act, r["happened_at"])
        and r["cause"] == "no_majority"
        and (r["uncontrolled_low_ms"] or 0) <= act.fields["high_ms"]
        and (r["uncontrolled_high_ms"] is None or r["uncontrolled_high_ms"] >= act.fields["low_ms"])
    )


LAPSES: Mapping[str, str] = {ISR_LAPSE: "slow", FOLLOWER_REFUSED: "not_authenticated"}
"""expect → out_of_sync_periods.kind."""


def _isr_lapse(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """One that lasts may hold several acts: a replica that flaps has one trouble."""
    return some(
        r
        for r in tables.get("out_of_sync_periods", ())
        if r["broker"] == act.broker
        and r["kind"] == LAPSES[str(act.expect)]
        and r["started_at"] <= act.at + AFTER
        and (r["ended_at"] is None or r["ended_at"] >= act.at - BEFORE)
    )


def _rolled(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """One story must hold the whole roll, and tell which brokers were stopped too early."""
    return some(r for r in rolls_of(act, tables) if early_of(act, r) == set(act.fields["too_early"]))


def rolls_of(act: Act, tables: Tables) -> list[Row]:
    """The rolling restarts that hold the brokers of the act in the order in which they were restarted."""
    order = act.fields["brokers"]
    return [
        r
        for r in tables.get("rolling_restarts", ())
        if r["started_at"] <= act.at <= (r["ended_at"] or act.at) + AFTER
        and [b for b in r["brokers"] if b in order] == order
    ]


def early_of(act: Act, row: Row) -> set[int]:
    """The brokers of the act that the scorecard calls stopped too early; the first of them had none before it."""
    return {s["broker"] for s in row["scorecard"] if s["is_early"] and s["broker"] in act.fields["brokers"][1:]}


def _records_lost(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """The bounds hold what was lost; where the old leader came back with its log they are exact."""
    bounded = (r for r in failovers_after(act, tables) if holds_loss(r, act.fields["lost"]))
    exact = act.fields.get("is_exact", False)
    return some(r for r in bounded if not exact or r["records_lost_low"] == r["records_lost_high"])


def holds_loss(row: Row, record_count: int) -> bool:
    """Whether the bounds of a failover's loss hold a number; an open bound holds every number beyond the other."""
    low, high = row["records_lost_low"], row["records_lost_high"]
    return (low, high) != (None, None) and (low or 0) <= record_count and (high is None or record_count <= high)


def _truncated(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    return some(
        r
        for r in tables.get("truncations", ())
        if (r["topic"], r["partition"]) == (act.topic, act.partition)
        and is_after(act, r["happened_at"])
        and r["records_cut"] == act.fields["records"]
        and r["verdict"] != "committed_lost"
    )


def _under_min_isr(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """The topic lived no longer than its scenario: nothing else adds to its time."""
    return some(
        r
        for r in tables.get("partition_risks", ())
        if (r["topic"], r["partition"]) == (act.topic, act.partition)
        and r["under_min_isr_ms"] is not None
        and act.fields["low_ms"] <= r["under_min_isr_ms"] <= act.fields["high_ms"]
    )


def _failed_start(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """The absence in which the starts failed counts them and says why."""
    return some(
        r
        for r in tables.get("broker_outages", ())
        if (r["broker"], r["start_failure"], r["failed_starts"]) == (act.broker, act.fields["why"], act.fields["times"])
        and r["down_at"] <= act.at + AFTER
        and (r["up_at"] is None or r["up_at"] >= act.at)
    )


def _finding(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """A finding that names the object or quotes a line about it; its sentence names the first of several alone."""
    return some(r for r in tables.get("findings", ()) if r["rule_id"] == act.fields["rule"] and _is_about(act, r))


def _no_finding(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    of_access = (r for r in tables.get("findings", ()) if r["rule_id"] in _ACCESS)
    return Answer(not any(_is_about(act, r) for r in of_access))


_ACCESS = frozenset(rule.rule_id for rule in access_rules.RULES)


def _is_about(act: Act, finding: Row) -> bool:
    name = re.compile(rf"(?<![\w.-]){re.escape(act.fields['about'])}(?![\w-])", re.IGNORECASE)
    quotes = (f"{q['source'].replace('broker-', 'broker ')} {q['text']}" for q in finding["evidence"])
    return any(name.search(text) for text in (finding["message"], *quotes))


def _imbalance(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    return some(
        r
        for r in tables.get("leader_imbalance", ())
        if r["over_threshold"] and is_after(act, r["snapshot_at"]) and act.broker in (None, r["broker"])
    )


BROKER_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(OUTAGE_KINDS, _outage),
    **dict.fromkeys(FAILOVER_KINDS, _failover),
    IMBALANCE: _imbalance,
    LOG_DIR_FAILED: _log_dir,
    AUTOMATIC_ELECTION: _automatic,
    NO_FAILOVER: _no_failover,
    CONTROLLER_CHANGE: _controller_change,
    **dict.fromkeys(LAPSES, _isr_lapse),
    BROKERS_ROLLED: _rolled,
    RECORDS_LOST: _records_lost,
    RECORDS_TRUNCATED: _truncated,
    UNDER_MIN_ISR: _under_min_isr,
    FAILED_START: _failed_start,
    QUORUM_LOST: _quorum_lost,
    FINDING: _finding,
    NO_FINDING: _no_finding,
}
