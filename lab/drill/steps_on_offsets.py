"""The steps of a scenario on the offsets of a group: nothing but data, as in lab.drill.steps.

Each is about partition 0 of a topic, whose records the drill counts: it has no canaries. Members that trace
(`Start.traces`) print what they read, and what follows for the group is read from that.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.drill.steps import DrillStep


@dataclass(frozen=True, kw_only=True)
class OnOffsets(DrillStep):
    """Done to partition 0 of a topic, or to the group's offsets of it."""

    topic: str = "t"


@dataclass(frozen=True, kw_only=True)
class HasRead(OnOffsets):
    """Wait until the group has read every record below an offset, as a member printed it. None: up to the end."""

    upto: int | None = None
    within: float = 60


@dataclass(frozen=True, kw_only=True)
class Committed(OnOffsets):
    """Wait until the group has committed just this offset."""

    offset: int
    within: float = 40


@dataclass(frozen=True, kw_only=True)
class DeleteRecords(OnOffsets):
    """An administrator deletes the records below an offset."""

    below: int


@dataclass(frozen=True, kw_only=True)
class LogBegins(OnOffsets):
    """Wait until retention has deleted every record below an offset."""

    at: int
    within: float = 90


@dataclass(frozen=True, kw_only=True)
class OffsetsExpire(OnOffsets):
    """Wait until brokers have forgotten the group's offset: it had no member for longer than they keep offsets."""

    within: float = 300


@dataclass(frozen=True, kw_only=True)
class DeleteGroup(OnOffsets):
    """An administrator deletes the group."""


@dataclass(frozen=True, kw_only=True)
class DeleteOffsets(OnOffsets):
    """An administrator deletes the group's offset."""


@dataclass(frozen=True, kw_only=True)
class ResetOffsets(OnOffsets):
    """An administrator gives the group another offset."""

    to: int


@dataclass(frozen=True, kw_only=True)
class Seek(OnOffsets):
    """The application of a Java member goes on from another offset."""

    member: str
    to: int


@dataclass(frozen=True, kw_only=True)
class HoldPartition(OnOffsets):
    """The application of the Java member that owns the partition reads it no further, and stays in the group."""


@dataclass(frozen=True, kw_only=True)
class LetGo(OnOffsets):
    """That member reads the partition on."""


@dataclass(frozen=True, kw_only=True)
class Pace(OnOffsets):
    """A Java member takes so long after each poll."""

    member: str
    ms: int


@dataclass(frozen=True, kw_only=True)
class Jumped(OnOffsets):
    """The group went on at `offset_to`, though it had come to `offset_from`, as its members printed it.

    `cause`: the code that the audit should name; `is_exact`: it has evidence of both offsets.
    """

    offset_from: int
    offset_to: int
    cause: str
    is_exact: bool = True
    within: float = 60
    expect: str | None = "records_skipped"


@dataclass(frozen=True, kw_only=True)
class Stood(OnOffsets):
    """No member printed a record of the partition since the last act of that name, though records came.

    `cause`: the kind that the audit should name.
    """

    since: str
    cause: str
    expect: str | None = "partition_stood"


@dataclass(frozen=True, kw_only=True)
class NeverStood(OnOffsets):
    """Nothing held the group up: it read, or it had no member, or there was nothing to read."""

    expect: str | None = "no_stall"


@dataclass(frozen=True, kw_only=True)
class FellBack(OnOffsets):
    """Between the last two paces of a member its lag grew by so many records at least; then it caught up."""

    by: int = 100
    expect: str | None = "partition_fell_behind"


@dataclass(frozen=True, kw_only=True)
class Billed(OnOffsets):
    """How many records of the topic, of all partitions, the group read again and skipped, as its members printed it."""

    expect: str | None = "records_billed"
