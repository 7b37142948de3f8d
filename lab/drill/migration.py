"""A cluster on ZooKeeper moves to KRaft. Source: Kafka 3.9, Operations, ZooKeeper to KRaft Migration."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lab.drill.cluster import LOCALHOST, SESSION_MS, DrillCluster, free_ports

_CLUSTER_ID = re.compile(r"(?m)^cluster\.id=(.*)$")
_OF_ZOOKEEPER = ("zookeeper.", "broker.id=")
_MIGRATES = {"zookeeper.metadata.migration.enable": "true"}
MIGRATED = "Completed migration of metadata from ZooKeeper to KRaft"
"""What the controller writes when it has taken over. Source: KRaftMigrationDriver."""


def add_controller(cluster: DrillCluster) -> None:
    """A controller of KRaft beside the brokers on ZooKeeper: it waits for them to register, and runs."""
    number, (port,) = len(cluster.brokers) + 1, free_ports(1)
    meta = (cluster.log_dirs(1)[0] / "meta.properties").read_text()
    (cluster.cluster_id,) = _CLUSTER_ID.findall(meta)
    zookeeper = {"zookeeper.connect": f"{LOCALHOST}:{cluster.ports['alone']}"}
    cluster.ports = {**cluster.ports, "migrated": port}
    name = f"controller-{number}"
    cluster.add(name, {**cluster.controller(number), **_quorum(number, port), **zookeeper, **_MIGRATES}).start()


def bridge(cluster: DrillCluster, broker: int) -> None:
    """From its next start on a broker on ZooKeeper lets the controller of KRaft know of it."""
    _rewrite(cluster, broker, (), {**_of_broker(cluster), **_MIGRATES})


def to_kraft(cluster: DrillCluster, broker: int) -> None:
    """From its next start on a broker is one of KRaft."""
    roles = {"process.roles": "broker", "node.id": str(broker), "broker.session.timeout.ms": SESSION_MS}
    _rewrite(cluster, broker, _OF_ZOOKEEPER, {**_of_broker(cluster), **roles})


def finish(cluster: DrillCluster) -> None:
    """The controller starts again without ZooKeeper, which ends: from now on the cluster is one of KRaft."""
    controller = cluster.others[f"controller-{len(cluster.brokers) + 1}"]
    controller.stop()
    cluster.rewrite(controller.name, _OF_ZOOKEEPER, {})
    controller.start()
    cluster.others.pop("zookeeper").stop()
    cluster.layout = "separate"
    cluster.ports = {**cluster.ports, "alone": cluster.ports["migrated"]}


def _rewrite(cluster: DrillCluster, broker: int, drop: tuple[str, ...], add: Mapping[str, str]) -> None:
    cluster.rewrite(f"broker-{broker}", drop, add)


def _of_broker(cluster: DrillCluster) -> Mapping[str, str]:
    of_controller = _quorum(len(cluster.brokers) + 1, cluster.ports["migrated"])
    return {name: value for name, value in of_controller.items() if name != "listeners"}


def _quorum(number: int, port: int) -> Mapping[str, str]:
    return {
        "listeners": f"CONTROLLER://{LOCALHOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"{number}@{LOCALHOST}:{port}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    }
