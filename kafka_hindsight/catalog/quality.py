"""Quality: what could be read, what could not, and what was checked. Written even when gold is refused."""

from kafka_hindsight.catalog.codes import LINES, CheckSeverity, Harm, LakeDamage
from kafka_hindsight.catalog.model import EVIDENCE_TYPE, Check, Table, optional, required

_CLUSTER = required("cluster", "STRING", "The cluster, by its name in this lake")

_LINES = (
    required(
        "lines_in", "BIGINT", "Physical lines; one that several files hold, as a copy does, counts once", unit="lines"
    ),
    required("events", "BIGINT", "Physical lines of records that became events", unit="lines"),
    required("ignored", "BIGINT", "Physical lines of records known to carry nothing we use", unit="lines"),
    required("unparsed", "BIGINT", "Physical lines that matter and that no pattern claims", unit="lines"),
    required("quarantined", "BIGINT", "Physical lines that are broken", unit="lines"),
)
_LAYOUTS = optional(
    "layouts", "ARRAY<STRING>", "Layouts of its records, with the envelopes around them, as in docker>strimzi"
)
_LINES_BALANCE = Check(
    "lines_balance",
    "lines_in = events + ignored + unparsed + quarantined",
    "every physical line is accounted for",
)

COVERAGE = Table(
    layer="quality",
    name="coverage",
    grain="one source in one window",
    key=("cluster", "source", "window_from"),
    time_column="window_from",
    columns=(
        _CLUSTER,
        required("source", "STRING", "Folder and log as seen from the LOGS root"),
        required("origin", "STRING", "Who wrote it", codes=LINES),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        *_LINES,
        optional("first_at", "TIMESTAMP", "Instant of the first record"),
        optional("last_at", "TIMESTAMP", "Instant of the last record"),
        optional("longest_silence_ms", "BIGINT", "Longest time without a record", unit="ms"),
        _LAYOUTS,
    ),
    checks=(_LINES_BALANCE,),
)

PARSED_HOURS = Table(
    layer="quality",
    name="parsed_hours",
    grain="one log in one hour, or in a part of it that a window cuts off: what is known here is not parsed again",
    key=("cluster", "source", "hour_from"),
    time_column="hour_from",
    columns=(
        _CLUSTER,
        required("source", "STRING", "Folder and log as seen from the LOGS root"),
        required("origin", "STRING", "Who wrote it", codes=LINES),
        required("hour_from", "TIMESTAMP", "First instant of the hour, or of the part of it"),
        required("hour_to", "TIMESTAMP", "Its end"),
        required("records", "BIGINT", "Records that bronze held of it", unit="records"),
        *_LINES,
        required("first_at", "TIMESTAMP", "Instant of the first record"),
        required("last_at", "TIMESTAMP", "Instant of the last record"),
        optional("longest_silence_ms", "BIGINT", "Longest time without a record between these", unit="ms"),
        optional("lowest_broker", "INT", "The least broker that its lines name as their writer"),
        optional("highest_broker", "INT", "The greatest"),
        required("unnamed_events", "BIGINT", "Records that became events and name no writer", unit="records"),
        _LAYOUTS,
        optional(
            "given_broker", "INT", "The one broker that the log's lines named when this was parsed; null for none"
        ),
        required("parsed_as", "STRING", "Hash of what is known of lines; an hour with another one is parsed again"),
    ),
    checks=(_LINES_BALANCE,),
)

UNPARSED_LINES = Table(
    layer="quality",
    name="unparsed_lines",
    grain="one record that matters and that no pattern claims",
    key=("line_id",),
    time_column="happened_at",
    columns=(
        required("line_id", "STRING", "The record"),
        _CLUSTER,
        required("source", "STRING", "Folder and log as seen from the LOGS root"),
        optional("happened_at", "TIMESTAMP", "The instant in its head; null before a file's first head"),
        optional("logger", "STRING", "Its logger; null where none was found"),
        required("template", "STRING", "The text with names and numbers masked, so that one shape counts as one"),
        required("line_count", "INT", "Physical lines of the record", unit="lines"),
        required("text", "STRING", "First line of the record, cut at 2,000 characters"),
    ),
)

QUARANTINE = Table(
    layer="quality",
    name="quarantine",
    grain="one record, file or snapshot line that is broken",
    key=("quarantine_id",),
    time_column="happened_at",
    columns=(
        required("quarantine_id", "STRING", "Hash of what it is"),
        _CLUSTER,
        required("source", "STRING", "Where it was read"),
        optional("happened_at", "TIMESTAMP", "Its instant, where it has one"),
        required("line_count", "INT", "Physical lines", unit="lines"),
        required("row", "STRING", "What was read, cut at 2,000 characters"),
        required("sentences", "ARRAY<STRING>", "What is wrong with it, in sentences"),
    ),
)

