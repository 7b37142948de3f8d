"""Members that come and go on a cluster that others run, a scenario now and then, for as long as this process lives.

`python -m lab.drill.everyday --bootstrap host:port --folder DIR`: logs/ in the folder are the brokers'; clients/ and
truth/ are written here. HINDSIGHT_KAFKA_PASSWORD in the environment is for brokers that ask for a password. Scenarios
that need brokers under control, topics or listeners of their own, or an administrator are not played.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from lab.drill.admin import Admin, AdminFault
from lab.drill.cluster import DrillCluster
from lab.drill.jars import NEWEST, libs
from lab.drill.libraries import JAVA, LIBRARIES, LIBRDKAFKA
from lab.drill.names import DrawnNames
from lab.drill.node import Node
from lab.drill.play import play_one, tell
from lab.drill.run import MAIN_PARTITIONS, member_config
from lab.drill.scenarios import SCENARIOS
from lab.drill.scene import DrillStage, Scene
from lab.drill.steps import MAIN, Back, Gone, OnMember, RemoveByAdmin, Scenario, Settled, Start, Wait
from lab.drill.truth_file import TruthFile

TOPIC = "orders"
PASSWORD = "HINDSIGHT_KAFKA_PASSWORD"
"""The variable with the password that the brokers ask for; what is started from here does not inherit it."""

_USER = "hindsight"
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
KEPT_SECONDS = 10 * 86_400
_RECORDS_EVERY = 5
_ERRORS = 3
_WAITED_FOR = (Back, Gone, Settled, Wait)


@dataclass
class ClusterElsewhere(DrillCluster):
    """A cluster of which only an address, the brokers' logs and the password that they ask for are known."""

    address: str = ""
    password: str = ""

    @property
    def bootstrap(self) -> str:
        """Where clients begin."""
        return self.address

    def reach(self, library: str) -> dict[str, str]:
        """The settings with which a client of a library reaches the brokers, and logs in."""
        return {"bootstrap.servers": self.address, **_login(library, self.password)}

    @classmethod
    def at(cls, bootstrap: str, folder: Path, password: str) -> ClusterElsewhere:
        """The cluster, with the brokers it has now. Raises KafkaException where it does not answer."""
        reach = {"bootstrap.servers": bootstrap, **_login(LIBRDKAFKA, password)}
        metadata = AdminClient(reach).list_topics(timeout=30)
        return cls(
            version=NEWEST,
            layout="combined",
            folder=folder,
            libs=libs(NEWEST),
            cluster_id=str(metadata.cluster_id),
            settings={},
            ports={},
            brokers={number: Node(f"broker-{number}", (), folder) for number in metadata.brokers},
            address=bootstrap,
            password=password,
        )


def _login(library: str, password: str) -> dict[str, str]:
    """The settings of a client for brokers that require a password. Java and librdkafka write them differently."""
    if not password:
        return {}
    how = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    if library == JAVA:
        return {**how, "sasl.jaas.config": f'{_MODULE} required username="{_USER}" password="{password}";'}
    return {**how, "sasl.username": _USER, "sasl.password": password}


def of_members(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The scenarios in which members alone do something, on a topic that is there."""
    return [s for s in scenarios if s.fits(NEWEST, "combined") and not s.on_brokers and all(map(_is_theirs, s.steps))]


def _is_theirs(step: object) -> bool:
    if isinstance(step, Start):
        is_here = step.library == JAVA or LIBRARIES[step.library].toolchain is None
        return is_here and step.topics == (MAIN,) and not (step.pattern or step.refused or step.shows)
    return isinstance(step, (*_WAITED_FOR, OnMember)) and not isinstance(step, RemoveByAdmin)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play rounds. Returns 0 after the requested number; without a number it runs until it is ended."""
    options = _parser().parse_args(arguments)
    logging.disable()  # py4j speaks of each JVM that is killed; that is what members do.
    folder = options.folder.resolve()
    for name in ("clients", "truth"):
        (folder / name).mkdir(exist_ok=True)
    rng = random.Random(options.seed)
    cluster = ClusterElsewhere.at(options.bootstrap, folder, os.environ.pop(PASSWORD, ""))
    with Admin(cluster.reach(JAVA), folder / "drill.log") as admin:
        _make_topic(admin)
        threading.Thread(target=_produce, args=(cluster.reach(LIBRDKAFKA),), daemon=True).start()
        _rounds(cluster, admin, rng, options)
    return 0


def _rounds(cluster: DrillCluster, admin: Admin, rng: random.Random, options: argparse.Namespace) -> None:
    names = DrawnNames(rng)
    clients = cluster.folder / "clients"
    scenarios = [SCENARIOS[name] for name in options.scenarios.split(",") if name] or of_members([*SCENARIOS.values()])
    played = 0
    while not options.rounds or played < options.rounds:
        truth = TruthFile(cluster.folder / "truth" / f"{datetime.now(UTC):%Y%m%dT%H%M%S}.jsonl")
        stage = DrillStage(cluster, admin, truth, clients, names, TOPIC, member_config(rng))
        play_one(Scene(stage, rng.choice(scenarios), random.Random(rng.getrandbits(32))), tell)
        _forget(clients, cluster.folder / "truth")
        played += 1
        time.sleep(rng.uniform(0.5, 1.5) * options.rest)


def _make_topic(admin: Admin) -> None:
    try:
        admin.create_topic(TOPIC, MAIN_PARTITIONS)
    except AdminFault as fault:
        if "TopicExists" not in str(fault):
            raise


def _produce(reach: Mapping[str, str]) -> None:
    """Write a few records at a time, so that there is something to read, and a lag while no member reads."""
    producer = Producer({**reach, "client.id": f"{TOPIC}-feed", "log_level": _ERRORS})
    while True:
        for partition in range(MAIN_PARTITIONS):
            producer.produce(TOPIC, bytes(200), partition=partition)
        producer.flush(_RECORDS_EVERY)
        time.sleep(_RECORDS_EVERY)


def _forget(*folders: Path) -> None:
    for file in (f for folder in folders for f in folder.iterdir()):
        if time.time() - file.stat().st_mtime > KEPT_SECONDS:
            file.unlink()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab.drill.everyday", description="Members that come and go.")
    parser.add_argument("--bootstrap", required=True, help="where clients begin: host:port,host:port")
    parser.add_argument("--folder", required=True, type=Path, help="holds the brokers' logs/; clients/ go there too")
    parser.add_argument("--scenarios", default="", help="names with commas between; default: all that fit")
    parser.add_argument("--rest", default=240, type=float, help="seconds between two scenarios, about")
    parser.add_argument("--rounds", default=0, type=int, help="end after so many scenarios; 0: never")
    parser.add_argument("--seed", type=int, help="gives names and order")
    return parser


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
