"""Log records become events, in one pass of Spark's own expressions: by logger, then a literal, then a regex."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.catalog.silver import EVENT_FIELDS, EVENTS
from spark_jobs.knowledge.layouts import (
    BROKER_FOLDER_REGEX,
    BROKER_REGEX,
    KAFKAS_PACKAGES,
    LAYOUTS,
    MESSAGE_LIMIT,
    class_of,
)
from spark_jobs.knowledge.model import Noise, Pattern
from spark_jobs.knowledge.version import READING_VERSION
from spark_jobs.shared.conform import quoted
from spark_jobs.transforms.intake.pieces import MOST_LINES

QUOTED = 2_000
"""Characters of a record's first line that a row quotes."""

_PART = "\x01"
_MASKS = (
    (r"'[^']*'|\"[^\"]*\"|`[^`]*`", "<name>"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
    (r"\b[A-Za-z0-9_-]{22}\b", "<id>"),
    (r"\b((?:group|topic|member|client|instance)(?:[ _]?id)?[ =:]+)[^\s,;)\]]+", "$1<name>"),
    (r"[0-9]+", "#"),
)
"""What varies in lines of one shape, in the order in which it is masked."""


def parse(records: DataFrame, patterns: Iterable[Pattern], noise: Iterable[Noise]) -> DataFrame:
    """Gives each record to exactly one fate: event, ignored, unparsed or quarantined.

    Takes: bronze.log_records.
    Gives: who, where, when and line_count of each record, its logger, the broker it names, fate, sentences (why it is
        quarantined), claim (kind, pattern and the fields of EVENT_FIELDS in their order, as text), its text unless it
        is ignored, its message where it is unparsed.
    Keeps: one row for each record.
    """
    known = _by_class(noise, lambda n: {"contains": n.contains})
    entries = _lookup(known, _class_of(F.col("logger")), "contains: string")
    is_noise = F.exists(entries, lambda n: F.contains("message", n["contains"]))
    fate = (
        F.when(F.size("sentences") > 0, "quarantined")
        .when(F.col("claim").isNotNull(), "event")
        .when(F.col("message").isNull() | F.coalesce(is_noise, F.lit(False)), "ignored")
        .otherwise("unparsed")
    )
    broker = F.nullif(F.regexp_extract("message", BROKER_REGEX, 1), F.lit("")).try_cast("int")
    told = {"fate": fate, "broker": F.when(F.col("origin") == "broker", broker)}
    return (
        claim(records, patterns)
        .withColumns(told)
        .select(
            *("line_id", "cluster", "origin", "source", "happened_at", quoted("order"), "line_count"),
            *("logger", "broker", "fate", "sentences", "claim"),
            F.when(F.col("fate") != "ignored", F.col("text")).alias("text"),
            F.when(F.col("fate") == "unparsed", F.col("message")).alias("message"),
        )
    )


def claim(records: DataFrame, patterns: Iterable[Pattern]) -> DataFrame:
    """Adds what the first pattern that claims a record reads in it.

    Takes: records with layout, text, raw, happened_at and line_count.
    Gives: the rows with logger, message (null where the logger is none of the patterns'), sentences (why the record
        is broken) and claim (kind, pattern and fields as text; null where no pattern claims it, or it is broken).
    """
    table = _by_class(patterns, lambda p: {"contains": p.contains, "regex": p.java_regex, "becomes": _replacement(p)})
    name = _class_of(F.col("logger"))
    matters = F.col("layout").isNull() | name.isNull() | name.isin(*table)
    words = F.coalesce(_by_layout({y.name: y.message for y in LAYOUTS}), F.col("text"))
    separated = F.translate("message", _PART, "\N{REPLACEMENT CHARACTER}")
    claims = F.filter(_lookup(table, name, "contains: string, regex: string, becomes: string"), _claims)
    first = F.transform(F.slice(claims, 1, 1), lambda p: F.regexp_replace("message", p["regex"], p["becomes"]))
    text = F.get(first, F.lit(0))
    return (
        records.withColumn("logger", _by_layout({y.name: y.logger for y in LAYOUTS}))
        .withColumn("message", F.when(matters, words))
        .withColumn("message", F.when(F.contains("message", F.lit(_PART)), separated).otherwise(F.col("message")))
        .withColumn("sentences", _sentences())
        .withColumn("claim", F.when(F.size("sentences") == 0, F.split(text, _PART, -1)))
    )


def events(parsed: DataFrame) -> DataFrame:
    """The events, each once: the same words of one broker at one instant are one event, whichever files hold them.

    Takes: what `parse` gives. Gives: silver.events.
    Order: of several records of one event the first by source and place stands for it.
    Edge case: where no line names the broker, its folder does; a client's words are its own file's alone.
    """
    named = _with_writers(fields(parsed))
    folder = F.regexp_extract("source", "^(.*)/", 1)
    writer = F.when(F.col("origin") == "broker", F.coalesce(F.col("broker").cast("string"), folder))
    same = Window.partitionBy(F.coalesce(writer, F.col("source")), "origin", "happened_at", F.xxhash64("text"))
    told = {"text": _first_line(F.col("text")), "knowledge_version": F.lit(READING_VERSION)}
    first = F.row_number().over(same.orderBy("source", quoted("order"))) == 1
    once = named.withColumn("is_first", first).where("is_first")
    return once.withColumns(told).select(*map(quoted, EVENTS.column_names))


def _with_writers(events: DataFrame) -> DataFrame:
    """Lines that tell no broker were written by the one that the log's other lines tell, else by its folder's."""
    told = (
        events.where("broker IS NOT NULL")
        .groupBy("source")
        .agg(F.min("broker").alias("only"), F.max("broker").alias("last"))
    )
    only = told.where("only = last").select("source", "only")
    writer = F.coalesce("broker", "only", F.when(F.col("origin") == "broker", _broker_of_folder()))
    return events.join(F.broadcast(only), "source", "left").withColumn("broker", writer)


def fields(claimed: DataFrame) -> DataFrame:
    """The records that became events, with kind, pattern_id and each of EVENT_FIELDS in a column of its own."""
    named = {"kind": F.col("claim")[0], "pattern_id": F.col("claim")[1]}
    typed = {c.name: _field(i, c.type) for i, c in enumerate(EVENT_FIELDS, start=2)}
    return claimed.where("claim IS NOT NULL").withColumns({**named, **typed}).drop("claim")


def unparsed_lines(parsed: DataFrame) -> DataFrame:
    """The records that matter and that no pattern claims: quality.unparsed_lines."""
    shape = _first_line(F.coalesce("message", "text"))
    for regex, mask in _MASKS:
        shape = F.regexp_replace(shape, f"(?i){regex}", mask)
    return parsed.where("fate = 'unparsed'").select(
        "line_id",
        "cluster",
        "source",
        "happened_at",
        "logger",
        shape.alias("template"),
        "line_count",
        _first_line(F.col("text")).alias("text"),
    )


def quarantined(parsed: DataFrame) -> DataFrame:
    """The records that are broken, with the sentences that say why: quality.quarantine."""
    return parsed.where("fate = 'quarantined'").select(
        F.col("line_id").alias("quarantine_id"),
        "cluster",
        "source",
        "happened_at",
        "line_count",
        F.substring("text", 1, QUOTED).alias("row"),
        "sentences",
    )


def _by_class(items: Iterable[Any], shape: Any) -> dict[str, list[dict[str, str]]]:
    table: dict[str, list[dict[str, str]]] = defaultdict(list)
    for item in items:
        for name in {class_of(logger) for logger in item.loggers}:
            table[name].append(shape(item))
    return table


def _class_of(logger: Column) -> Column:
    """knowledge.layouts.class_of in Spark's words."""
    is_kafka_log = reduce(or_, (logger.startswith(package) for package in KAFKAS_PACKAGES))
    return F.when(is_kafka_log, F.substring_index(logger, ".", -1)).otherwise(logger)


def _lookup(table: Mapping[str, list[dict[str, str]]], name: Column, shape: str) -> Column:
    """The entries of a record's logger; null where it has none. The table is a constant of the plan."""
    entries = F.from_json(F.lit(json.dumps(table)), f"map<string, array<struct<{shape}>>>")
    return F.try_element_at(entries, name)


def _claims(pattern: Column) -> Column:
    return F.contains("message", pattern["contains"]) & F.rlike("message", pattern["regex"])


def _replacement(pattern: Pattern) -> str:
    """What a claimed message becomes: kind, pattern and all fields, those that the pattern does not name left empty.

    The separator at the end parts the last field from a newline that may follow a match.
    """
    groups = {name: "\n".join(f"${i}" for i in numbers) for name, numbers in pattern.pieces.items()}
    constants = {name: re.sub(r"([\\$])", r"\\\1", value) for name, value in pattern.constants.items()}
    fields = (groups.get(c.name) or constants.get(c.name, "") for c in EVENT_FIELDS)
    return _PART.join((pattern.kind, pattern.pattern_id, *fields, ""))


def _field(position: int, type_: str) -> Column:
    """A field of a claim; empty text counts as missing, as does a number that its type cannot hold."""
    text = F.nullif(F.col("claim")[position], F.lit(""))
    return text if type_ == "STRING" else text.try_cast(type_)


def _by_layout(expressions: Mapping[str, str]) -> Column:
    return F.coalesce(*(F.when(F.col("layout") == name, F.expr(e)) for name, e in expressions.items()))


def _broker_of_folder() -> Column:
    """The broker that the nearest folder of a log names."""
    folders = F.reverse(F.split(F.regexp_extract("source", "^(.*)/", 1), "/"))
    numbers = F.transform(folders, lambda folder: F.regexp_extract(folder, BROKER_FOLDER_REGEX, 1))
    return F.get(F.filter(numbers, lambda number: number != ""), F.lit(0)).try_cast("int")


def _sentences() -> Column:
    """What is wrong with a record, a sentence each; empty where nothing is."""
    said = {
        "It holds bytes that are not UTF-8; bronze.log_records keeps them in raw.": F.col("raw").isNotNull(),
        "It holds NUL bytes, as a crash leaves them where a file was not yet written.": F.contains("text", F.lit("\0")),
        "Its head shows a date that no calendar has.": F.col("layout").isNotNull() & F.col("happened_at").isNull(),
        f"It has more than {MOST_LINES} physical lines; the first {MOST_LINES} are kept.": F.col("line_count")
        > MOST_LINES,
        f"Its message is longer than {MESSAGE_LIMIT} characters; Kafka writes none as long that we read.": F.col(
            "logger"
        ).isNotNull()
        & (F.length("message") > MESSAGE_LIMIT),
    }
    return F.array_compact(F.array(*(F.when(broken, F.lit(sentence)) for sentence, broken in said.items())))


def _first_line(text: Column) -> Column:
    first = F.substring(F.substring_index(text, "\n", 1), 1, QUOTED)
    return F.when(first.endswith("\r"), F.rtrim(first, F.lit("\r"))).otherwise(first)
