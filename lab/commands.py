"""Try each command of the advice against real brokers: `python -m lab.commands --page docs/advice_commands.md`.

Each distinct command is run by the class that its script starts, against brokers of a version that it is for, with a
group of each protocol, an application of Kafka Streams and a worker of Kafka Connect. It prints the exit code and the
first lines of what each wrote, and ends with 1 if one failed.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_hindsight.catalog.codes import Cause, Harm, Protocol, RemedySetting
from kafka_hindsight.knowledge.advice import advise, changes_of, member_kinds
from lab.drill import libraries
from lab.drill.cluster import DrillCluster, jvm
from lab.drill.frameworks import PROTOCOL, ConnectMember, ShareMember, StreamsMember
from lab.drill.jars import NEWEST, libs
from tools.pages.markdown import as_table, code, page

VERSIONS: Mapping[str, tuple[Protocol, ...]] = {
    NEWEST: tuple(Protocol),
    "3.9.2": (Protocol.CLASSIC,),
}
"""The Kafkas that are started, and the protocols of the groups in each."""

NAMES = ("BOOTSTRAP", "BROKER", "CLIENT", "CONNECT", "CONNECTOR", "GROUP", "PRINCIPAL", "TOPIC")
"""The names in commands for which a reader puts in a value."""

TOPIC, CLIENT = "orders", "orders-a"
_COPY = "orders-copy"
_WITHIN = 90
_SETTLED = 15
"""Seconds until groups are settled."""

_LINES, _WIDTH = 3, 160
_SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
}
CLASSES: Mapping[str, tuple[str, ...]] = {
    "kafka-acls.sh": ("org.apache.kafka.tools.AclCommand", "kafka.admin.AclCommand"),
    "kafka-broker-api-versions.sh": (
        "org.apache.kafka.tools.BrokerApiVersionsCommand",
        "kafka.admin.BrokerApiVersionsCommand",
    ),
    "kafka-configs.sh": ("org.apache.kafka.tools.ConfigCommand", "kafka.admin.ConfigCommand"),
    "kafka-consumer-groups.sh": (
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        "kafka.admin.ConsumerGroupCommand",
    ),
    "kafka-metadata-quorum.sh": ("org.apache.kafka.tools.MetadataQuorumCommand",),
    "kafka-share-groups.sh": ("org.apache.kafka.tools.consumer.group.ShareGroupCommand",),
    "kafka-streams-groups.sh": ("org.apache.kafka.tools.streams.StreamsGroupCommand",),
    "kafka-topics.sh": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
}
"""The classes that each script starts, the newest first. Source: bin/ of Kafka 2.8 to 4.4."""


@dataclass(frozen=True)
class Trial:
    """One command, as it stands in the advice, and what came of it with one version."""

    command: str
    protocol: Protocol | None
    version: str
    status: int
    output: str

    @property
    def has_failed(self) -> bool:
        """Whether it ended with a fault, or wrote of one."""
        return self.status != 0 or self.output.startswith(("Error", "Exception")) or "error_code" in self.output


def distinct_commands() -> Iterator[tuple[str, Protocol | None]]:
    """Each command of the advice, with the protocol of the group that it is about, if any."""
    commands: dict[tuple[str, Protocol | None], None] = {}
    for facts in member_kinds():
        member = replace(facts, session_ms=10_000)
        advised = [c for cause in Cause for c in advise(cause, facts).commands]
        changes = changes_of(RemedySetting.SESSION_TIMEOUT, member, 12_000)
        for command in (*advised, *(c.command for c in changes if c.command)):
            of_group = facts.protocol if "$GROUP" in command else None
            commands[command, of_group] = None
    for harm in Harm:
        for command in harm.noun.commands:
            for protocol in Protocol if "{group}" in command else (None,):
                values = {"topic": "$TOPIC", "group": "$GROUP", "tool": protocol.noun.tool if protocol else ""}
                commands[command.format(**values), protocol] = None
    yield from commands


@cache
def class_of(script: str, version: str) -> str | None:
    """The class that a script starts in this Kafka; None where it has no such script."""
    jars = [zipfile.ZipFile(jar) for jar in libs(version).glob("kafka*.jar")]
    names = {name for jar in jars for name in jar.namelist()}
    return next((c for c in CLASSES[script] if f"{c.replace('.', '/')}.class" in names), None)


def filled(command: str, values: Mapping[str, str]) -> str:
    """A command with values for its names."""
    return re.sub(r"\$(\w+)", lambda name: values[name[1]], command)


def run(command: str, version: str, values: Mapping[str, str]) -> tuple[int, str] | None:
    """The exit code of a command and what it wrote; None where this Kafka has no such script."""
    program, *arguments = shlex.split(filled(command, values))
    words = [program]
    if program != "curl":
        started = class_of(program, version)
        if started is None:
            return None
        words = [*jvm("-Xmx128m", libs(version)), started]
    done = subprocess.run([*words, *arguments], capture_output=True, text=True, timeout=_WITHIN)
    return done.returncode, f"{done.stdout}\n{done.stderr}".strip()


class _Members:
    """The members of a group of each protocol, and a worker of Connect, which poll until the end."""

    def __init__(self, cluster: DrillCluster, folder: Path, protocols: Sequence[Protocol]) -> None:
        self._ends = ExitStack()
        self._is_over = threading.Event()
        self.values = {
            "BOOTSTRAP": cluster.bootstrap, "CLIENT": CLIENT, "PRINCIPAL": "orders", "TOPIC": TOPIC, "BROKER": "1",
        }  # fmt: skip
        config = {"bootstrap.servers": cluster.bootstrap, "auto.offset.reset": "earliest"}
        for protocol in protocols:
            of_group = {**config, "group.id": f"{protocol}-orders", "client.id": CLIENT}
            if protocol.is_of_consumers:
                self._consume({**of_group, "group.protocol": str(protocol)})
            else:
                kind = ShareMember if protocol is Protocol.SHARE else StreamsMember
                own = of_group | ({PROTOCOL: str(protocol)} if protocol is Protocol.STREAMS else {})
                member = kind(folder / f"{protocol}.log", own, [TOPIC, _COPY])
                self._ends.callback(member.end)
                member.join()
        if Protocol.SHARE in protocols:
            worker = ConnectMember(folder / "connect.log", {**config, "group.id": "workers"}, [TOPIC])
            self._ends.callback(worker.end)
            worker.join()
            worker.configure("sink-a", 1)
            self.values |= {"CONNECTOR": "sink-a", "CONNECT": worker.address}

    def _consume(self, config: Mapping[str, str]) -> None:
        consumer = Consumer(dict(config))
        consumer.subscribe([TOPIC])

        def poll() -> None:
            while not self._is_over.is_set():
                consumer.poll(0.2)
            consumer.close()

        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        self._ends.callback(thread.join, _WITHIN)

    def end(self) -> None:
        """End all of them."""
        self._is_over.set()
        self._ends.close()


def trials(version: str, protocols: Sequence[Protocol], folder: Path) -> Iterator[Trial]:
    """Run each command that is for this Kafka, beside living members."""
    with DrillCluster.start(version, folder / version, settings=_SETTINGS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        for future in admin.create_topics([NewTopic(TOPIC, 3, 3), NewTopic(_COPY, 3, 3)]).values():
            future.result()
        members = _Members(cluster, folder, protocols)
        time.sleep(_SETTLED)
        try:
            for command, protocol in distinct_commands():
                if (protocol and protocol not in protocols) or ("$CONNECT" in command and version != NEWEST):
                    continue
                result = run(command, version, members.values | {"GROUP": f"{protocol}-orders"})
                if result is not None:
                    yield Trial(command, protocol, version, *result)
        finally:
            members.end()


def page_of(rows: Sequence[Trial]) -> str:
    """The page of all trials."""
    cells = [
        (
            code(t.command),
            t.protocol or "",
            t.version,
            f"{t.status}{', failed' if t.has_failed else ''}",
            "<br>".join(map(code, _first_lines(t.output))),
        )
        for t in rows
    ]
    versions = ", ".join(VERSIONS)
    failed = sum(t.has_failed for t in rows)
    parts = [
        f"Each distinct command of the [advice](advice.md), run against brokers of Kafka {versions} by the class that"
        " its script starts. `$GROUP` was a group of the protocol that stands beside it, with a living member."
        f" {len(rows)} runs, of which {failed} failed.",
        as_table(("Command", "Group", "Kafka", "Exit code", "What it wrote first"), cells),
    ]
    return page("Commands of the advice, tried", "lab/commands.py", parts, "python -m lab.commands --page")


def _first_lines(output: str) -> list[str]:
    lines = [" ".join(line.split())[:_WIDTH] for line in output.splitlines() if line.strip()]
    return lines[:_LINES]


def main() -> int:
    """Try them all, print each, write the page. Returns 1 if one failed."""
    parser = argparse.ArgumentParser("python -m lab.commands", description=__doc__)
    parser.add_argument("--page", type=Path, help="the page to write")
    options = parser.parse_args()
    if problems := libraries.prepare([libraries.STREAMS, libraries.CONNECT]):
        raise SystemExit(f"Not to be played here: {problems}")
    rows: list[Trial] = []
    with tempfile.TemporaryDirectory() as folder:
        for version, protocols in VERSIONS.items():
            for trial in trials(version, protocols, Path(folder)):
                rows.append(trial)
                print(trial.version, trial.status, trial.command, *_first_lines(trial.output), sep="\n    ", flush=True)
    if options.page:
        options.page.write_text(page_of(rows), encoding="utf-8")
    return int(any(t.has_failed for t in rows))


if __name__ == "__main__":
    sys.exit(main())
