"""The rows of gold that are scored: when they happened, their ids, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from lab.drill.acts import TruthError

GoldRow = Mapping[str, Any]
GoldTables = Mapping[str, Sequence[GoldRow]]
"""Rows of gold by the name of their table."""


def at_of(table: str, row: GoldRow) -> datetime:
    """The instant that places a row."""
    at: datetime = row[str(BY_NAME[f"gold.{table}"].time_column)]
    return at


def id_of(table: str, row: GoldRow) -> str:
    """The id of a row among those of its instant."""
    return str(row.get(BY_NAME[f"gold.{table}"].key[-1]))


def in_words(table: str, row: GoldRow) -> str:
    """One row of gold in a line."""
    confidence, shared = row.get("confidence", ""), ""
    if contributors := ", ".join(f"{c['cause']} {_member(c)}" for c in row.get("contributors") or ()):
        shared = f" with {contributors}"
    says = SCORED[table](row)
    return f"{says} ({confidence}){shared}" if confidence else says


def _member(member: GoldRow) -> str:
    return str(member.get("client_id") or member.get("instance_id") or member.get("member_id") or "nobody")


def _partitions(partitions: Sequence[GoldRow] | None) -> str:
    return ", ".join(f"{p['topic']}-{p['partition']}" for p in partitions or ()) or "nothing"


def _outage(row: GoldRow) -> str:
    failed = f", {row['failed_starts']} failed starts: {row['start_failure']}" if row.get("failed_starts") else ""
    return f"broker {row['broker']}: {row['kind']}{failed}"


def _failover(row: GoldRow) -> str:
    bounds = (row.get("records_lost_low"), row.get("records_lost_high"))
    loss = f", {bounds[0]} to {bounds[1]} records lost" if bounds != (None, None) else ""
    leaders = f"leader {row.get('leader_from')} to {row.get('leader_to')}"
    return f"{row['topic']}-{row['partition']}: {row['kind']}, {leaders}{loss}"


def _jump(row: GoldRow) -> str:
    bounds = f"{row['records_low']} to {'any' if row['records_high'] is None else row['records_high']} records"
    ends = f"from {row['offset_from']} to {row['offset_to']}"
    return f"{_place(row)}: {row['harm']} {ends}, {bounds}, {row['cause']}"


def _place(row: GoldRow) -> str:
    return f"{row['group_id']} in {row['topic']}-{row['partition']}"


def _roll(row: GoldRow) -> str:
    early = [s["broker"] for s in row["scorecard"] if s["is_early"]]
    return f"brokers {row['brokers']} restarted, too early {early}"


SCORED: Mapping[str, Callable[[GoldRow], str]] = {
    "rebalances": lambda row: f"{row['group_id']}: {row['cause']} {_member(row)}",
    "assignment_changes": lambda row: f"{row['group_id']}: {_member(row)} owns {_partitions(row['after'])}",
    "backlogs": lambda row: f"{row['group_id']}: {row['backlog']} records, worked off {row['worked_off_at']}",
    "incidents": lambda row: f"{row['kind']} of {', '.join(row.get('group_ids') or ())}",
    "broker_outages": _outage,
    "failovers": _failover,
    "leader_imbalance": lambda row: f"broker {row['broker']}: ratio {row.get('ratio')}",
    "controller_changes": lambda row: (
        f"controller {row['controller_from']} to {row['controller_to']}, epoch {row['epoch']}"
    ),
    "out_of_sync_periods": lambda row: (
        f"broker {row['broker']} out of {row['partitions']} ISRs, {row['shrinks']} times: {row['kind']}"
    ),
    "rolling_restarts": _roll,
    "truncations": lambda row: (
        f"{row['topic']}-{row['partition']}: {row['records_cut']} records cut off, {row['verdict']}"
    ),
    "partition_risks": lambda row: (
        f"{row['topic']}-{row['partition']}: {row['under_min_isr_ms']} ms under min.insync.replicas"
    ),
    "unavailability": lambda row: f"{row['group_id'] or row['topic']}-{row['partition']}: {row['kind']}",
    "producer_failures": lambda row: (
        f"{row['client_id']} to {row['topic']}: {row['kind']}, {row['retries']} retries, given up"
        f" {row['given_up_low']} to {row['given_up_high']}"
    ),
    "offset_jumps": _jump,
    "partition_stalls": lambda row: (
        f"{_place(row)}: {row['kind']} at {row['committed_offset']} until {row['ended_at']}, {row['client_id']}"
    ),
    "findings": lambda row: f"{row['rule_id']}: {row['message']}",
}
"""The tables that are scored, each with what a row of it says."""


def read_gold(lake: str, names: Iterable[str] = tuple(SCORED), needed: str | None = None) -> GoldTables:
    """Gold tables of a lake, by default those that are scored; one that was never published is left out.

    Raises TruthError where a lake has not the table that is needed.
    """
    from deltalake import DeltaTable

    folders = {name: f"{lake.rstrip('/')}/gold/{name}" for name in names}
    # deltalake's own to_pyarrow_table() reads with threads of Arrow's, and aborted the process at its exit in 4 of 20
    # runs; without threads it did in none of 20.
    tables = {
        name: DeltaTable(folder).to_pyarrow_dataset().to_table(use_threads=False).to_pylist()
        for name, folder in folders.items()
        if DeltaTable.is_deltatable(folder)
    }
    if needed and needed not in tables:
        raise TruthError(f"found no gold.{needed} in {lake}; it must be a lake that an audit published")
    return tables
