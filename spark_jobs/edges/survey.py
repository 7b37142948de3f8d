"""What the files hold, looked at once before anything is written: records, spans, and the cluster they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from spark_jobs.catalog.ids import row_id
from spark_jobs.edges.file_marks import fingerprints
from spark_jobs.edges.log_files import LogFile, damage_of, describe, instant, is_read_failure, read_lines
from spark_jobs.knowledge.layouts import LAYOUTS
from spark_jobs.knowledge.patterns import PATTERNS
from spark_jobs.shared.exits import BadInput
from spark_jobs.transforms.intake import collect
from spark_jobs.transforms.intake.file_order import NEVER, OUT_OF_ORDER, Span
from spark_jobs.transforms.intake.reading import fields_of, read_record

_NAMES_CLUSTER = tuple(p for p in PATTERNS if p.kind == "cluster_named")
_KAFKAS_OWN = (" (kafka.", " (org.apache.kafka.", " (state.change.logger)")
"""What the lines of a broker's own loggers hold."""

READ_AS = row_id(
    *(part for layout in LAYOUTS for part in (layout.name, layout.head, layout.timestamp)),
    *(part for pattern in _NAMES_CLUSTER for part in (pattern.contains, pattern.regex)),
    *_KAFKAS_OWN,
)
"""Stands for everything that a file's facts rest on: where it changes, files are read again."""

_TRIES = 3


@dataclass(frozen=True)
class FileFacts:
    """What one file holds; instants are null where no line of it has a head.

    `timeless` counts records without an instant; `cluster_ids` are those that its lines name.
    """

    file: LogFile
    lines: int
    timeless: int
    first_at: datetime | None
    last_at: datetime | None
    set_back: timedelta
    is_kafka_log: bool
    damage: str | None
    cluster_ids: frozenset[str]

    @property
    def span(self) -> Span:
        """The instants it covers; none where no line has a head."""
        return Span(self.file.source, self.first_at or NEVER, self.last_at or NEVER, self.timeless > 0)


@dataclass(frozen=True)
class Tail:
    """The last record of a file: its place, and its physical lines."""

    block: int
    record: int
    lines: int


@dataclass(frozen=True)
class Survey:
    """The records of files, kept in memory or on local disk, and what is known of each file by its number."""

    records: DataFrame
    facts: Mapping[int, FileFacts]
    tails: Mapping[int, Tail]

    def joined(self, other: Survey) -> Survey:
        """Both together. Edge case: each is to be unpersisted by itself."""
        records = self.records.unionByName(other.records)
        return Survey(records, {**self.facts, **other.facts}, {**self.tails, **other.tails})


def warnings_about(files: Iterable[FileFacts]) -> list[str]:
    """What a person should know about files, a sentence each."""
    facts = sorted(files, key=lambda f: f.file.name)
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
            if f.set_back >= OUT_OF_ORDER
        ),
    ]


def survey(spark: SparkSession, files: Mapping[int, LogFile], marks: Mapping[LogFile, str]) -> Survey:
    """Reads every file once.

    Takes: the files by their numbers, and their fingerprints.
    Gives: what could be read. Where a file changes so that Spark cannot read it, those of its source are left out.
    Edge case: a compressed file that breaks off is read up to the break.
    """
    left, damage = dict(files), dict[LogFile, str]()
    for _ in range(_TRIES):
        try:
            return _surveyed(spark, left, damage)
        except (Py4JJavaError, PySparkException) as failure:
            if not is_read_failure(failure):
                raise
            moved = changed_sources(spark, left.values(), marks)
            found = damage_of(spark, [f for f in left.values() if f.source not in moved and f not in damage])
            if not moved and not found:
                raise
            left = {n: f for n, f in left.items() if f.source not in moved}
            damage |= found
    return _surveyed(spark, {}, damage)


def changed_sources(spark: SparkSession, files: Iterable[LogFile], marks: Mapping[LogFile, str]) -> set[str]:
    """The sources of those files that no longer are what they were listed as."""
    listed = list(files)
    now = fingerprints(spark, listed)
    return {f.source for f in listed if f not in now or now[f] != marks.get(f)}


def broken_off(fact: FileFacts) -> str:
    """What is said of a damaged file."""
    return (
        f"{fact.file.name} cannot be unpacked to its end: {fact.damage}. The {fact.lines} lines before the break are "
        "kept. Needed: the whole file. Copy it again from where it was written, then audit again."
    )


