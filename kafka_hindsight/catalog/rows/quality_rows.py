"""Quality: what could be read, what could not, and what was checked. Written even when gold is refused."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import (
    CheckSeverity,
    Harm,
    InputKind,
    MetadataRecordType,
    RowChange,
    WitnessGap,
    WitnessKind,
)
from kafka_hindsight.catalog.row import Earlier, Lines, Long, Millis, Records, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import ClusterName, LineOrigin
from kafka_hindsight.catalog.rows.structs import DayCount, OffsetSpan, Quote
from kafka_hindsight.catalog.table_model import Check

_LINES_BALANCE = Check(
    "lines_balance",
    "lines_in = events + ignored + unparsed + quarantined",
    "every physical line is accounted for",
)


@table("quality.coverage", key=("cluster", "source", "window_from"), time_column="window_from")
class Coverage(Row):
    """One source in one window."""

    cluster: ClusterName
    source: Annotated[str, "Folder and log as seen from the LOGS root"]
    origin: LineOrigin
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    lines_in: Annotated[Lines, "Physical lines; one that several files hold, as a copy does, counts once"]
    events: Annotated[Lines, "Physical lines of records that became events"]
    ignored: Annotated[Lines, "Physical lines of records known to carry nothing we use"]
    unparsed: Annotated[Lines, "Physical lines that matter and that no pattern claims"]
    quarantined: Annotated[Lines, "Physical lines that are broken"]
    first_at: Annotated[datetime | None, "Instant of the first record"] = None
    last_at: Annotated[datetime | None, "Instant of the last record"] = None
    longest_silence_ms: Annotated[Millis | None, "Longest time without a record"] = None
    replaced_lines: Annotated[
        Lines | None,
        "Physical lines of records with bytes that are not UTF-8: a mark stands for each such byte",
    ] = None
    layouts: Annotated[
        list[str] | None,
        "Layouts of its records, with the envelopes around them, as in docker>strimzi",
    ] = None

    CHECKS = (_LINES_BALANCE,)


@table("quality.parsed_hours", key=("cluster", "source", "hour_from"), time_column="hour_from")
class ParsedHour(Row):
    """One log in one hour, or in a part of it that a window cuts off: what is known here is not parsed again."""

    cluster: ClusterName
    source: Annotated[str, "Folder and log as seen from the LOGS root"]
    origin: LineOrigin
    hour_from: Annotated[datetime, "First instant of the hour, or of the part of it"]
    hour_to: Annotated[datetime, "Its end"]
    records: Annotated[Records, "Records that bronze held of it"]
    lines_in: Annotated[Lines, "Physical lines; one that several files hold, as a copy does, counts once"]
    events: Annotated[Lines, "Physical lines of records that became events"]
    ignored: Annotated[Lines, "Physical lines of records known to carry nothing we use"]
    unparsed: Annotated[Lines, "Physical lines that matter and that no pattern claims"]
    quarantined: Annotated[Lines, "Physical lines that are broken"]
    first_at: Annotated[datetime, "Instant of the first record"]
    last_at: Annotated[datetime, "Instant of the last record"]
    longest_silence_ms: Annotated[Millis | None, "Longest time without a record between these"] = None
    replaced_lines: Annotated[
        Lines | None,
        "Physical lines of records with bytes that are not UTF-8: a mark stands for each such byte",
    ] = None
    lowest_broker: Annotated[int | None, "The least broker that its lines name as their writer"] = None
    highest_broker: Annotated[int | None, "The greatest"] = None
    unnamed_events: Annotated[Records, "Records that became events and name no writer"]
    layouts: Annotated[
        list[str] | None,
        "Layouts of its records, with the envelopes around them, as in docker>strimzi",
    ] = None
    loggers: Annotated[
        list[str] | None,
        "The levels and loggers of its records, each pair once, as in INFO GroupCoordinator; of brokers alone, and"
        " without a name where no line of the logger is ever an event",
    ] = None
    given_broker: Annotated[
        int | None,
        "The one broker that the log's lines named when this was parsed; null for none",
    ] = None
    parsed_as: Annotated[str, "Hash of what is known of lines; an hour with another one is parsed again"]

    CHECKS = (_LINES_BALANCE,)


@table("quality.unparsed_lines", key=("line_id",), time_column="happened_at")
class UnparsedLine(Row):
    """One record that matters and that no pattern claims."""

    line_id: Annotated[str, "The record"]
    cluster: ClusterName
    source: Annotated[str, "Folder and log as seen from the LOGS root"]
    happened_at: Annotated[datetime | None, "The instant in its head; null before a file's first head"] = None
    logger: Annotated[str | None, "Its logger; null where none was found"] = None
    template: Annotated[str, "The text with names and numbers masked, so that one shape counts as one"]
    line_count: Annotated[int, "Physical lines of the record", Unit("lines")]
    text: Annotated[str, "First line of the record, cut at 2,000 characters"]


@table("quality.quarantine", key=("quarantine_id",), time_column="happened_at")
class Quarantine(Row):
    """One record, file or snapshot line that is broken."""

    quarantine_id: Annotated[str, "Hash of what it is"]
    cluster: ClusterName
    source: Annotated[str, "Where it was read"]
    happened_at: Annotated[datetime | None, "Its instant, where it has one"] = None
    line_count: Annotated[int, "Physical lines", Unit("lines")]
    row: Annotated[str, "What was read, cut at 2,000 characters"]
    sentences: Annotated[list[str], "What is wrong with it, in sentences"]


@table(
    "quality.generation_gaps",
    key=("cluster", "group_id", "after_generation", "next_generation", "seen_at"),
    time_column="seen_at",
)
class GenerationGap(Row):
    """One break in the generations, or epochs, of one group."""

    cluster: ClusterName
    group_id: Annotated[str, "Consumer group"]
    after_generation: Annotated[int, "Last generation seen before the break"]
    next_generation: Annotated[int, "First generation seen after it"]
    seen_at: Annotated[datetime, "When the later one was seen"]
    previous_seen_at: Annotated[
        datetime | None, "When the earlier one was seen last before that; null where no line names it"
    ] = None
    explained_by: Annotated[str | None, "Why it broke; null where the evidence is lost"] = None
    evidence: Annotated[list[Quote], "The line that shows the later one"]


@table(
    "quality.leadership_gaps",
    key=("cluster", "topic", "partition", "topic_incarnation", "next_epoch"),
    time_column="seen_at",
)
class LeadershipGap(Row):
    """One break in the leader epochs of one partition."""

    cluster: ClusterName
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    topic_incarnation: Annotated[int, "How often its leader epochs had begun again, as far as the records show"]
    after_epoch: Annotated[int, "Last leader epoch known before the break"]
    next_epoch: Annotated[int, "First leader epoch known after it"]
    leader_before: Annotated[int, "Leader before; -1: none"]
    leader_after: Annotated[int, "Leader after; -1: none"]
    seen_at: Annotated[datetime, "When the later one was seen"]
    explained_by: Annotated[
        str | None, "What else raised the epoch; null where not known: a change of leader may lie in it"
    ] = None
    explanation: Annotated[str, "What is known and what is possible, in one sentence"]
    evidence: Annotated[list[Quote], "The lines on both sides of the break, and those that explain it"]


@table("quality.unobserved_spans", key=("unobserved_span_id",), time_column="first_at")
class UnobservedSpan(Row):
    """One span of one broker of which nothing shows whether it served."""

    cluster: ClusterName
    unobserved_span_id: Annotated[str, "Hash of what it is"]
    broker: Annotated[int, "Broker id"]
    first_at: Annotated[datetime, "From when on no log of the time is at hand"]
    last_at: Annotated[datetime, "Until when"]
    explanation: Annotated[str, "What is not known, in one sentence"]
    evidence: Annotated[list[Quote], "The last proof of its life before, and the first one after"]


@table("quality.witnesses", key=("cluster", "broker", "kind", "first_at"), time_column="first_at")
class Witness(Row):
    """Whether the logs of one broker could show one kind of event, in one hour or in a part of it."""

    cluster: ClusterName
    broker: Annotated[int | None, "Broker id; null where no line and no folder shows which broker wrote the log"] = None
    kind: Annotated[WitnessKind, "What the logs show"]
    first_at: Annotated[datetime, "From when on"]
    last_at: Annotated[datetime, "Until when"]
    gap: Annotated[WitnessGap | None, "Why they could not; null where they could"] = None
    loggers: Annotated[list[str] | None, "The loggers of which a line is missing; null where none is"] = None
    level: Annotated[str | None, "The least level of which the logs have a line; null where they have none"] = None
    was_there: Annotated[bool, "Whether the logs of the week before the window could show such events"]


@table("quality.input_spans", key=("cluster", "input", "first_at"), time_column="first_at")
class InputSpan(Row):
    """Whether one input beside the brokers' logs was read, in one part of the window."""

    cluster: ClusterName
    input: Annotated[InputKind, "The input"]
    first_at: Annotated[datetime, "From when on"]
    last_at: Annotated[datetime, "Until when"]
    is_read: Annotated[bool, "Whether it was read; elsewhere what rests on it alone is not known"]

    CHECKS = (Check("ends_after_start", "last_at > first_at", "a part of the window is not empty"),)