GENERATION_GAPS = Table(
    layer="quality",
    name="generation_gaps",
    grain="one break in the generations, or epochs, of one group",
    key=("cluster", "group_id", "after_generation", "next_generation", "seen_at"),
    time_column="seen_at",
    columns=(
        _CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        required("after_generation", "INT", "Last generation seen before the break"),
        required("next_generation", "INT", "First generation seen after it"),
        required("seen_at", "TIMESTAMP", "When the later one was seen"),
        optional("explained_by", "STRING", "Why it broke; null where the evidence is lost"),
        required("evidence", EVIDENCE_TYPE, "The line that shows the later one"),
    ),
)

LEADERSHIP_GAPS = Table(
    layer="quality",
    name="leadership_gaps",
    grain="one break in the leader epochs of one partition",
    key=("cluster", "topic", "partition", "topic_incarnation", "next_epoch"),
    time_column="seen_at",
    columns=(
        _CLUSTER,
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("topic_incarnation", "INT", "How often its topic had been deleted before, as far as the records tell"),
        required("after_epoch", "INT", "Last leader epoch known before the break"),
        required("next_epoch", "INT", "First leader epoch known after it"),
        required("leader_before", "INT", "Leader before; -1: none"),
        required("leader_after", "INT", "Leader after; -1: none"),
        required("seen_at", "TIMESTAMP", "When the later one was seen"),
        optional(
            "explained_by",
            "STRING",
            "What else raised the epoch; null where not known: a change of leader may lie in it",
        ),
        required("explanation", "STRING", "What is known and what is possible, in one sentence"),
        required("evidence", EVIDENCE_TYPE, "The lines on both sides of the break, and those that explain it"),
    ),
)

UNOBSERVED_SPANS = Table(
    layer="quality",
    name="unobserved_spans",
    grain="one span of one broker of which nothing shows whether it served",
    key=("unobserved_span_id",),
    time_column="first_at",
    columns=(
        _CLUSTER,
        required("unobserved_span_id", "STRING", "Hash of what it is"),
        required("broker", "INT", "Broker id"),
        required("first_at", "TIMESTAMP", "From when on no log of the time is at hand"),
        required("last_at", "TIMESTAMP", "Until when"),
        required("explanation", "STRING", "What is not known, in one sentence"),
        required("evidence", EVIDENCE_TYPE, "The last proof of its life before, and the first one after"),
    ),
)

RULE_FIRINGS = Table(
    layer="quality",
    name="rule_firings",
    grain="one rule applied to one window, whether it fired or not",
    key=("cluster", "rule_id", "window_from"),
    time_column="window_from",
    columns=(
        _CLUSTER,
        required("rule_id", "STRING", "The rule"),
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("fired", "INT", "How often it fired: each group counted by itself, rolling restarts included"),
        required("fired_in_restarts", "INT", "Of these, those wholly within a restart in order, or that rest on one"),
        required("suppressed", "INT", "Of these, those without a finding, since rolling restarts are left out"),
        optional("first_at", "TIMESTAMP", "Where it fired first; null where it did not"),
        optional("last_at", "TIMESTAMP", "Where it fired last; null where it did not"),
        required("knowledge_version", "STRING", "Version of the rules"),
    ),
    checks=(
        Check("restarts_are_part", "fired_in_restarts <= fired", "no more fired in restarts than fired at all"),
        Check("suppressed_in_restarts", "suppressed <= fired_in_restarts", "only restarts are left out"),
    ),
)

PUBLICATIONS = Table(
    layer="quality",
    name="publications",
    grain="one gold table published for one window",
    key=("cluster", "window_from", "window_to", "table", "run_id"),
    columns=(
        _CLUSTER,
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("table", "STRING", "The gold table"),
        required("version", "BIGINT", "Its Delta version after the publication"),
        required("row_count", "BIGINT", "Rows of the window"),
        required("run_id", "STRING", "The run that published it"),
        required("run_published_at", "TIMESTAMP", "When"),
    ),
)

VALIDATION_RESULTS = Table(
    layer="quality",
    name="validation_results",
    grain="one expectation checked in one window by one run",
    key=("run_id", "cluster", "window_from", "window_to", "table", "expectation"),
    columns=(
        required("run_id", "STRING", "The run"),
        _CLUSTER,
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("table", "STRING", "The table that was checked"),
        required("expectation", "STRING", "The expectation, by its name"),
        required("description", "STRING", "What it expects, in words"),
        required("severity", "STRING", "Whether it gates the publication", codes=CheckSeverity),
        required("success", "BOOLEAN", "Whether nothing breaks it"),
        optional("is_vacuous", "BOOLEAN", "Whether the table had no row to judge; null in rows of an earlier version"),
        optional("observed", "STRING", "What was observed"),
        optional("unexpected_count", "BIGINT", "Rows that break it"),
        optional("sentences", "ARRAY<STRING>", "The breach in sentences that name rows; null where it held"),
        required("run_checked_at", "TIMESTAMP", "When"),
    ),
)

