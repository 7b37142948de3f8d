"""A real Kafka cluster on this machine: brokers, controllers and ZooKeeper as processes under control."""

from __future__ import annotations

import base64
import contextlib
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from lab.drill import processes
from lab.drill.disks import log_dirs
from lab.drill.guards import PASSWORD, PROTOCOLS, Guard
from lab.drill.jars import libs, uses_log4j2
from lab.drill.node import ClusterFault, Node
from lab.drill.node_logs import logging_of

LAYOUTS = ("combined", "separate", "zookeeper")
"""Brokers that are controllers too; brokers beside a controller of their own; brokers on ZooKeeper."""


def layouts_of(version: str) -> tuple[str, ...]:
    """The layouts that a Kafka has, the usual one first. Source: KIP-833, KRaft is for production from 3.3 on.

    From 3.0 to 3.2 KRaft is a preview, and plays what it can.
    """
    if version.startswith("4."):
        return LAYOUTS[:2]
    numbers = tuple(map(int, version.split(".")))
    return LAYOUTS if numbers >= (3, 3) else LAYOUTS[::-1] if numbers >= (3, 0) else LAYOUTS[2:]


SETTINGS: Mapping[str, str] = {
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "50",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.num.partitions": "5",
    "transaction.state.log.min.isr": "1",
    "min.insync.replicas": "1",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "1000",
    "group.min.session.timeout.ms": "3000",
    "leader.imbalance.check.interval.seconds": "300",
    "replica.lag.time.max.ms": "4000",
    "num.network.threads": "2",
    "num.io.threads": "2",
    "controlled.shutdown.enable": "true",
}
"""What every broker of a drill is set to: shorter times than in production, the rest as Kafka ships."""

SESSION_MS = "12000"
"""A broker that is silent for so long is missed; a follower is out of the ISR much sooner."""

_JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-Duser.timezone=UTC",
    "-Djava.awt.headless=true",
)
LOCALHOST = "127.0.0.1"
_UP_WITHIN = 90
_FORMATTED_WITHIN = 120
_PORTS = (20_000, 32_000)
"""Below the ports that the system gives to outgoing connections."""


