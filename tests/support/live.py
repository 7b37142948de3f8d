"""What tests of readings share: ways into the cluster of the live tests, and patience."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.settings.home import HOME
from tests.live.conftest import USERS, GuardedCluster

OPERATIONS = {
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
}


def connection(cluster: GuardedCluster, timeout_ms: int = 4000, **settings: str) -> Connection:
    return Connection.of(
        "live", {"bootstrap.servers": cluster.bootstrap, "default.api.timeout.ms": timeout_ms, **settings}
    )


def guarded(cluster: GuardedCluster, user: str, password: str | None = None) -> Connection:
    return Connection.of(
        "guarded",
        {
            "bootstrap.servers": cluster.guarded_bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": password or USERS[user],
        },
    )


def comes(holds: Callable[[], bool]) -> bool:
    """Whether it holds, or begins to within ten minutes: a busy machine takes its time."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.2)
    return False


def reader_of_this_process() -> int:
    (child,) = [
        int(pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
        if b"kafka_hindsight.kafka.cluster_reader" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return child


def documented_rights() -> list[AclBinding]:
    """The commands of docs/live.md that give the rights a reading needs, and the records of groups."""
    page = (HOME / "docs" / "live.md").read_text()
    commands = re.findall(r"kafka-acls\.sh .*--allow-principal User:hindsight (.*)", page)
    found = []
    for command in commands:
        kind = next(k for k in ("cluster", "topic", "group") if f"--{k}" in command)
        name = "kafka-cluster" if kind == "cluster" else command.rpartition(f"--{kind} ")[2].strip("'")
        resource = {"cluster": ResourceType.BROKER, "topic": ResourceType.TOPIC, "group": ResourceType.GROUP}[kind]
        for operation in re.findall(r"--operation (\w+)", command):
            found.append(
                AclBinding(
                    resource,
                    name,
                    ResourcePatternType.LITERAL,
                    "User:hindsight",
                    "*",
                    OPERATIONS[operation],
                    AclPermissionType.ALLOW,
                )
            )
    assert found
    return found
