"""The cost of one reading of a large cluster: three brokers on this machine, 5,000 partitions, 500 groups.

`python -m lab.bench.snapshot [--partitions 5000] [--groups 500]` prints seconds and peak memory of parent and child.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_hindsight.kafka import cluster_snapshot
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.settings.home import HOME
from lab.drill.cluster import DrillCluster
from lab.drill.jars import NEWEST

PER_TOPIC = 20
AT_ONCE = 25
WORKERS = 8
WITH_MEMBERS = 20
"""Groups that also hold a living member; the others hold committed offsets."""

READINGS = 3
HEAD = ("partitions", "groups", "members", "seconds", "reading MB", "parent MiB", "child MiB")


def main() -> None:
    """Build the cluster, then take readings, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=5000)
    parser.add_argument("--groups", type=int, default=500)
    parser.add_argument("--read", help="take one reading of these brokers in this process")
    options = parser.parse_args()
    if options.read:
        print(json.dumps(measure(options.read)))
        return
    with tempfile.TemporaryDirectory() as folder, DrillCluster.start(NEWEST, Path(folder) / "cluster") as cluster:
        began = time.monotonic()
        topics = make_topics(cluster.bootstrap, options.partitions)
        members = make_groups(cluster.bootstrap, topics, options.groups)
        print(f"Kafka {NEWEST}, three brokers; {time.monotonic() - began:.0f} s to make topics and groups", flush=True)
        print("".join(f"{name:>12}" for name in HEAD))
        for _ in range(READINGS):
            print(row(measured(cluster.bootstrap)), flush=True)
        for member in members:
            member.close()


def make_topics(bootstrap: str, partitions: int) -> list[str]:
    """Topics of PER_TOPIC partitions with three replicas, some at a time, until every partition has a leader."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    names = [f"topic-{n:04}" for n in range(partitions // PER_TOPIC)]
    for some in cut(names):
        for future in admin.create_topics([NewTopic(n, PER_TOPIC, 3) for n in some], request_timeout=60).values():
            future.result()
    while True:
        topics = admin.list_topics(timeout=30).topics
        leaders = sum(p.leader >= 0 for n in names if n in topics for p in topics[n].partitions.values())
        if leaders == len(names) * PER_TOPIC:
            return names
        time.sleep(0.5)


def make_groups(bootstrap: str, topics: Sequence[str], count: int) -> list[Consumer]:
    """Make groups with an offset for each partition of one topic. Returns the living members of some."""
    names = [f"group-{n:04}" for n in range(count)]
    members = []
    for name in names[:WITH_MEMBERS]:
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": name, "log_level": 0})
        consumer.subscribe([topics[0]])
        consumer.poll(0)
        members.append(consumer)

    def commit(number: int) -> None:
        topic = topics[number % len(topics)]
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": names[number], "log_level": 0})
        offsets = [TopicPartition(topic, p, 0) for p in range(PER_TOPIC)]
        while not has_committed(consumer, offsets):
            time.sleep(0.5)
        consumer.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(commit, range(WITH_MEMBERS, count)))
    until = time.monotonic() + 20
    while time.monotonic() < until:
        for consumer in members:
            consumer.poll(0.01)
    return members


def has_committed(consumer: Consumer, offsets: list[TopicPartition]) -> bool:
    """Whether the group's coordinator has taken the offsets; while it loads its part of the topic, it takes none."""
    try:
        consumer.commit(offsets=offsets, asynchronous=False)
    except KafkaException:
        return False
    return True


def measured(bootstrap: str) -> dict[str, Any]:
    """The measures of one reading, taken in a process of its own."""
    command = [sys.executable, "-m", "lab.bench.snapshot", "--read", bootstrap]
    process = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(process.stderr[-2000:])
    return dict(json.loads(process.stdout))


def measure(bootstrap: str) -> dict[str, Any]:
    """Take one reading. Returns its counts, seconds with the start of the child, bytes, peak memory of both."""
    began = time.monotonic()
    reading = cluster_snapshot.take(Connection.of("bench", {"bootstrap.servers": bootstrap}))
    seconds = time.monotonic() - began
    return {
        "partitions": sum(len(t["partitions"]) for t in reading["topics"]),
        "groups": len(reading["groups"]),
        "members": sum(len(g.get("members", ())) for g in reading["groups"]),
        "seconds": seconds,
        "bytes": len(json.dumps(reading)),
        "parent_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "child_kib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
        "missing": reading.get("missing", []),
    }


def row(figures: dict[str, Any]) -> str:
    """One reading's measures as a line, and what it lacked."""
    counts = (figures["partitions"], figures["groups"], figures["members"])
    measures = (figures["seconds"], figures["bytes"] / 1e6, figures["parent_kib"] / 1024, figures["child_kib"] / 1024)
    line = "".join([*(f"{n:>12,}" for n in counts), *(f"{m:>12.2f}" for m in measures)])
    return "\n".join([line, *(f"  missing, {m['part']}: {m['reason']}" for m in figures["missing"])])


def cut(things: Sequence[str]) -> Iterator[Sequence[str]]:
    """Some at a time."""
    return (things[n : n + AT_ONCE] for n in range(0, len(things), AT_ONCE))


if __name__ == "__main__":
    main()
