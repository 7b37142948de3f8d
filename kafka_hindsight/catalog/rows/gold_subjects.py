"""Gold: every topic, group and broker of a night, whether or not anything happened to it."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import Origin, SubjectKind
from kafka_hindsight.catalog.row import Partitions, Row, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.night_subjects", key=("night_subject_id",), time_column="window_from")
class NightSubject(Row):
    """One topic, group or broker that a reading or a line of a window shows: the denominator of what happened."""

    cluster: ClusterName
    night_subject_id: Annotated[str, "Hash of cluster, window, kind and name"]
    window_from: Annotated[datetime, "First instant of the window"]
    window_to: Annotated[datetime, "End of the window"]
    kind: Annotated[SubjectKind, "What it is"]
    name: Annotated[str, "Topic, group, or broker id"]
    partitions: Annotated[Partitions | None, "Partitions of a topic; null for others"] = None
    is_whole: Annotated[
        bool | None, "Whether `partitions` are all, since a reading listed them; else at least so many. Null for others"
    ] = None
    versions: Annotated[
        list[str] | None,
        "Kafka's versions, as its own logs print them when a process starts, in order of time: those of a broker, or of"
        " the Java clients of a group; null where no such line was read, and for topics",
    ] = None
    origin: Annotated[Origin, "What shows it: readings (snapshot), or lines of logs (broker, client)"]
    first_at: Annotated[datetime, "The first reading or line of the window that shows it"]
    last_at: Annotated[datetime, "The last one; of a topic that only logs show, the end of its last known leadership"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("shown_in_order", "first_at <= last_at", "it is not shown last before it is shown first"),
        Check("shown_in_window", "first_at >= window_from AND last_at <= window_to", "the window shows it"),
        Check(
            "topics_have_partitions",
            "(kind = 'topic') = (partitions IS NOT NULL) AND (partitions IS NULL) = (is_whole IS NULL)",
            "topics have partitions, and nothing else has",
        ),
        HAS_EVIDENCE,
    )