@table("quality.publications", key=("cluster", "window_from", "window_to", "table", "run_id"))
class Publication(Row):
    """One gold table published for one window."""

    cluster: ClusterName
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    table: Annotated[str, "The gold table"]
    version: Annotated[Long, "Its Delta version after the publication"]
    row_count: Annotated[Long, "Rows of the window"]
    run_lake_version: Annotated[
        int | None, "Version of the lake as the run wrote it; null for a run of a version before 10"
    ] = None
    run_id: Annotated[str, "The run that published it"]
    run_published_at: Annotated[datetime, "When"]


@table("quality.validation_results", key=("run_id", "cluster", "window_from", "window_to", "table", "expectation"))
class ValidationResult(Row):
    """One expectation checked in one window by one run."""

    run_id: Annotated[str, "The run"]
    cluster: ClusterName
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    table: Annotated[str, "The table that was checked"]
    expectation: Annotated[str, "The expectation, by its name"]
    description: Annotated[str, "What it expects, in words"]
    severity: Annotated[CheckSeverity, "Whether it gates the publication"]
    success: Annotated[bool, "Whether nothing breaks it"]
    is_vacuous: Annotated[
        bool | None,
        "Whether the table had no row to judge; null in rows of an earlier version",
    ] = None
    observed: Annotated[str | None, "What was observed"] = None
    unexpected_count: Annotated[Long | None, "Rows that break it"] = None
    sentences: Annotated[list[str] | None, "The breach in sentences that name rows; null where it held"] = None
    run_checked_at: Annotated[datetime, "When"]


