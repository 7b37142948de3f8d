"""Hours: what became of the records of each log, an hour at a time, so that a run parses what is new or changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.shared.windows import Window

COLUMN_OF = {fate: "events" if fate == "event" else fate for fate in LineFate}
"""The column that counts the lines of each fate."""


def edges_of(window: Window, around: Window) -> tuple[datetime, ...]:
    """The instants that cut an hour in two: what a window counts, and what it reads, may begin and end within one."""
    return tuple(sorted({around.start, window.start, window.end, around.end}))


def hour_of(at: Column, edges: Sequence[datetime]) -> Column:
    """Where the hour of an instant begins, or the part of it that follows an edge."""
    return F.greatest(F.date_trunc("hour", at), *(F.when(at >= F.lit(edge), F.lit(edge)) for edge in edges))


def hour_end(hour: Column, edges: Sequence[datetime]) -> Column:
    """Where the hour ends that begins there, or the part of it that comes before an edge."""
    whole = F.date_trunc("hour", hour) + F.lit(timedelta(hours=1))
    return F.least(whole, *(F.when(hour < F.lit(edge), F.lit(edge)) for edge in edges))


def count_hours(tallies: DataFrame, edges: Sequence[datetime]) -> DataFrame:
    """What became of the records of each source in each hour, and of those without an instant (hour_from is null).

    Takes: the tallies of `parse`. Gives: source, hour_from, hour_to, origin, records, lines_in and the lines of each
        fate, first_at, last_at, longest_silence_ms; of its events lowest_broker and highest_broker, the least and the
        greatest broker that one names, and unnamed_events, how many name none; the layouts of its records.
    Keeps: lines_in = events + ignored + unparsed + quarantined.
    """
    lines, is_event = F.col("lines"), F.col("fate") == LineFate.EVENT
    counted = tallies.groupBy("source", "hour_from").agg(
        F.min("origin").alias("origin"),
        F.sum("records").alias("records"),
        F.sum(lines).alias("lines_in"),
        *(F.coalesce(F.sum(F.when(F.col("fate") == f, lines)), F.lit(0)).alias(c) for f, c in COLUMN_OF.items()),
        F.min("lowest_broker").alias("lowest_broker"),
        F.max("highest_broker").alias("highest_broker"),
        F.coalesce(F.sum(F.when(is_event, F.col("records") - F.col("named"))), F.lit(0)).alias("unnamed_events"),
        F.array_sort(F.flatten(F.collect_list("instants"))).alias("instants"),
        layouts_in("layouts"),
    )
    later = F.slice("instants", 2, F.size("instants"))
    silences = F.zip_with(later, F.col("instants"), lambda at, before: F.unix_millis(at) - F.unix_millis(before))
    return counted.withColumns(
        {
            "hour_to": hour_end(F.col("hour_from"), edges),
            "first_at": F.array_min("instants"),
            "last_at": F.array_max("instants"),
            "longest_silence_ms": F.array_max(silences),
        }
    ).drop("instants")


def layouts_in(column: str) -> Column:
    """The layouts that lists of some rows hold, each once: layouts."""
    return F.array_compact(F.array_sort(F.array_distinct(F.flatten(F.collect_list(column))))).alias("layouts")


def only_brokers(hours: DataFrame) -> DataFrame:
    """source and only_broker: the broker that the lines of a log name as their writer, where they name one alone."""
    told = hours.groupBy("source").agg(
        F.min("lowest_broker").alias("only_broker"), F.max("highest_broker").alias("last")
    )
    return told.where("only_broker = last").select("source", "only_broker")


def changed(held: DataFrame, known: DataFrame, edges: Sequence[datetime], parsed_as: str) -> DataFrame:
    """hour_from of the hours that hold other records than were parsed, or were cut or parsed in another way.

    Takes: source and happened_at of the records that bronze holds, quality.parsed_hours of the same time.
    """
    hour = hour_of(F.col("happened_at"), edges).alias("hour_from")
    counts = held.groupBy("source", hour).agg(F.count(F.lit(1)).alias("held"))
    is_known = (
        (F.col("held") == F.col("records"))
        & (F.col("hour_to") == hour_end(F.col("hour_from"), edges))
        & (F.col("parsed_as") == parsed_as)
    )
    both = counts.join(known, ["source", "hour_from"], "full")
    return both.where(~F.coalesce(is_known, F.lit(False))).select("hour_from")


def given_others(known: DataFrame, brokers: DataFrame) -> DataFrame:
    """hour_from of the hours with events that name no writer and were given another one than `only_brokers` names."""
    both = known.where("unnamed_events > 0").join(F.broadcast(brokers), "source", "left")
    return both.where("NOT given_broker <=> only_broker").select("hour_from")


def span_of(hours: DataFrame, edges: Sequence[datetime]) -> Window | None:
    """From the first to the last of these hours; None where there is none."""
    row = hours.agg(F.min("hour_from").alias("first"), F.max("hour_from").alias("last")).first()
    if row is None or row["first"] is None:
        return None
    first, last = (at.replace(tzinfo=UTC) for at in row)
    start, end = (at.replace(minute=0, second=0, microsecond=0) for at in (first, last + timedelta(hours=1)))
    return Window(max([start, *(e for e in edges if e <= first)]), min([end, *(e for e in edges if e > last)]))
