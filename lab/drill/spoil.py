"""Causes that make the start of a broker fail, and how to undo them."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from kafka_hindsight.catalog.codes import StartFailure
from lab.drill import disks
from lab.drill.cluster import DrillCluster, free_ports

_TOO_LITTLE = "-Xmx12m"
_CLUSTER_ID = re.compile(r"(?m)^cluster\.id=.*$")
_OWN = re.compile(r"(?m)^(?:node\.id|log\.dirs)=.*\n")
_GIVES_UP_SOON = "initial.broker.registration.timeout.ms=8000\nzookeeper.connection.timeout.ms=6000\n"

Spoil = Callable[[DrillCluster, int], AbstractContextManager[None]]
"""Spoils the start of one broker for as long as the block lasts."""


@contextmanager
def _port(cluster: DrillCluster, broker: int) -> Iterator[None]:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((cluster.address, cluster.ports[f"broker-{broker}"]))
        other.listen()
        yield


@contextmanager
def _disks(cluster: DrillCluster, broker: int) -> Iterator[None]:
    disks.fail(cluster.log_dirs(broker))
    try:
        yield
    finally:
        disks.mend(cluster.log_dirs(broker))


@contextmanager
def _memory(cluster: DrillCluster, broker: int) -> Iterator[None]:
    node = cluster.broker(broker)
    enough = node.command
    node.command = [_TOO_LITTLE if word.startswith("-Xmx") else word for word in enough]
    try:
        yield
    finally:
        node.command = enough


@contextmanager
def _rewritten(file: Path, change: Callable[[str], str]) -> Iterator[None]:
    text = file.read_text()
    file.write_text(change(text))
    try:
        yield
    finally:
        file.write_text(text)


def _setting(cluster: DrillCluster, broker: int) -> AbstractContextManager[None]:
    return _rewritten(cluster.config(broker), lambda text: f"{text}num.network.threads=none\n")


@contextmanager
def _cluster_id(cluster: DrillCluster, broker: int) -> Iterator[None]:
    """On ZooKeeper the whole disk is another cluster's. A KRaft voter would wait for its cluster then, and not end."""
    with ExitStack() as stack:
        for directory in cluster.log_dirs(broker, "all" if cluster.layout == "zookeeper" else "metadata"):
            meta = directory / "meta.properties"
            stack.enter_context(
                _rewritten(meta, lambda text: _CLUSTER_ID.sub("cluster.id=AnotherClusterAltogethr", text))
            )
        yield


def _quorum(cluster: DrillCluster, broker: int) -> AbstractContextManager[None]:
    """On the ports of the other voters, or of ZooKeeper, no process listens."""
    own = cluster.ports.get(f"controller-{broker}")
    others = {str(port) for name, port in cluster.ports.items() if not name.startswith("broker-")} - {str(own)}

    def change(text: str) -> str:
        for port, free in zip(sorted(others), free_ports(len(others))):
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{free}")
        return f"{text}{_GIVES_UP_SOON}"

    return _rewritten(cluster.config(broker), change)


def other_than(cluster: DrillCluster, broker: int) -> int:
    """The broker whose id is taken."""
    return next(number for number in cluster.brokers if number != broker)


@contextmanager
def _id(cluster: DrillCluster, broker: int) -> Iterator[None]:
    """It is another one's, with disks of its own."""
    other = other_than(cluster, broker)
    own = {"node.id": other, "log.dirs": cluster.folder / "data" / f"broker-{broker}-as-{other}"}
    lines = "".join(f"{key}={value}\n" for key, value in own.items())
    with _rewritten(cluster.config(broker), lambda text: f"{_OWN.sub('', text)}{lines}{_GIVES_UP_SOON}"):
        cluster.format([f"broker-{broker}"])
        yield


def _certificate(cluster: DrillCluster, broker: int) -> AbstractContextManager[None]:
    """The certificate that it shows to the controllers has ended (Certify)."""
    return _rewritten(cluster.config(broker), lambda text: f"{text}{_GIVES_UP_SOON}")


SPOILS: Mapping[str, Spoil] = {
    StartFailure.PORT_IN_USE: _port,
    StartFailure.LOG_DIR_FAILED: _disks,
    StartFailure.ID_TAKEN: _id,
    StartFailure.OUT_OF_MEMORY: _memory,
    StartFailure.CONFIGURATION: _setting,
    StartFailure.OTHER_CLUSTER: _cluster_id,
    StartFailure.NOT_REGISTERED: _quorum,
    StartFailure.NOT_AUTHENTICATED: _certificate,
}
"""How the start of a broker is made to fail, by what the audit should call it."""
