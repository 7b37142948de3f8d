"""Kafka itself, as a folder of jars: a broker, ZooKeeper where it needs one, the Java clients, their logging."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

from spark_jobs.shared.launch import HOME, spark_home

NEWEST = "4.3.1"
VERSIONS = (NEWEST, "4.1.2", "4.0.0", "3.9.2", "3.7.2", "3.3.2", "3.0.2", "2.8.2", "2.6.3")
"""The Kafkas that a drill can start, each with its jars pinned in locks/kafka-<version>.sha256."""

KAFKAS = HOME / ".kafka"

_LOG4J2 = (
    ("org.apache.logging.log4j", "log4j-core", "2.24.3"),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.24.3"),
)
_RELOAD4J = (("org.slf4j", "slf4j-reload4j", "1.7.36"),)
_CENTRAL = (
    '<ivysettings><settings defaultResolver="central"/>'
    '<resolvers><ibiblio name="central" m2compatible="true"/></resolvers></ivysettings>'
)


class CannotFetch(Exception):
    """The jars are not to be had; the text says what was found, what was needed and what to do."""


def uses_log4j2(version: str) -> bool:
    """Whether this Kafka logs through Log4j 2; before 4.0 through Log4j 1. Source: KIP-653."""
    return int(version.partition(".")[0]) >= 4


def libs(version: str) -> Path:
    """The folder with the jars of one Kafka, fetched where it is missing.

    Raises: CannotFetch where a jar cannot be had or is not the pinned one.
    """
    folder = KAFKAS / version
    lock = HOME / "locks" / f"kafka-{version}.sha256"
    if not lock.exists():
        raise CannotFetch(f"Found: Kafka {version}. Needed: one of {', '.join(VERSIONS)}. Choose one of them.")
    wanted = {name: digest for digest, name in (line.split() for line in lock.read_text().splitlines())}
    KAFKAS.mkdir(exist_ok=True)
    with (KAFKAS / ".lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)  # test processes side by side ask for the same Kafka
        if not folder.exists():
            coming = KAFKAS / f".{version}"
            shutil.rmtree(coming, ignore_errors=True)
            fetch(version, coming)
            _check(coming, wanted)
            coming.rename(folder)
    return folder


def fetch(version: str, folder: Path) -> None:
    """Resolves a Kafka and all it needs from Maven Central with the Ivy inside pyspark, which needs only Java."""
    folder.mkdir(parents=True)
    settings, needed = folder / "settings.xml", folder / "ivy.xml"
    settings.write_text(_CENTRAL)
    needed.write_text(_needed(version))
    inside = spark_home() / "jars"
    tool = ":".join(str(next(inside.glob(f"{name}-*.jar"))) for name in ("ivy", "commons-cli"))
    command = ["java", "-cp", tool, "org.apache.ivy.Main", "-settings", str(settings), "-cache", str(KAFKAS / "cache")]
    command += [
        "-ivy",
        str(needed),
        "-types",
        "jar",
        "bundle",
        "-retrieve",
        str(folder / "[artifact]-[revision].[ext]"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    settings.unlink()
    needed.unlink()
    if done.returncode:
        raise CannotFetch(
            f"Kafka {version} could not be fetched: {' '.join(done.stdout.split()[-40:])}\n"
            "Needed: a way to Maven Central for Java. Check the network and Java's proxy settings."
        )


def _needed(version: str) -> str:
    kafka = [("org.apache.kafka", "kafka_2.13", version), ("org.apache.kafka", "kafka-tools", version)]
    named = [*kafka, *(_LOG4J2 if uses_log4j2(version) else _RELOAD4J)]
    dependencies = "".join(
        f'<dependency org="{org}" name="{name}" rev="{revision}" conf="default->master,compile,runtime"/>'
        for org, name, revision in named
    )
    return (
        '<ivy-module version="2.0"><info organisation="hindsight" module="drill"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def _check(folder: Path, wanted: dict[str, str]) -> None:
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.jar")}
    wrong = [
        f"{name}. Found: {found.get(name, 'no file')}. Needed: {wanted.get(name, 'no such file')}."
        for name in sorted(found.keys() | wanted.keys())
        if found.get(name) != wanted.get(name)
    ]
    if wrong:
        shutil.rmtree(folder)
        raise CannotFetch("\n".join([*wrong, "Find out what stands between this machine and Maven Central."]))


if __name__ == "__main__":
    print(libs(NEWEST))
