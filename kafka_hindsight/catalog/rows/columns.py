"""Columns that many tables share."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import LINES, Confidence, Origin
from kafka_hindsight.catalog.row import OneOf, WrittenLast
from kafka_hindsight.catalog.rows.structs import Quote
from kafka_hindsight.catalog.table_model import Check

ClusterName = Annotated[str, "The cluster, by its name in this lake"]
ClusterRead = Annotated[str, "The cluster that was read, by its name in this lake"]
ReadingId = Annotated[str, "The reading this row belongs to: hash of cluster and instant"]
ReadingAt = Annotated[datetime, "When the cluster was read"]
LineOrigin = Annotated[Origin, "Who wrote it", OneOf(LINES)]
HowSure = Annotated[Confidence, "How sure the verdict is"]
JudgedBy = Annotated[str | None, "Version of the patterns, causes and rules that judged it", WrittenLast]
Evidence = Annotated[list[Quote], "The lines, snapshots or coverage rows that prove the row"]

HAS_EVIDENCE = Check("evidence_quoted", "size(evidence) > 0", "every verdict quotes what proves it")