def refuse_foreign(facts: Iterable[FileFacts]) -> None:
    """Raises: BadInput where none of the brokers' files holds a line of Kafka's."""
    brokers = [f for f in facts if f.file.origin == "broker"]
    if any(f.is_kafka_log and f.first_at for f in brokers):
        return
    lines = sum(f.lines for f in brokers)
    some = ", ".join(f.file.name for f in brokers[:5])
    raise BadInput(
        f"None of the {lines} lines in the {len(brokers)} files of LOGS ({some}) is one that a Kafka broker wrote. "
        "Needed: logs in the layout of Kafka's distribution, such as "
        "'[2026-11-20 23:59:59,123] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)'. Check the path."
    )


def _surveyed(spark: SparkSession, files: Mapping[int, LogFile], damage: Mapping[LogFile, str]) -> Survey:
    told = describe(
        spark,
        [{"uri": f.uri, "file": n, "source": f.source, "origin": f.origin, "zone": f.zone} for n, f in files.items()],
        "uri: string, file: int, source: string, origin: string, zone: string",
    )
    lines = read_lines(spark, list(files.values()), [f for f in files.values() if f in damage])
    lines = lines.join(F.broadcast(told.select("uri", "file")), "uri", "left")
    placed = collect.assemble(lines).join(F.broadcast(told.drop("uri")), "file", "left")
    records = collect.date(placed, {f.zone for f in files.values()}).persist()
    try:
        return Survey(records, *_facts(records, files, damage))
    except BaseException:
        records.unpersist()
        raise


def _facts(
    records: DataFrame, files: Mapping[int, LogFile], damage: Mapping[LogFile, str]
) -> tuple[dict[int, FileFacts], dict[int, Tail]]:
    at = F.unix_micros("happened_at")
    before = F.lag(at).over(Window.partitionBy("file").orderBy("block", "record"))
    is_kafka_log = reduce(or_, (F.contains("text", F.lit(literal)) for literal in _KAFKAS_OWN))
    place = F.struct("block", "record", "line_count").alias("place")
    rows = (
        records.select("file", at.alias("at"), (before - at).alias("set_back"), is_kafka_log.alias("kafkas"), place)
        .groupBy("file")
        .agg(
            F.sum("place.line_count").alias("lines"),
            F.count_if(F.col("at").isNull()).alias("timeless"),
            F.min("at").alias("first_at"),
            F.max("at").alias("last_at"),
            F.max("set_back").alias("set_back"),
            F.max("kafkas").alias("kafkas"),
            F.max("place").alias("tail"),
        )
        .collect()
    )
    seen = {row["file"]: row for row in rows}
    if None in seen:
        raise RuntimeError(f"Spark gave {seen[None]['lines']} lines of files under names that were not asked for.")
    named = _cluster_ids(records)
    facts = {n: _fact(f, seen.get(n), damage.get(f), named.get(n, frozenset())) for n, f in files.items()}
    return facts, {n: Tail(*row["tail"]) for n, row in seen.items()}


def _fact(file: LogFile, row: Any, damage: str | None, cluster_ids: frozenset[str]) -> FileFacts:
    if row is None:
        return FileFacts(file, 0, 0, None, None, timedelta(0), False, damage, cluster_ids)
    return FileFacts(
        file=file,
        lines=row["lines"],
        timeless=row["timeless"],
        first_at=instant(row["first_at"]),
        last_at=instant(row["last_at"]),
        set_back=timedelta(microseconds=max(row["set_back"] or 0, 0)),
        is_kafka_log=row["kafkas"],
        damage=damage,
        cluster_ids=cluster_ids,
    )


def _cluster_ids(records: DataFrame) -> dict[int, frozenset[str]]:
    """The ids of clusters that the lines of each file name."""
    likely = reduce(or_, (F.contains("text", F.lit(p.contains)) for p in _NAMES_CLUSTER))
    named = records.where(likely).select("file", "layout", "text").mapInArrow(_named, "file INT, cluster_id STRING")
    rows = named.groupBy("file").agg(F.collect_set("cluster_id").alias("ids")).collect()
    return {row["file"]: frozenset(row["ids"]) for row in rows}


def _named(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The ids that records name, each beside its file."""
    for batch in batches:
        files, layouts, texts = (column.to_pylist() for column in batch.columns)
        readings = zip(files, map(read_record, layouts, texts), strict=True)
        claims = [(file, r.pattern, r.found) for file, r in readings if r.pattern in _NAMES_CLUSTER]
        ids = [fields_of(pattern, [found])["detail"][0] for _, pattern, found in claims if pattern]
        named = [pa.array([file for file, *_ in claims], pa.int32()), pa.array(ids, pa.string())]
        yield pa.RecordBatch.from_arrays(named, ["file", "cluster_id"])
