"""How long rebalances took: each row of an audit is held against what the members of its group printed.

Run it with `python -m lab.drill.calibration --durations FOLDER...`.

A folder is a drill's or a recording's, with lake/. A member prints each call of its rebalance listener into
clients/ID.out: milliseconds since 1970, `assigned`, `revoked`, `lost` or `closed`, and partitions.
"""

from __future__ import annotations

import json
import re
import statistics
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog.codes import Outcome, Protocol
from kafka_hindsight.shared.durations import MS, NEVER
from kafka_hindsight.shared.grouping import grouped
from lab.drill.rows import GoldRow, read_gold

ASSIGNED, REVOKED, LOST, CLOSED = "assigned", "revoked", "lost", "closed"
_GIVES_UP = (REVOKED, LOST, CLOSED)
_SILENCES = ("member_kill9", "member_sigstop")
"""The acts after which a member consumes nothing, and prints nothing about it."""

ANSWER = timedelta(milliseconds=300)
"""A member prints at most so much later what its coordinator wrote: an answer lies between, and its poll. Where the
coordinator assigns, so much later than its own log, too: another thread prints at its next poll."""
TICK = timedelta(milliseconds=50)
"""A member prints a call of its listener at most so long after it began."""


@dataclass(frozen=True)
class Call:
    """One call of a member's rebalance listener. `partitions`: None of `closed`, which gives up all."""

    at: datetime
    client: str
    what: str
    partitions: frozenset[str] | None

    def names(self, partition: str) -> bool:
        """Whether it is about this partition."""
        return self.partitions is None or partition in self.partitions


@dataclass(frozen=True)
class Duration:
    """One rebalance, as its row and its members have it.

    `start_ms`: how long after the row's start the first member that stayed gave up partitions. `end_ms`: how long after
    the row's end the last member had its assignment. `idle_seconds`: the partition-seconds between the row's start and
    end in which no member held a partition. None: no member printed it, or the row does not name it.
    """

    row: GoldRow
    library: str
    partitions: int
    start_ms: int | None
    end_ms: int | None
    idle_seconds: float | None

    @property
    def is_start_inside(self) -> bool:
        """Whether no member gave up partitions before the rebalance began, or after it was over."""
        length, slack = self.row["duration_ms"], ANSWER / MS
        return (
            self.start_ms is not None
            and -slack <= self.start_ms
            and (length is None or self.start_ms <= length + slack)
        )

    @property
    def is_end_inside(self) -> bool:
        """Whether the last assignment came at the row's end."""
        return self.end_ms is not None and abs(self.end_ms) <= ANSWER / MS

    @property
    def is_cost_inside(self) -> bool:
        """Whether the partition-seconds lie within the row's bounds."""
        low, high = self.row["partition_seconds_low"], self.row["partition_seconds"]
        tick = TICK if self.row["protocol"] == Protocol.CLASSIC else ANSWER
        tolerance = self.partitions * tick.total_seconds()
        return self.idle_seconds is not None and (low or 0) - tolerance <= self.idle_seconds <= high + tolerance


@dataclass(frozen=True)
class DurationCounts:
    """The rebalances of one recording, protocol and client library.

    Of starts, ends and costs: how many are compared, how many are inside, and how far the members' instant lies from
    the row's, in milliseconds, in the middle and at most. Of costs: how far the bounds lie apart, in partition-seconds.
    """

    name: str
    kafka: str
    mode: str
    protocol: str
    library: str
    rebalances: int
    without_end: int
    starts: int
    starts_inside: int
    start_middle: float
    start_most: float
    ends: int
    ends_inside: int
    end_middle: float
    end_most: float
    costs: int
    costs_inside: int
    width_middle: float
    width_most: float


HEADS = (
    "recording",
    "Kafka",
    "protocol",
    "clients",
    "rebalances",
    "starts inside: middle, most",
    "ends inside: middle, most",
    "without an end",
    "costs inside: width in the middle, at most",
)


def read_calls(text: str, client: str) -> Iterator[Call]:
    """The calls in what a member printed; its other lines are left out."""
    for line in text.splitlines():
        at, _, rest = line.partition(" ")
        what, _, names = rest.partition(" ")
        if at.isdecimal() and what in (ASSIGNED, *_GIVES_UP):
            partitions = None if what == CLOSED else frozenset(re.findall(r"[\w.-]+-\d+", names))
            yield Call(datetime.fromtimestamp(0, UTC) + int(at) * MS, client, what, partitions)


