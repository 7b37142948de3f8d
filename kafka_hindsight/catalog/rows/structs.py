"""Structs that rows hold. In the lake every field of them may be null; a row has those without a default."""

from datetime import datetime

from kafka_hindsight.catalog.codes import Cause, ClockMeaning
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.row import Long, Row, struct


@struct
class Quote(Row):
    """One piece of evidence: a line, a snapshot or a row of coverage, in words.

    `kind`: the kind of event that a line shows; null where the text is in our words.
    """

    line_id: str
    source: str
    happened_at: datetime
    text: str
    kind: Kind | None = None


@struct
class ClusterNaming(Row):
    """The lines of a file that name one cluster id: the instants of the first and the last, and how many they are."""

    cluster_id: str
    first_at: datetime | None = None
    last_at: datetime | None = None
    line_count: int


@struct
class ClockStep(Row):
    """A step of a log's clock, between two lines; up to `placed_at` only the order of the lines is known."""

    meaning: ClockMeaning
    before_at: datetime
    after_at: datetime
    placed_at: datetime | None = None
    before: str
    after: str


@struct
class RepeatedHour(Row):
    """The records of a log in an hour of local time that comes twice, by instants of the first of the two."""

    first_at: datetime
    last_at: datetime
    record_count: int


@struct
class Contributor(Row):
    """An act of another member that fell into the same rebalance."""

    client_id: str | None = None
    instance_id: str | None = None
    member_id: str | None = None
    cause: Cause
    at: datetime


@struct
class Delay(Row):
    """A member that the whole group waited for."""

    client_id: str | None = None
    member_id: str | None = None
    waited_ms: Long


@struct
class SettingChange(Row):
    """A setting that would help a group: its value now, and the new one.

    `paste`: the setting as it is written, in `place`; null where each member has another value. `command` sets one of a
    group. `gain`: what it would have gained, `how`: how it is rolled out.
    """

    key: str
    value_now: str | None = None
    value_new: str
    paste: str | None = None
    place: str
    gain: str | None = None
    how: str | None = None
    command: str | None = None


@struct
class RestartStep(Row):
    """One broker's stop in a rolling restart."""

    broker: int
    outage_id: str
    kind: str
    down_at: datetime
    up_at: datetime | None = None
    isr_recovered_ms: Long | None = None
    leadership_restored_ms: Long | None = None
    is_early: bool | None = None
    partitions_led_before: int | None = None
    elections: int


@struct
class TopicPartition(Row):
    """A partition."""

    topic: str
    partition: int


@struct
class OwnedPartition(Row):
    """A partition of a topic that is known by its id."""

    topic_id: str
    topic: str | None = None
    partition: int


@struct
class RecordedMember(Row):
    """A member of a generation, as a group record shows it."""

    member_id: str
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rebalance_timeout_ms: Long | None = None
    session_timeout_ms: Long | None = None
    subscription: list[str] | None = None
    assignment: list[TopicPartition] | None = None


@struct
class MissingPart(Row):
    """A part of a reading that did not answer."""

    part: str
    reason: str


@struct
class RecordCount(Row):
    """How many records of one type."""

    record_type: str
    count: Long


@struct
class DayCount(Row):
    """How many records of one day."""

    day: str
    records: Long


@struct
class OffsetSpan(Row):
    """A stretch of a log."""

    first_offset: Long
    next_offset: Long
