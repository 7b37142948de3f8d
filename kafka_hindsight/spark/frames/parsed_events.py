"""Log records become events, in one pass: workers read them in batches, and hashes show which stand twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial, reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.catalog.quality import QUARANTINE, UNPARSED_LINES
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.lake.ddl import quoted
from kafka_hindsight.logs.event_batches import SCHEMA, read_batches
from kafka_hindsight.logs.packed_events import ALIKE, PICKED, alike, events_of, picked
from kafka_hindsight.spark.batches import Batches

_BATCH = ("task", "batch")


def parse(records: Sequence[Batches], edges: Sequence[datetime] = ()) -> DataFrame:
    """Gives each record to exactly one fate: event, ignored, unparsed or quarantined.

    Takes: batches of bronze.log_records; the edges that cut an hour in two.
    Gives: what `events`, `repeated`, `unparsed_lines` and `quarantined` take; and rows with a tally: how many records
        and lines of a source had a fate in an hour.
    Keeps: the tallies count every record once, where its fate is decided.
    """
    make = partial(read_batches, edges=tuple(edges))
    read = reduce(DataFrame.unionByName, (batches.through(make, SCHEMA) for batches in records))
    return read.withColumn("task", F.spark_partition_id())


def tallies(parsed: DataFrame) -> DataFrame:
    """How many records and lines of a source had a fate in an hour, a row for each batch that held some."""
    return parsed.where("tally IS NOT NULL").select("source", "origin", "fate", "tally.*")


def events(parsed: DataFrame, brokers: Mapping[str, int], repeats: DataFrame) -> Batches:
    """silver.events: each event once.

    Takes: what `parse` and `repeated` give; the only broker that the lines of a log name, by source.
    """
    make = partial(events_of, brokers=brokers, knowledge_version=version_of(READING))
    return Batches(_packed(parsed, repeats, "left"), make, EVENTS)


def twins(parsed: DataFrame) -> DataFrame:
    """The events that share instant and words with others, as ALIKE names them. Takes: what `parse` gives.

    Only instants and hashes are moved to find them.
    """
    marks = parsed.where("marks IS NOT NULL").select("part", *_BATCH, "marks")
    return marks.groupBy("part").applyInArrow(alike, from_arrow_schema(ALIKE))


def repeated(parsed: DataFrame, twins: DataFrame, brokers: Mapping[str, int]) -> DataFrame:
    """The events for which others stand, as ALIKE names them: the same words of one broker at one instant are one
    event, whichever files hold them.

    Takes: what `parse` and `twins` give; the only broker that the lines of a log name, by source.
    Order: of several records of one event the first by source and place stands for it.
    """
    told = _packed(parsed, twins, "inner").mapInArrow(partial(picked, brokers=brokers), from_arrow_schema(PICKED))
    is_within = F.contains("source", F.lit(WITHIN))
    folder = F.when(is_within, F.col("source")).otherwise(F.regexp_extract("source", "^(.*)/", 1))
    by = F.when(F.col("origin") == "broker", F.coalesce(F.col("broker").cast("string"), folder))
    places = told.withColumn("writer", F.coalesce(by, "source"))
    same = Window.partitionBy("writer", "origin", "happened_at", "likeness").orderBy("source", quoted("order"))
    return places.withColumn("turn", F.row_number().over(same)).where("turn > 1").select(*ALIKE.names)


def _packed(parsed: DataFrame, named: DataFrame, how: str) -> DataFrame:
    """The events of each batch, packed, and the numbers that name some of them."""
    numbers = named.groupBy(*_BATCH).agg(F.collect_list("nth").alias("numbers"))
    packed = parsed.where("events IS NOT NULL").select(*_BATCH, "events")
    return packed.join(numbers, list(_BATCH), how).select(*_BATCH, "events", "numbers")


def unparsed_lines(parsed: DataFrame) -> DataFrame:
    """The records that matter and that no pattern claims: quality.unparsed_lines."""
    found = parsed.where((F.col("fate") == LineFate.UNPARSED) & F.col("tally").isNull())
    return found.select(*map(quoted, UNPARSED_LINES.column_names))


def quarantined(parsed: DataFrame) -> DataFrame:
    """The records that are broken, with the sentences that say why: quality.quarantine."""
    found = parsed.where((F.col("fate") == LineFate.QUARANTINED) & F.col("tally").isNull())
    return found.select(*map(quoted, QUARANTINE.column_names))