@dataclass(frozen=True)
class _Group:
    """A group of which each member printed its calls.

    `silences`: when members were killed or suspended; `births`: when the processes of members began.
    """

    rows: Sequence[GoldRow]
    calls: Sequence[Call]
    silences: Mapping[str, Sequence[datetime]]
    births: Mapping[str, Sequence[datetime]]
    library: str

    def durations(self) -> Iterator[Duration]:
        starts = [r["started_at"] for r in self.rows]
        calls = grouped(self.calls, lambda c: self._place(c, starts))
        partitions: set[str] = set()
        for place, row in enumerate(self.rows):
            own = calls.get(place, ())
            partitions.update(p for c in own if c.what == ASSIGNED for p in c.partitions or ())
            end = row["ended_at"]
            yield Duration(
                row,
                self.library,
                len(partitions),
                _ms_between(row["started_at"], self._first_given_up(own)),
                _ms_between(end, _last_assigned(own, row)),
                None
                if end is None or not partitions
                else sum(self._idle_seconds(p, row["started_at"], end) for p in partitions),
            )

    def _place(self, call: Call, starts: Sequence[datetime]) -> int:
        """The rebalance to which a call belongs: the last that had begun, or the one before, whose answer it is.

        The member that begins one gives its partitions up first.
        """
        place = bisect_right(starts, call.at) - 1
        if self._answer_to(call) and bisect_right(starts, call.at + ANSWER) - 1 > place:
            return place + 1
        if place > 0 and call.what == ASSIGNED and self.rows[place]["protocol"] == Protocol.CLASSIC:
            end, former = self.rows[place]["ended_at"], self.rows[place - 1]["ended_at"]
            if (end is None or end > call.at) and former is not None and former <= call.at <= former + ANSWER:
                return place - 1
        return place

    def _first_given_up(self, calls: Iterable[Call]) -> datetime | None:
        """When the first member that stayed gave up partitions; what one that goes does comes before the rebalance."""
        return min((c.at for c in calls if self._answer_to(c)), default=None)

    def _answer_to(self, call: Call) -> Call | None:
        """The assignment that a member got for what it gave up; None of another call, or where its process ended."""
        later = (c for c in self.calls if c.client == call.client and c.at > call.at)
        answer = next(later, None) if call.what == REVOKED else None
        if answer is None or answer.what != ASSIGNED:
            return None
        was_started = any(call.at < at < answer.at for at in self.births[call.client])
        return None if was_started else answer

    @cached_property
    def _spans(self) -> Mapping[str, list[tuple[datetime, datetime]]]:
        """By partition, when members held it."""
        partitions = {p for c in self.calls if c.what == ASSIGNED for p in c.partitions or ()}
        return {p: list(self._holdings(p)) for p in sorted(partitions)}

    def _holdings(self, partition: str) -> Iterator[tuple[datetime, datetime]]:
        owner: Call | None = None
        for call in (c for c in self.calls if c.names(partition)):
            if call.what == ASSIGNED:
                if owner:
                    yield owner.at, self._silent_at(owner, call.at, self._removed_at(owner, call.at))
                owner = call
            elif owner and call.client == owner.client:
                yield owner.at, self._silent_at(owner, call.at, call.at)
                owner = None
        if owner:
            yield owner.at, self._silent_at(owner, NEVER, NEVER)

    def _silent_at(self, owner: Call, until: datetime, otherwise: datetime) -> datetime:
        """When the holder of a partition was killed or suspended, where it was."""
        return next((at for at in self.silences.get(owner.client, ()) if owner.at <= at <= until), otherwise)

    def _removed_at(self, owner: Call, until: datetime) -> datetime:
        """The start of the rebalance that gave a partition to another member, without a word of the former one."""
        return max((r["started_at"] for r in self.rows if owner.at <= r["started_at"] <= until), default=until)

    def _idle_seconds(self, partition: str, start: datetime, end: datetime) -> float:
        """The seconds within a rebalance in which no member held a partition."""
        held = sum(max((min(b, end) - max(a, start)).total_seconds(), 0) for a, b in self._spans[partition])
        return float((end - start).total_seconds() - held)


def _last_assigned(calls: Iterable[Call], row: GoldRow) -> datetime | None:
    """When the last member had its assignment.

    A generation assigns once: a member that joins again without a rebalance gets the same. An epoch assigns in steps.
    """
    by_client: dict[str, datetime] = {}
    for call in calls:
        if call.what == ASSIGNED and (row["protocol"] != Protocol.CLASSIC or call.client not in by_client):
            by_client[call.client] = call.at
    is_over = row["outcome"] in (Outcome.COMPLETED, Outcome.UNFINISHED)
    return max(by_client.values(), default=None) if is_over else None


def _ms_between(start: datetime | None, end: datetime | None) -> int | None:
    return None if start is None or end is None else round((end - start) / MS)