@table("quality.withheld_rows", key=("run_id", "table", "withheld_row_id"))
class WithheldRow(Row):
    """One row that breaks a law of ours, and that one run left out of gold."""

    run_id: Annotated[str, "The run"]
    cluster: ClusterName
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    table: Annotated[str, "The gold table that the row is of"]
    withheld_row_id: Annotated[str, "Hash of the row"]
    happened_at: Annotated[datetime | None, "Its instant; null where it has none"] = None
    row: Annotated[str, "The row as JSON, cut at 2,000 characters"]
    sentences: Annotated[list[str], "The laws that it breaks, in words"]
    run_withheld_at: Annotated[datetime, "When"]


@table("quality.nights", key=("cluster", "window_from"), time_column="window_from")
class NightSummary(Row):
    """One published window as its report sums it up."""

    cluster: ClusterName
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    state: Annotated[str, "What it asks of its reader: act, look or calm"]
    harm: Annotated[Harm | None, "The gravest thing that happened; null where nothing asks to act or look"] = None
    headline: Annotated[str | None, "The incident that did it, in one line"] = None
    incident_id: Annotated[str | None, "Its id"] = None
    incidents: Annotated[int, "Incidents that ask to act or look"]
    not_known: Annotated[
        list[str],
        "The harms that some logs could not show, at some time: a count of them is a lower bound, and null where it is"
        " zero. All of them in a row of an earlier version, which did not ask: its zeros may have been seen or not",
        Earlier(tuple(Harm)),
    ]
    records_lost_low: Annotated[Records | None, "Committed records lost, at least; null where it is not known"] = None
    records_lost_high: Annotated[Records | None, "At most; null where nothing bounds it"] = None
    records_skipped_low: Annotated[
        Records | None, "Records that groups skipped, at least; null where no evidence shows any"
    ] = None
    records_read_again_low: Annotated[
        Records | None, "Records that groups read a second time, at least; null where no evidence shows any"
    ] = None
    partitions_offline: Annotated[
        int | None, "Partitions without a leader for a second or longer; null where it is not known"
    ] = None
    partitions_still_offline: Annotated[int | None, "Of these, those without one when the logs end"] = None
    offline_ms: Annotated[Millis | None, "The longest of these times; where it was not over, at least"] = None
    offline_partition_seconds: Annotated[
        float | None,
        "What these times add up to; null where there is none, and logs could not show each",
        Unit("partition-seconds"),
    ] = None
    partitions_refusing: Annotated[
        int | None,
        "Partitions that took no writes with acks=all for a second or longer",
    ] = None
    sudden_absences: Annotated[int | None, "Absences of brokers without a controlled shutdown"] = None
    orderly_absences: Annotated[int | None, "Absences of brokers after a controlled shutdown"] = None
    groups_stopped: Annotated[
        int | None,
        "Groups none of whose members consumed for a second or longer, since something failed; not those whose last"
        " member may only have closed",
    ] = None
    findings_critical: Annotated[int, "Critical findings"]
    findings_warning: Annotated[int, "Findings that warn"]
    findings_info: Annotated[int, "Findings for information"]
    gaps: Annotated[int, "Findings about what could not be seen"]
    lines_in: Annotated[Lines, "Physical lines; one that several files hold, as a copy does, counts once"]
    lines_unread: Annotated[Lines, "Physical lines that no pattern claims or that are broken"]
    rebalances: Annotated[int, "Rebalances; at least, where `not_known` has consumers_stopped"]
    partition_seconds: Annotated[
        float | None,
        "Their cost at most, as far as it is known; null where the cost of none is",
        Unit("partition-seconds"),
    ] = None
    page: Annotated[str, "The name of its report in the lake's folder report"]
    run_id: Annotated[str, "The run that wrote the report"]
    run_published_at: Annotated[datetime, "When"]

    CHECKS = (
        Check("loss_bounded", "records_lost_low <= records_lost_high", "a lower bound is not above the upper"),
        Check("state_is_known", "state IN ('act', 'look', 'calm')", "the states of a report"),
        Check(
            "worst_is_whole", "(harm IS NULL) = (headline IS NULL)", "the gravest incident has a harm and a headline"
        ),
    )


