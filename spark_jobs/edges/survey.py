"""What the files hold, looked at once before anything is written: records, spans, and the cluster they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from spark_jobs.edges.log_files import Listing, LogFile, damage_of, describe, instant, is_read_failure, read_lines
from spark_jobs.exits import BadInput
from spark_jobs.knowledge.patterns import PATTERNS
from spark_jobs.transforms import collect, parse

_NAMES_CLUSTER = tuple(p for p in PATTERNS if p.kind == "cluster_named")
_KAFKAS_OWN = (" (kafka.", " (org.apache.kafka.", " (state.change.logger)")
"""What the lines of a broker's own loggers hold."""

_STEADY = timedelta(seconds=1)
"""Threads of one process write a few milliseconds out of order; a clock that was set back goes back further."""


@dataclass(frozen=True)
class FileFacts:
    """What one file holds; instants are null where no line of it has a head."""

    file: LogFile
    lines: int
    first_at: datetime | None
    last_at: datetime | None
    set_back: timedelta
    is_kafkas: bool
    damage: str | None


@dataclass(frozen=True)
class Survey:
    """The records of all files, kept in memory or on local disk, and what is known of each file by its number."""

    records: DataFrame
    facts: Mapping[int, FileFacts]
    not_read: tuple[str, ...]
    cluster_ids: Mapping[str, frozenset[str]]

    @property
    def span(self) -> tuple[datetime, datetime]:
        """The first and the last instant of all files."""
        told = [f for f in self.facts.values() if f.first_at and f.last_at]
        return min(f.first_at for f in told if f.first_at), max(f.last_at for f in told if f.last_at)

    def turns(self) -> DataFrame:
        """The rank and the lane of each file among those of its source: file, rank, lane."""
        never = datetime.max.replace(tzinfo=UTC)
        spans = {n: collect.Span(f.file.source, f.first_at or never, f.last_at or never) for n, f in self.facts.items()}
        rows = [{"file": n, "rank": rank, "lane": lane} for n, (rank, lane) in collect.in_turn(spans).items()]
        return describe(self.records.sparkSession, rows, "file: int, rank: int, lane: int")

    def warnings(self) -> list[str]:
        """What a person should know about the files, a sentence each."""
        facts = sorted(self.facts.values(), key=lambda f: f.file.name)
        return [
            *(broken_off(f) for f in facts if f.damage),
            *(
                f"No line of {f.file.name} begins as a log line that we know: all {f.lines} are counted, no more."
                for f in facts
                if f.lines and not f.first_at
            ),
            *(
                f"The clock of {f.file.name} goes back by up to {f.set_back}: its records keep their order in the file."
                for f in facts
                if f.set_back >= _STEADY
            ),
        ]


def survey(spark: SparkSession, listing: Listing) -> Survey:
    """Reads every file once.

    Raises: BadInput where none of the brokers' files holds a line of Kafka's.
    Odd: a compressed file that breaks off is read up to the break.
    """
    try:
        found = _surveyed(spark, listing, {})
    except (Py4JJavaError, PySparkException) as failure:
        damage = damage_of(spark, listing.files) if is_read_failure(failure) else {}
        if not damage:
            raise
        found = _surveyed(spark, listing, damage)
    brokers = [f for f in found.facts.values() if f.file.origin == "broker"]
    if not any(f.is_kafkas and f.first_at for f in brokers):
        found.records.unpersist()
        raise BadInput(_no_kafka(brokers))
    return found


def broken_off(fact: FileFacts) -> str:
    """What is said of a damaged file."""
    return (
        f"{fact.file.name} cannot be unpacked to its end: {fact.damage}. The {fact.lines} lines before the break are "
        "kept. Needed: the whole file. Copy it again from where it was written, then audit again."
    )


def _no_kafka(facts: Sequence[FileFacts]) -> str:
    lines = sum(f.lines for f in facts)
    some = ", ".join(f.file.name for f in facts[:5])
    return (
        f"None of the {lines} lines in the {len(facts)} files of LOGS ({some}) is one that a Kafka broker wrote. "
        "Needed: logs in the layout of Kafka's distribution, such as "
        "'[2026-11-20 23:59:59,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)'. Check the path."
    )


def _surveyed(spark: SparkSession, listing: Listing, damage: Mapping[LogFile, str]) -> Survey:
    files = listing.files
    told = describe(
        spark,
        [
            {"uri": f.uri, "file": n, "source": f.source, "origin": f.origin, "zone": f.zone}
            for n, f in enumerate(files)
        ],
        "uri: string, file: int, source: string, origin: string, zone: string",
    )
    lines = read_lines(spark, files, tuple(damage)).join(F.broadcast(told.select("uri", "file")), "uri", "left")
    placed = collect.assemble(lines).join(F.broadcast(told.drop("uri")), "file", "left")
    records = collect.date(placed, {f.zone for f in files}).persist()
    try:
        return Survey(records, _facts(records, files, damage), listing.not_read, _cluster_ids(records))
    except BaseException:
        records.unpersist()
        raise


def _facts(records: DataFrame, files: Sequence[LogFile], damage: Mapping[LogFile, str]) -> dict[int, FileFacts]:
    at = F.unix_micros("happened_at")
    before = F.lag(at).over(Window.partitionBy("file").orderBy("block", "record"))
    is_kafkas = reduce(or_, (F.contains("text", F.lit(literal)) for literal in _KAFKAS_OWN))
    rows = (
        records.select("file", "line_count", at.alias("at"), (before - at).alias("set_back"), is_kafkas.alias("kafkas"))
        .groupBy("file")
        .agg(
            F.sum("line_count").alias("lines"),
            F.min("at").alias("first_at"),
            F.max("at").alias("last_at"),
            F.max("set_back").alias("set_back"),
            F.max("kafkas").alias("kafkas"),
        )
        .collect()
    )
    seen = {row["file"]: row for row in rows}
    if None in seen:
        raise RuntimeError(f"Spark gave {seen[None]['lines']} lines of files under names that were not asked for.")
    return {n: _fact(file, seen.get(n), damage.get(file)) for n, file in enumerate(files)}


def _fact(file: LogFile, row: Any, damage: str | None) -> FileFacts:
    if row is None:
        return FileFacts(file, 0, None, None, timedelta(0), False, damage)
    return FileFacts(
        file=file,
        lines=row["lines"],
        first_at=instant(row["first_at"]),
        last_at=instant(row["last_at"]),
        set_back=timedelta(microseconds=max(row["set_back"] or 0, 0)),
        is_kafkas=row["kafkas"],
        damage=damage,
    )


def _cluster_ids(records: DataFrame) -> dict[str, frozenset[str]]:
    """The ids of clusters that lines name, by who wrote them."""
    likely = reduce(or_, (F.contains("text", F.lit(p.contains)) for p in _NAMES_CLUSTER))
    rows = (
        parse.fields(parse.claim(records.where(likely), _NAMES_CLUSTER)).select("origin", "detail").distinct().collect()
    )
    return {origin: frozenset(r["detail"] for r in rows if r["origin"] == origin) for origin in ("broker", "client")}
