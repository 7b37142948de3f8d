"""Elections from outside the ISR, as the cluster's metadata log has them, read by Kafka's own tool."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from lab.drill import processes
from lab.drill.cluster import DrillCluster, jvm
from lab.drill.jars import NEWEST, libs
from lab.drill.node import ClusterFault

_READ_WITHIN = 120
_DUMPED = re.compile(r" CreateTime: (\d+) .* payload: (\{.*\})$")
_RECOVERING = 1


def unclean_elections(cluster: DrillCluster) -> Iterator[Mapping[str, Any]]:
    """The unclean elections that the metadata log of a running cluster of KRaft holds: at, topic, partition, leader.

    The newest Kafka reads the metadata of every older one.
    Raises ClusterFault where the log cannot be read.
    """
    files = ",".join(map(str, sorted(cluster.metadata_log.glob("*.log"))))
    tool = [*jvm("-Xmx256m", libs(NEWEST)), "org.apache.kafka.tools.DumpLogSegments", "--cluster-metadata-decoder"]
    reader = processes.start([*tool, "--files", files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = reader.communicate(timeout=_READ_WITHIN)
    if reader.returncode:
        raise ClusterFault(f"The metadata log could not be read:\n{output[-2000:]}")
    yield from elected_uncleanly(output.splitlines())


def elected_uncleanly(dumped: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """The unclean elections in what the tool prints: the new leader was in neither the ISR nor the ELR (KIP-966).

    Source: PartitionChangeBuilder.tryElection: such a leader begins alone
    in the ISR, RECOVERING, which is so from metadata.version 3.2 on.
    """
    topics: dict[str, str] = {}
    partitions: dict[tuple[str, int], Mapping[str, Any]] = {}
    for line in dumped:
        if not (record := _DUMPED.search(line)):
            continue
        fields = json.loads(record[2])
        kind, data = fields["type"], fields["data"]
        if kind == "TOPIC_RECORD":
            topics[data["topicId"]] = data["name"]
        elif kind in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD"):
            place = (data["topicId"], data["partitionId"])
            before = partitions.get(place, {})
            partitions[place] = {**before, **data}
            if kind == "PARTITION_CHANGE_RECORD" and _is_unclean(data.get("leader", -1), before, partitions[place]):
                at = datetime.fromtimestamp(int(record[1]) / 1000, UTC).isoformat(timespec="milliseconds")
                yield {"at": at, "topic": topics[place[0]], "partition": place[1], "leader": data["leader"]}


def _is_unclean(leader: int, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    eligible = {*before.get("isr", ()), *(before.get("eligibleLeaderReplicas") or ())}
    is_marked = after.get("leaderRecoveryState") == _RECOVERING and after.get("isr") == [leader]
    return leader >= 0 and leader not in eligible and is_marked