@table("quality.verdict_changes", key=("run_id", "cluster", "table", "row_id"))
class VerdictChange(Row):
    """One verdict that is another with today's knowledge and records, as one reclassification found it."""

    cluster: ClusterName
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    table: Annotated[str, "The gold table"]
    row_id: Annotated[str, "The id of its row"]
    subject: Annotated[str, "The group, partition or broker it is about; of an incident its kind"]
    happened_at: Annotated[datetime, "When it began"]
    change: Annotated[RowChange, "What became of it"]
    verdict_before: Annotated[str | None, "Its cause or kind as it was published; null where it appeared"] = None
    verdict_after: Annotated[str | None, "Its cause or kind now; null where it is gone"] = None
    confidence_before: Annotated[str | None, "How sure that was"] = None
    confidence_after: Annotated[str | None, "How sure this is"] = None
    knowledge_before: Annotated[str | None, "Version of the knowledge that judged it before"] = None
    knowledge_after: Annotated[str | None, "Version of the knowledge that judges it now"] = None
    run_id: Annotated[str, "The run that judged the window again"]
    run_reclassified_at: Annotated[datetime, "When"]


@table("quality.late_windows", key=("run_id", "cluster", "window_from", "window_to"))
class LateWindow(Row):
    """One earlier window that records touched after it had been published, as one run found it."""

    cluster: ClusterName
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    records: Annotated[Records, "Records that it is judged by and that came late"]
    sources: Annotated[list[str], "The logs they are from: the first twenty by name"]
    first_at: Annotated[datetime, "Instant of the first of them"]
    last_at: Annotated[datetime, "Instant of the last of them"]
    run_id: Annotated[str, "The run that found it, and then judged it again"]
    run_found_at: Annotated[datetime, "When"]


