"""Log records become events, in one pass: workers read them in batches, and hashes show which stand twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from spark_jobs.catalog.codes import LineFate
from spark_jobs.catalog.quality import QUARANTINE, UNPARSED_LINES
from spark_jobs.catalog.silver import EVENTS
from spark_jobs.knowledge.layouts import WITHIN
from spark_jobs.knowledge.version import READING_VERSION, version_of
from spark_jobs.shared.conform import quoted
from spark_jobs.transforms.intake.batches import PLACE, READ, SCHEMA, read_batches
from spark_jobs.transforms.intake.reading import (
    broker_of_folder,
    broker_told,
    fields_of,
    quotation,
    read_record,
    template,
)


def parse(records: DataFrame, edges: Sequence[datetime] = ()) -> DataFrame:
    """Gives each record to exactly one fate: event, ignored, unparsed or quarantined.

    Takes: bronze.log_records; the edges that cut an hour in two.
    Gives: a row for each record that is not ignored: its place, its fate, and what `events`, `unparsed_lines` and
        `quarantined` take; and rows with a tally: how many records and lines of a source had a fate in an hour.
    Keeps: the tallies count every record once, where its fate is decided.
    """
    known = {"likeness": F.xxhash64("text"), "is_utf8": F.col("raw").isNull()}
    given = records.withColumns(known).select(*map(quoted, dict.fromkeys((*PLACE, *READ))))
    return given.mapInArrow(partial(read_batches, edges=tuple(edges)), from_arrow_schema(SCHEMA))


def tallies(parsed: DataFrame) -> DataFrame:
    """How many records and lines of a source had a fate in an hour, a row for each batch that held some."""
    return parsed.where("tally IS NOT NULL").select("source", "origin", "fate", "tally.*")


def named_events(parsed: DataFrame, brokers: DataFrame) -> DataFrame:
    """The records that are events, each with the broker that wrote it.

    Takes: what `parse` gives; source and only_broker: the one that a source's lines name, where they name one alone.
    Edge case: where no line names the broker, its folder does; a client's words are its own file's alone.
    """
    told = parsed.where((F.col("fate") == LineFate.EVENT) & F.col("tally").isNull())
    writer = F.coalesce("broker", "only_broker", "folder_broker")
    return told.join(F.broadcast(brokers), "source", "left").withColumn("broker", writer)


def events(named: DataFrame, repeats: DataFrame) -> DataFrame:
    """silver.events: each event once. Takes: what `named_events` and `repeated` give."""
    once = named.join(repeats, "line_id", "left_anti")
    return once.withColumn("knowledge_version", F.lit(READING_VERSION)).select(*map(quoted, EVENTS.column_names))


def repeated(named: DataFrame) -> DataFrame:
    """The line_id of each event that another one stands for: the same words of one broker at one instant are one event,
    whichever files hold them. Only hashes and places are moved to find them.

    Order: of several records of one event the first by source and place stands for it.
    """
    is_within = F.contains("source", F.lit(WITHIN))
    folder = F.when(is_within, F.col("source")).otherwise(F.regexp_extract("source", "^(.*)/", 1))
    writer = F.when(F.col("origin") == "broker", F.coalesce(F.col("broker").cast("string"), folder))
    places = named.select(
        *("line_id", "origin", "source", "happened_at", quoted("order"), "likeness"),
        F.coalesce(writer, F.col("source")).alias("writer"),
    )
    words = ["happened_at", "likeness"]
    twice = places.groupBy(*words).agg(F.count(F.lit(1)).alias("times")).where("times > 1").drop("times")
    same = Window.partitionBy("writer", "origin", *words).orderBy("source", quoted("order"))
    among = places.join(twice, words, "left_semi").withColumn("turn", F.row_number().over(same))
    return among.where("turn > 1").select("line_id")


def unparsed_lines(parsed: DataFrame) -> DataFrame:
    """The records that matter and that no pattern claims: quality.unparsed_lines."""
    found = parsed.where((F.col("fate") == LineFate.UNPARSED) & F.col("tally").isNull())
    return found.select(*map(quoted, UNPARSED_LINES.column_names))


def quarantined(parsed: DataFrame) -> DataFrame:
    """The records that are broken, with the sentences that say why: quality.quarantine."""
    found = parsed.where((F.col("fate") == LineFate.QUARANTINED) & F.col("tally").isNull())
    return found.select(*map(quoted, QUARANTINE.column_names))


PARSED_AS = version_of(READING_VERSION, read_record, fields_of, broker_told, broker_of_folder, quotation, template)
"""Stands for all that the outcome of `parse` rests on: an hour that was parsed as another one is parsed again."""
