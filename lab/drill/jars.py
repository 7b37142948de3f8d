"""Kafka itself, as a folder of jars: a broker, ZooKeeper where it needs one, the Java clients, their logging."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from setup import maven
from setup.maven import CannotFetch
from setup.needs import KAFKAS

NEWEST = "4.4.0"
VERSIONS = (NEWEST, "4.3.1", "4.2.2", "4.1.2", "4.0.2", "3.9.2", "3.7.2", "3.3.2", "3.0.2", "2.8.2", "2.6.3")
"""The Kafkas that a drill can start, each with its jars pinned in locks/kafka-<version>.sha256."""

_LOG4J2 = (
    maven.Module("org.apache.logging.log4j", "log4j-core", "2.24.3"),
    maven.Module("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
)
_RELOAD4J = (maven.Module("org.slf4j", "slf4j-reload4j", "1.7.36"),)


def uses_log4j2(version: str) -> bool:
    """Whether this Kafka logs through Log4j 2; before 4.0 through Log4j 1. Source: KIP-653."""
    return int(version.partition(".")[0]) >= 4


def libs(version: str) -> Path:
    """The folder with the jars of one Kafka, fetched where it is missing.

    Raises CannotFetch where a jar is not available or is not the pinned one.
    """
    folder = KAFKAS / version
    lock = HOME / "locks" / f"kafka-{version}.sha256"
    if not lock.exists():
        raise CannotFetch(f"Found: Kafka {version}. Needed: one of {', '.join(VERSIONS)}. Choose one of them.")
    if not folder.exists():
        with maven.alone(folder):  # test processes side by side ask for the same Kafka
            if not folder.exists():
                fetch(version, folder, maven.locked(lock))
    return folder


def fetch(version: str, folder: Path, checksums: Mapping[str, str]) -> None:
    """Resolves a Kafka and all it needs."""
    kafka = [maven.Module("org.apache.kafka", name, version) for name in ("kafka_2.13", "kafka-tools")]
    maven.fetch([*kafka, *(_LOG4J2 if uses_log4j2(version) else _RELOAD4J)], checksums, folder, KAFKAS / "cache")


if __name__ == "__main__":
    print(libs(NEWEST))
