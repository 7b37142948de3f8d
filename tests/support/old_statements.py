"""Logs of Kafka 2.8 on ZooKeeper in the statements of 1.0 to 2.3, which say less about the in-sync replicas."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.taken_away import records_of

_LEADS = re.compile(
    r"INFO \[Broker id=(\d+)\] Leader (\S+) starts at leader epoch (\d+) from offset (\d+) with high watermark \d+"
    r" ISR \[[\d,]*\] addingReplicas \[[\d,]*\] removingReplicas \[[\d,]*\]\. Previous leader epoch was (-?\d+)\."
    r" \(state\.change\.logger\)"
)
_OLD = (
    r"INFO [Partition \2 broker=\1] \2 starts at Leader Epoch \3 from offset \4. Previous Leader Epoch was: \5"
    r" (kafka.cluster.Partition)"
)
_SHRINKS = re.compile(r"(Shrinking ISR from [\d,]+ to [\d,]*)\. Leader: .*?(?= \(kafka\.cluster\.Partition\))")
_UNWRITTEN = re.compile(r"ISR updated to|INFO \[Broker id=\d+\] Follower ")
"""Until 2.3 these are TRACE lines, or none. Source: Partition.updateIsr, makeLeader, makeFollower."""


def write_as_of_old(logs: Path, folder: Path) -> Path:
    """Write the logs below a folder again, as brokers of 2.2 would have written them."""
    for path in sorted(p for p in logs.rglob("*.log") if p.is_file()):
        new = folder / path.relative_to(logs)
        new.parent.mkdir(parents=True, exist_ok=True)
        kept = (r.text for r in records_of(path) if not _UNWRITTEN.search(r.text))
        new.write_text("\n".join(_SHRINKS.sub(r"\1", _LEADS.sub(_OLD, text)).rstrip("\n") for text in kept) + "\n")
    return folder