@table("quality.metadata_states", key=("cluster", "state_at", "snapshot_place"), time_column="state_at")
class MetadataState(Row):
    """One record of the metadata log's state at the start of a window, from which a later run reads on."""

    cluster: ClusterName
    state_at: Annotated[datetime, "First instant of the window"]
    record_offset: Annotated[Long, "Offset of the last record that the state rests on"]
    written_at: Annotated[datetime, "When that record was written, by the controller's clock"]
    controller_epoch: Annotated[int, "Highest controller epoch by then"]
    snapshot_place: Annotated[int, "Rank of the part in the state, from 1 on"]
    record_type: Annotated[MetadataRecordType, "What the record is, by Kafka's name for it"]
    topic_id: Annotated[str | None, "Topic, by its id"] = None
    topic: Annotated[str | None, "Topic, where the record names it"] = None
    partition: Annotated[int | None, "Partition"] = None
    leader: Annotated[int | None, "Leader from then on; -1 for none; null where it stays"] = None
    leader_epoch: Annotated[int | None, "Leader epoch, where the record has it: a change has not"] = None
    partition_epoch: Annotated[int | None, "Partition epoch, where the record has it: a change has not"] = None
    replicas: Annotated[list[int] | None, "Assigned brokers from then on; null where they stay"] = None
    isr: Annotated[list[int] | None, "Brokers in sync from then on; null where they stay"] = None
    removing: Annotated[list[int] | None, "Replicas that a reassignment takes away; null where they stay"] = None
    adding: Annotated[list[int] | None, "Replicas that a reassignment adds; null where they stay"] = None
    elr: Annotated[list[int] | None, "Eligible leader replicas from then on (KIP-966); null where they stay"] = None
    last_known_elr: Annotated[list[int] | None, "Those known last (KIP-966); null where they stay"] = None
    recovery_state: Annotated[int | None, "1 recovering from an unclean election, 0 not; null where it stays"] = None
    broker: Annotated[int | None, "Broker that the record is about; of a leader_change, the new controller"] = None
    incarnation_id: Annotated[str | None, "Process of the broker"] = None
    fenced: Annotated[bool | None, "Whether the broker is fenced from then on; null where that stays"] = None
    in_controlled_shutdown: Annotated[
        bool | None,
        "Whether its controlled shutdown begins; null where that stays",
    ] = None
    record_counts: Annotated[
        list[DayCount] | None, "On the first part: how many records of each day it rests on; with others it is not used"
    ] = None
    offset_spans: Annotated[
        list[OffsetSpan] | None,
        "On the first part: the stretches of the log that it rests on; with others it is not used",
    ] = None
