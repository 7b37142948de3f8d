"""Columns and checks that gold tables share."""

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.model import EVIDENCE_TYPE, Check, required

CLUSTER = required("cluster", "STRING", "The cluster, by its name in this lake")
VERSION = required("knowledge_version", "STRING", "Version of the patterns, causes and rules that judged it")
EVIDENCE = required("evidence", EVIDENCE_TYPE, "The lines, snapshots or coverage rows that prove the row")
HAS_EVIDENCE = Check("evidence_quoted", "size(evidence) > 0", "every verdict quotes what proves it")
CONFIDENCE = required("confidence", "STRING", "How sure the verdict is", codes=Confidence)
