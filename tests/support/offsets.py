"""The jumps of groups: of an excerpt with all its witnesses, and of marks that a test makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import (
    Event,
    GroupRecord,
    MemberSetting,
    OffsetCommits,
    OffsetJump,
    OffsetSnapshot,
    Ownership,
    Quote,
)
from kafka_hindsight.intake.commit_rows import row_of_run
from kafka_hindsight.intake.json_lines import LandedLine
from kafka_hindsight.intake.record_files import read_record_files
from kafka_hindsight.intake.snapshot_rows import read_line, tables_of_readings
from kafka_hindsight.judgements.offsets.log_changes import LogChanges, LogHistory, LogStart
from kafka_hindsight.judgements.offsets.marks import Mark, Sign
from kafka_hindsight.judgements.offsets.moves import LogEnds, Move, PartitionPass, PartitionWitnesses, Removal
from kafka_hindsight.judgements.offsets.owner_endings import Endings
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, instants
from tests.support.judged_lines import judged_folder
from tests.support.nights import EXCERPTS
from tests.support.rows import AT, row

KEY = ("orders", 0)
OFFSETS = "offsets-4.3"
"""Groups of a recorded night of Kafka 4.3.1, each of which went on elsewhere: its lines, records and readings."""

DELETED = "deleted-4.3"
"""A group of a drill of Kafka 4.3.1 whose offset an administrator deleted, which leaves no line."""

HANDOVER = "handover-3.9"
"""A group of a drill of Kafka 3.9.2 with a cooperative assignor, which handed partitions over twice."""


Without = Literal["clients", "records", "readings"]


@cache
def excerpt_jumps(*without: Without, excerpt: str = OFFSETS) -> Mapping[str, Sequence[OffsetJump]]:
    """The jumps of each group of an excerpt, by all judgements, without some of the witnesses."""
    folder = EXCERPTS / excerpt
    witnesses: dict[str, list[Any]] = {}
    if "readings" not in without:
        lines = [read_line(LandedLine(text, "")) for text in (folder / "snapshots.jsonl").read_text().splitlines()]
        for table, rows in tables_of_readings(lines, "c").items():
            witnesses[table.name] = [table.row_class.of(r) for r in rows.to_pylist()]
    if "records" not in without:
        found = read_record_files(str(folder / "records.jsonl"))
        witnesses["group_records"] = [GroupRecord.of({**r, "cluster": "c", "run_landed_as": ""}) for r in found.groups]
        witnesses["offset_commits"] = [OffsetCommits.of(row_of_run(run, "c")) for run in found.runs]
    clients = None if "clients" in without else folder / "clients"
    tables = judged_folder(folder / "logs", clients=clients, **witnesses)
    return grouped(tables["gold.offset_jumps"], lambda j: j.group_id)


def at(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


def mark(seconds: float, sign: Sign, offset: int | None = None, client: str | None = "a", **facts: Any) -> Mark:
    """One mark, of the log of its client."""
    quote = Quote(line_id=f"{sign.name}-{seconds}", source=f"{client}.log", happened_at=at(seconds), text=sign.name)
    return Mark(at(seconds), sign, quote, offset, client, log=f"{client}.log", **facts)


def recorded(seconds: float, sign: Sign, offset: int | None = None, **facts: Any) -> Mark:
    """One mark by a record of `__consumer_offsets`."""
    shown = mark(seconds, sign, offset, **facts)
    return replace(shown, quote=replace(shown.quote, source="__consumer_offsets-1@7"))


def event(seconds: float, kind: Kind, client: str = "a", **columns: Any) -> Any:
    """One line of a client's log."""
    return row(
        Event.TABLE, line_id=f"{kind}-{seconds}", happened_at=at(seconds), kind=kind, source=f"{client}.log",
        client_id=client, origin="client", **columns,
    )  # fmt: skip


GIVES_BACK = (
    event(30, Kind.CLIENT_REVOKED, detail="orders-0"),
    event(
        30, Kind.CLIENT_JOIN_REQUESTED, reason="need to revoke partitions [orders-0] as indicated and re-join", order=2
    ),
)
"""A member gives a partition back when it has joined with a cooperative assignor."""


def began(seconds: float, offset: int, reason: str = "") -> LogStart:
    """A line by which the log begins at an offset."""
    quote = Quote(line_id=f"start-{seconds}", source="broker-1/server.log", happened_at=at(seconds), text="Incremented")
    return LogStart(KEY, at(seconds), offset, reason, quote)


def removal(seconds: float, kind: Kind, is_named: bool = True) -> Removal:
    """A coordinator's line about offsets that are gone."""
    quote = Quote(line_id=f"{kind}-{seconds}", source="broker-1/server.log", happened_at=at(seconds), text=kind)
    return Removal(kind, at(seconds), quote, is_named)


def ended(seconds: float, offset: int) -> Any:
    """A reading that shows where the log ends."""
    return row(OffsetSnapshot.TABLE, snapshot_at=at(seconds), topic=KEY[0], partition=KEY[1], end_offset=offset)


def owned(since: float, until: float, member: str = "a-1") -> Any:
    """One ownership of the partition."""
    return row(
        Ownership.TABLE, topic=KEY[0], partition=KEY[1], member_id=member, client_id=member[:1], valid_from=at(since),
        valid_to=at(until),
    )  # fmt: skip


def moves(
    *marks: Mark,
    starts: Iterable[LogStart] = (),
    ends: Iterable[OffsetSnapshot] = (),
    lines: Iterable[Event] = (),
    owners: Iterable[Ownership] = (),
    removals: Sequence[Removal] = (),
    rebalances: Iterable[float] = (),
    log: LogHistory | None = None,
    has_commits: bool = False,
    clients_without_auto_commit: Sequence[str] = (),
) -> list[Move]:
    """The moves that marks of one partition show."""
    settings = [row(MemberSetting.TABLE, client_id=c, is_auto_commit=False) for c in clients_without_auto_commit]
    history = log or LogHistory(Timeline(starts, lambda s: s.at), LogChanges().of(KEY).cuts)
    return PartitionPass(
        PartitionWitnesses(
            "orders-group",
            KEY,
            sorted(marks, key=lambda m: (m.at, m.sign)),
            history,
            LogEnds(ends),
            Endings(lines, (), settings),
            Intervals(Interval(o.valid_from, o.valid_to, o) for o in owners),
            instants(map(at, rebalances)),
            removals,
            has_commits,
        )
    ).moves()