WITHHELD_ROWS = Table(
    layer="quality",
    name="withheld_rows",
    grain="one row that breaks a law of ours, and that one run left out of gold",
    key=("run_id", "table", "withheld_row_id"),
    columns=(
        required("run_id", "STRING", "The run"),
        _CLUSTER,
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("table", "STRING", "The gold table that the row is of"),
        required("withheld_row_id", "STRING", "Hash of the row"),
        optional("happened_at", "TIMESTAMP", "Its instant; null where it has none"),
        required("row", "STRING", "The row as JSON, cut at 2,000 characters"),
        required("sentences", "ARRAY<STRING>", "The laws that it breaks, in words"),
        required("run_withheld_at", "TIMESTAMP", "When"),
    ),
)

LAKE_REPAIRS = Table(
    layer="quality",
    name="lake_repairs",
    grain="one damage of the lake that a step mended before it began",
    key=("run_id", "path"),
    columns=(
        required("run_id", "STRING", "The run"),
        required("path", "STRING", "What was damaged, as a path below the lake"),
        required("damage", "STRING", "What was wrong with it", codes=LakeDamage),
        required("description", "STRING", "What was found and what was done"),
        required("run_repaired_at", "TIMESTAMP", "When"),
    ),
)

NIGHTS = Table(
    layer="quality",
    name="nights",
    grain="one published window as its report sums it up",
    key=("cluster", "window_from"),
    time_column="window_from",
    columns=(
        _CLUSTER,
        required("window_from", "TIMESTAMP", "First instant of the window"),
        required("window_to", "TIMESTAMP", "End of the window"),
        required("state", "STRING", "What it asks of its reader: act, look or calm"),
        optional(
            "harm", "STRING", "The gravest thing that happened; null where nothing asks to act or look", codes=Harm
        ),
        optional("headline", "STRING", "The incident that did it, in one line"),
        optional("incident_id", "STRING", "Its id"),
        required("incidents", "INT", "Incidents that ask to act or look"),
        required("records_lost_low", "BIGINT", "Committed records lost, at least", unit="records"),
        optional("records_lost_high", "BIGINT", "At most; null where nothing bounds it", unit="records"),
        required("partitions_offline", "INT", "Partitions without a leader for a second or longer"),
        optional("partitions_still_offline", "INT", "Of these, those without one when the logs end"),
        optional("offline_ms", "BIGINT", "The longest of these times; where it was not over, at least", unit="ms"),
        optional("offline_partition_seconds", "DOUBLE", "What these times add up to", unit="partition-seconds"),
        optional("partitions_refusing", "INT", "Partitions that took no writes with acks=all for a second or longer"),
        required("sudden_absences", "INT", "Absences of brokers that were not shut down in order"),
        required("orderly_absences", "INT", "Absences of brokers that were shut down in order"),
        required(
            "groups_stopped",
            "INT",
            "Groups none of whose members consumed for a second or longer, since something failed",
        ),
        required("findings_critical", "INT", "Critical findings"),
        required("findings_warning", "INT", "Findings that warn"),
        required("findings_info", "INT", "Findings for information"),
        required("gaps", "INT", "Findings about what could not be seen"),
        required(
            "lines_in",
            "BIGINT",
            "Physical lines; one that several files hold, as a copy does, counts once",
            unit="lines",
        ),
        required("lines_unread", "BIGINT", "Physical lines that no pattern claims or that are broken", unit="lines"),
        required("rebalances", "INT", "Rebalances"),
        required("partition_seconds", "DOUBLE", "Their cost, as far as it is known", unit="partition-seconds"),
        required("page", "STRING", "The name of its report in the lake's folder report"),
        required("run_id", "STRING", "The run that wrote the report"),
        required("run_published_at", "TIMESTAMP", "When"),
    ),
    checks=(
        Check("state_is_known", "state IN ('act', 'look', 'calm')", "the states of a report"),
        Check(
            "worst_is_whole", "(harm IS NULL) = (headline IS NULL)", "the gravest incident has a harm and a headline"
        ),
    ),
)

TABLES = (
    COVERAGE,
    PARSED_HOURS,
    UNPARSED_LINES,
    QUARANTINE,
    GENERATION_GAPS,
    LEADERSHIP_GAPS,
    UNOBSERVED_SPANS,
    RULE_FIRINGS,
    PUBLICATIONS,
    VALIDATION_RESULTS,
    WITHHELD_ROWS,
    LAKE_REPAIRS,
    NIGHTS,
)