@dataclass
class DrillCluster:
    """Three brokers and what they need, in one folder: data, logs as the distribution writes them, configurations."""

    version: str
    layout: str
    folder: Path
    libs: Path
    cluster_id: str
    settings: Mapping[str, str]
    ports: Mapping[str, int]
    address: str = LOCALHOST
    guard: Guard | None = None
    brokers: dict[int, Node] = field(default_factory=dict)
    others: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def start(
        cls,
        version: str,
        folder: Path,
        layout: str = "combined",
        settings: Mapping[str, str] | None = None,
        brokers: int = 3,
        address: str = LOCALHOST,
        guard: Guard | None = None,
    ) -> DrillCluster:
        """A running cluster that answers.

        `settings` are broker settings beside SETTINGS, or in their place; `{id}` in a value is the broker's id;
        at `address` the brokers listen for clients and for each other. With a `guard` they ask some who they are.
        Raises ClusterFault, with the last lines of a process that does not start.
        """
        if layout not in layouts_of(version):
            raise ClusterFault(f"Found: Kafka {version}, {layout}. Needed: one of {', '.join(layouts_of(version))}.")
        ids = range(1, brokers + 1)
        kinds = ("broker", "controller", *(PROTOCOLS if guard else ()))
        names = [*(f"{kind}-{i}" for kind in kinds for i in ids), "alone"]
        cluster = cls(
            version=version,
            layout=layout,
            folder=folder.resolve(),
            libs=libs(version),
            cluster_id=drawn_cluster_id(random.SystemRandom()),
            settings={**SETTINGS, **(settings or {})},
            ports=dict(zip(names, free_ports(len(names)))),
            address=address,
            guard=guard,
        )
        cluster._make(ids)
        try:
            cluster._begin()
        except BaseException:
            cluster.end()
            raise
        return cluster

    @property
    def bootstrap(self) -> str:
        """Where clients begin."""
        return self.addresses("broker")

    def addresses(self, kind: str) -> str:
        """Where clients begin that show in this way who they are; `broker`: those that do not."""
        return ",".join(f"{self.address}:{self.ports[f'{kind}-{i}']}" for i in self.brokers)

    @property
    def is_up(self) -> bool:
        """Whether any broker runs."""
        return any(node.is_running() for node in self.brokers.values())

    def reach(self, library: str) -> dict[str, str]:
        """The settings with which a client of a library reaches the brokers."""
        return {"bootstrap.servers": self.bootstrap}

    @property
    def logs(self) -> Path:
        """The folder with a folder of logs for each node."""
        return self.folder / "logs"

    def broker(self, number: int) -> Node:
        """One broker."""
        return self.brokers[number]

    def log_dirs(self, number: int, which: str = "all") -> tuple[Path, ...]:
        """The log directories of one broker: `metadata`, `data`, or all."""
        return log_dirs(self.folder / "data", number, which)

    @property
    def metadata_log(self) -> Path:
        """Where a running broker of KRaft keeps its copy of the metadata log."""
        running = next(i for i, node in self.brokers.items() if node.is_running())
        return self.log_dirs(running, "metadata")[0] / "__cluster_metadata-0"

    def config(self, number: int) -> Path:
        """The properties that one broker starts with."""
        return self._config(f"broker-{number}")

    def renew_disks(self, number: int) -> None:
        """Give a broker that does not run empty disks, formatted for this cluster where it is one of KRaft."""
        for directory in self.log_dirs(number):
            shutil.rmtree(directory)
        if self.layout != "zookeeper":
            self.format([f"broker-{number}"])

    def add(self, name: str, properties: Mapping[str, str]) -> Node:
        """A node beside the brokers, formatted for this cluster, which is not started yet."""
        self.others[name] = self._node(name, properties, "kafka.Kafka")
        self.format([name])
        return self.others[name]

    def rewrite(self, name: str, drop: tuple[str, ...], add: Mapping[str, str]) -> None:
        """Let a node start with other properties from now on, and without those that begin with one of `drop`."""
        file = self._config(name)
        lines = [
            line for line in file.read_text().splitlines() if not line.startswith((*drop, *(f"{k}=" for k in add)))
        ]
        file.write_text("\n".join([*lines, *(f"{k}={v}" for k, v in add.items()), ""]))

    def advertise(self, number: int, host: str | None) -> None:
        """Let a broker send clients with a password to a host from its next start on, and others to its own."""
        ports = {kind: self.ports[f"{kind}-{number}"] for kind in (*PROTOCOLS, "broker")}
        hosts = {kind: host if host and kind == PASSWORD else self.address for kind in ports}
        names = {"broker": "PLAINTEXT"}
        listeners = ",".join(f"{names.get(k, k.upper())}://{hosts[k]}:{port}" for k, port in ports.items())
        self.rewrite(f"broker-{number}", (), {"advertised.listeners": listeners})

    def upgrade(self, number: int, version: str) -> None:
        """Let a broker start with another Kafka from now on."""
        name = f"broker-{number}"
        self.broker(number).command = self._command(name, "kafka.Kafka", self.logs / name, version)

    def wait_until_up(self, within: float = _UP_WITHIN) -> None:
        """Wait until every running broker answers, and count all of them as the cluster's."""
        until = time.monotonic() + within
        running = {i for i, node in self.brokers.items() if node.is_running()}
        nodes = [node for node in (*self.brokers.values(), *self.others.values()) if node.is_running()]
        ids_by_broker: dict[int, set[int]] = {}
        while time.monotonic() < until:
            ids_by_broker = {i: self._brokers_known_to(i) for i in running}
            if all(ids >= running for ids in ids_by_broker.values()):
                return
            if dead_node := next((node for node in nodes if not node.is_running()), None):
                raise ClusterFault(f"{dead_node.name} ended meanwhile:\n{dead_node.last_words()}")
            time.sleep(0.3)
        raise ClusterFault(
            f"Found after {within:.0f} s: {ids_by_broker}. Needed: each of {sorted(running)} knows the others."
        )

    def _brokers_known_to(self, number: int) -> set[int]:
        admin = AdminClient({"bootstrap.servers": f"{self.address}:{self.ports[f'broker-{number}']}", "log_level": 0})
        try:
            return set(admin.list_topics(timeout=5).brokers)
        except KafkaException:
            return set()

    def end(self) -> None:
        """End every process, whatever state it is in."""
        for node in (*self.brokers.values(), *self.others.values()):
            if node.is_running():
                node.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.end()

    def _make(self, ids: Sequence[int]) -> None:
        for name in ("config", "data", "logs"):
            (self.folder / name).mkdir(parents=True)
        alone = {"separate": f"controller-{len(ids) + 1}", "zookeeper": "zookeeper"}.get(self.layout)
        if alone == "zookeeper":
            self.others[alone] = self._node(
                alone, self._zookeeper(), "org.apache.zookeeper.server.quorum.QuorumPeerMain"
            )
        elif alone:
            self.others[alone] = self._node(alone, self.controller(len(ids) + 1), "kafka.Kafka")
        for i in ids:
            self.brokers[i] = self._node(f"broker-{i}", self._broker(i, len(ids)), "kafka.Kafka")

    def _begin(self) -> None:
        if self.layout != "zookeeper":
            self.format([n.name for n in (*self.brokers.values(), *self.others.values())])
        for node in self.others.values():
            node.start()
        if self.layout == "zookeeper":
            self._wait_for_zookeeper()
        for node in self.brokers.values():
            node.start()
        self.wait_until_up()

    def _wait_for_zookeeper(self, within: float = _UP_WITHIN) -> None:
        """Wait until it serves: a broker that connects a moment before gets no answer, and its start fails."""
        until = time.monotonic() + within
        while time.monotonic() < until:
            with (
                contextlib.suppress(OSError),
                socket.create_connection((LOCALHOST, self.ports["alone"]), 1) as connection,
            ):
                connection.sendall(b"srvr")
                if connection.recv(1024).startswith(b"Zookeeper version"):
                    return
            time.sleep(0.1)
        raise ClusterFault(f"Found after {within:.0f} s: ZooKeeper does not serve.")

    def format(self, names: Sequence[str]) -> None:
        """Make the disks of nodes those of this cluster."""
        for process in [self._formatting(name) for name in names]:
            output, _ = process.communicate(timeout=_FORMATTED_WITHIN)
            if process.returncode:
                raise ClusterFault(f"Storage could not be formatted:\n{output.decode(errors='replace')[-2000:]}")

    def _formatting(self, name: str) -> subprocess.Popen[bytes]:
        tool = [*jvm("-Xmx128m", self.libs), "kafka.tools.StorageTool", "format", "-t", self.cluster_id, "-c"]
        return processes.start(
            [*tool, str(self._config(name))], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )

    def _node(self, name: str, properties: Mapping[str, str], main: str) -> Node:
        self._config(name).write_text("".join(f"{k}={v}\n" for k, v in properties.items()))
        logs = self.logs if name != "zookeeper" else self.folder / "data"
        (logs / name).mkdir(parents=True, exist_ok=True)
        return Node(name, self._command(name, main, logs / name, self.version), self.folder / "data")

    def _command(self, name: str, main: str, logs: Path, version: str) -> list[str]:
        logging = self.folder / "config" / f"{name}.logging.properties"
        logging.write_text(logging_of(logs, version))
        kind = "log4j2.configurationFile" if uses_log4j2(version) else "log4j.configuration"
        memory = "-Xmx128m" if name == "zookeeper" else "-Xmx384m"
        properties = (f"-D{kind}={logging.as_uri()}", f"-Djava.io.tmpdir={self.folder / 'data'}")
        return [*jvm(memory, libs(version)), *properties, main, str(self._config(name))]

    def _config(self, name: str) -> Path:
        return self.folder / "config" / f"{name}.properties"

    def _broker(self, number: int, count: int) -> dict[str, str]:
        listener = f"PLAINTEXT://{self.address}:{self.ports[f'broker-{number}']}"
        own = {
            "broker.rack": f"rack-{'abc'[(number - 1) % 3]}",
            "log.dirs": ",".join(map(str, log_dirs(self.folder / "data", number))),
        }
        if self.layout == "zookeeper":
            own |= {
                "broker.id": str(number),
                "listeners": listener,
                "zookeeper.connect": f"127.0.0.1:{self.ports['alone']}",
                "zookeeper.session.timeout.ms": SESSION_MS,
            }
        elif self.layout == "separate":
            own |= {"process.roles": "broker", "listeners": listener, **self._quorum(number, count)}
        else:
            controller = f"CONTROLLER://127.0.0.1:{self.ports[f'controller-{number}']}"
            own |= {"process.roles": "broker,controller", "listeners": f"{listener},{controller}"}
            own |= self._quorum(number, count)
        own = {k: v.format(id=number) for k, v in {**own, **self.settings}.items()}
        if self.guard:
            ports = {kind: self.ports[f"{kind}-{number}"] for kind in PROTOCOLS}
            own |= self.guard.of_broker(own["listeners"], ports, self.address)
        return own

    def controller(self, number: int) -> dict[str, str]:
        """The properties of a controller that stands beside the brokers."""
        return {
            "process.roles": "controller",
            "listeners": f"CONTROLLER://127.0.0.1:{self.ports['alone']}",
            "log.dirs": str(self.folder / "data" / f"controller-{number}"),
            **self._quorum(number, number - 1),
            **(self.guard.of_controller() if self.guard else {}),
            **{k: v for k, v in self.settings.items() if k.startswith(("leader.imbalance", "min.insync", "offsets."))},
        }

    def _quorum(self, number: int, count: int) -> dict[str, str]:
        voters = (
            f"{count + 1}@127.0.0.1:{self.ports['alone']}"
            if self.layout == "separate"
            else ",".join(f"{i}@127.0.0.1:{self.ports[f'controller-{i}']}" for i in range(1, count + 1))
        )
        return {
            "node.id": str(number),
            "controller.listener.names": "CONTROLLER",
            "broker.session.timeout.ms": SESSION_MS,
            "controller.quorum.voters": voters,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        }

    def _zookeeper(self) -> dict[str, str]:
        return {
            "dataDir": str(self.folder / "data" / "zookeeper"),
            "clientPort": str(self.ports["alone"]),
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": "0",
            "admin.enableServer": "false",
            "tickTime": "1000",
        }


def drawn_cluster_id(rng: random.Random) -> str:
    """A cluster id as Kafka draws one: 16 bytes in URL-safe base64, the first letter not "-".

    Source: org.apache.kafka.common.Uuid.randomUuid; the storage tool takes a leading "-" for an option.
    """
    drawn = base64.urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")
    return drawn_cluster_id(rng) if drawn.startswith("-") else drawn


def jvm(memory: str, jars: Path) -> list[str]:
    """The command that a program of Kafka's begins with."""
    return ["java", *_JVM, memory, "-cp", f"{jars}/*"]


def free_ports(count: int) -> list[int]:
    """Ports that no process listens on now, kept open together while they are looked for."""
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        for port in random.SystemRandom().sample(range(*_PORTS), 500):
            candidate = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                candidate.bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                return ports
    raise ClusterFault(f"Found: {len(ports)} free ports between {_PORTS[0]} and {_PORTS[1]}. Needed: {count}.")