def durations_of(
    rows: Iterable[GoldRow], acts: Sequence[Mapping[str, Any]], calls: Mapping[str, Sequence[Call]]
) -> Iterator[Duration]:
    """The rebalances of the groups of which each member printed its calls.

    `acts` are the lines of the truth, `calls` those of each client.
    """
    starts = grouped((a for a in acts if a["action"] == "member_start"), lambda a: str(a["group"]))
    silences, births = _instants(acts, _SILENCES), _instants(acts, ("member_start",))
    by_group = grouped(rows, lambda r: str(r["group_id"]))
    for group, members in sorted(starts.items()):
        clients = {str(a["client"]) for a in members}
        if group in by_group and all(calls.get(c) for c in clients):
            library = " and ".join(sorted({_library(a) for a in members}))
            ordered = sorted((c for client in clients for c in calls[client]), key=lambda c: c.at)
            in_order = sorted(by_group[group], key=lambda r: (r["started_at"], r["from_generation"] or 0))
            yield from _Group(in_order, ordered, silences, births, library).durations()


def _instants(acts: Iterable[Mapping[str, Any]], actions: Sequence[str]) -> Mapping[str, Sequence[datetime]]:
    """The instants of some acts, by client."""
    instants = defaultdict(list)
    for act in acts:
        if act["action"] in actions:
            instants[str(act["client"])].append(datetime.fromisoformat(act["at"]))
    return instants


def _library(act: Mapping[str, Any]) -> str:
    """The client library of a member, as a drill names it, or a recording of before."""
    return str(act.get("library") or ("librdkafka" if act.get("librdkafka") else "java"))


def of_folder(folder: Path) -> list[Duration]:
    """The rebalances of a folder's audit; none where no member printed its calls. Raises OSError, TruthError."""
    calls = {
        path.stem: list(read_calls(path.read_text(encoding="utf-8"), path.stem))
        for path in (folder / "clients").rglob("*.out")
    }
    if not calls:
        return []
    rows = read_gold(str(folder / "lake"), ("rebalances",), needed="rebalances")["rebalances"]
    acts = [json.loads(line) for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    return list(durations_of(rows, acts, calls))


def counts_of(folder: Path, durations: Iterable[Duration]) -> Iterator[DurationCounts]:
    """The counts of a folder by protocol and client library."""
    cluster = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))
    by_kind = grouped(durations, lambda d: (str(d.row["protocol"]), d.library))
    for (protocol, library), own in sorted(by_kind.items()):
        starts = [d for d in own if d.start_ms is not None]
        ends = [d for d in own if d.end_ms is not None]
        costs = [d for d in own if d.idle_seconds is not None and d.row["partition_seconds"] is not None]
        widths = [d.row["partition_seconds"] - (d.row["partition_seconds_low"] or 0) for d in costs]
        start_lengths, end_lengths = [d.start_ms or 0 for d in starts], [d.end_ms or 0 for d in ends]
        yield DurationCounts(
            folder.name,
            cluster["kafka"],
            cluster["mode"],
            protocol,
            library,
            len(own),
            sum(d.row["ended_at"] is None for d in own),
            len(starts),
            sum(d.is_start_inside for d in starts),
            *_middle_and_most(start_lengths),
            len(ends),
            sum(d.is_end_inside for d in ends),
            *_middle_and_most(end_lengths),
            len(costs),
            sum(d.is_cost_inside for d in costs),
            *(round(w, 1) for w in _middle_and_most(widths)),
        )


def _middle_and_most(values: Sequence[float]) -> tuple[float, float]:
    """The median and the value farthest from 0."""
    return (statistics.median_high(values), max(values, key=abs)) if values else (0, 0)


def duration_rows(counts: Iterable[DurationCounts]) -> Iterator[tuple[str, ...]]:
    """The cells of the table: one row for each recording, protocol and library."""
    for c in counts:
        yield (
            c.name,
            f"{c.kafka} {c.mode}",
            c.protocol,
            c.library,
            str(c.rebalances),
            _compared(c.starts_inside, c.starts, f"{c.start_middle} ms, {c.start_most} ms"),
            _compared(c.ends_inside, c.ends, f"{c.end_middle} ms, {c.end_most} ms"),
            str(c.without_end),
            _compared(c.costs_inside, c.costs, f"{c.width_middle}, {c.width_most}"),
        )


def _compared(inside: int, compared: int, distances: str) -> str:
    return f"{inside} of {compared}: {distances}" if compared else ""


def read_counts(text: str) -> list[DurationCounts]:
    """The counts of the file that keeps them."""
    return [DurationCounts(**json.loads(line)) for line in text.splitlines()]


def with_counts(before: Iterable[DurationCounts], new: Iterable[DurationCounts]) -> str:
    """The file that keeps the counts, in the order of names, with new ones in place of those of the same folder."""
    latest = list(new)
    names = {c.name for c in latest}
    counts = [c for c in before if c.name not in names] + latest
    return "".join(json.dumps(asdict(c)) + "\n" for c in sorted(counts, key=lambda c: (c.name, c.protocol, c.library)))
