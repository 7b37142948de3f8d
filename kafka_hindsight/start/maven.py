"""Jars from Maven Central, pinned by their hashes. Ivy fetches them: pyspark holds it, and it needs Java alone."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from kafka_hindsight.start import java, launch

_DELTA_GROUP = "io.delta"
_CENTRAL = (
    '<ivysettings><settings defaultResolver="central"/>'
    '<resolvers><ibiblio name="central" m2compatible="true"/></resolvers></ivysettings>'
)


class CannotFetch(Exception):
    """The jars are not to be had; the text says what was found, what was needed and what to do."""


class Module(NamedTuple):
    """One module as Maven names it."""

    group: str
    name: str
    version: str


def locked(lock: Path) -> dict[str, str]:
    """The hash of each jar of a lock, by the jar's name."""
    return {name: digest for digest, name in (line.split() for line in lock.read_text(encoding="utf-8").splitlines())}


def fetch_delta(folder: Path, cache: Path) -> None:
    """Fetches Delta's jars, and nothing that they need: Spark has it. Raises: CannotFetch."""
    wanted = locked(launch.DELTA_LOCK)
    modules = [Module(_DELTA_GROUP, *name.removesuffix(".jar").rsplit("-", 1)) for name in wanted]
    fetch(modules, wanted, folder, cache, is_transitive=False)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Holds a lock beside a folder that is fetched: of those that ask for it at the same time one fetches."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(
    modules: Iterable[Module], wanted: Mapping[str, str], folder: Path, cache: Path, is_transitive: bool = True
) -> None:
    """Fetches modules into a folder, which is there when every jar in it is the pinned one.

    Takes: `wanted`, the hash of each jar; `cache`, where Ivy keeps what it has fetched.
    Raises: CannotFetch where a jar cannot be had or is not the pinned one.
    """
    coming = folder.with_name(f".{folder.name}.coming")
    shutil.rmtree(coming, ignore_errors=True)
    cache.mkdir(parents=True, exist_ok=True)
    settings, needed = cache / "settings.xml", cache / f"{folder.name}.xml"
    settings.write_text(_CENTRAL, encoding="utf-8")
    needed.write_text(_needed(modules, is_transitive), encoding="utf-8")
    inside = launch.spark_home() / "jars"
    tool = ":".join(str(next(inside.glob(f"{name}-*.jar"))) for name in ("ivy", "commons-cli"))
    command = [java.program(), "-cp", tool, "org.apache.ivy.Main", "-settings", str(settings), "-cache", str(cache)]
    command += ["-ivy", str(needed), "-types", "jar", "bundle", "-retrieve", f"{coming}/[artifact]-[revision].[ext]"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CannotFetch(
            f"The jars of {folder} could not be fetched: {' '.join(done.stdout.split()[-40:])}\n"
            "Needed: a way to Maven Central for Java. What to do: check the network and Java's proxy settings."
        )
    if wrong := differences(coming, wanted):
        shutil.rmtree(coming, ignore_errors=True)
        raise CannotFetch(
            "\n".join([*wrong, "What to do: find out what stands between this machine and Maven Central."])
        )
    shutil.rmtree(folder, ignore_errors=True)
    coming.rename(folder)


def _needed(modules: Iterable[Module], is_transitive: bool) -> str:
    dependencies = "".join(
        f"<dependency org={quoteattr(m.group)} name={quoteattr(m.name)} rev={quoteattr(m.version)}"
        f' transitive="{str(is_transitive).lower()}" conf="default->master,compile,runtime"/>'
        for m in modules
    )
    return (
        '<ivy-module version="2.0"><info organisation="hindsight" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )


def differences(folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """The jars of a folder that are not the pinned ones, are missing, or are too many: a sentence each."""
    found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.jar")}
    return [
        f"{name}. Found: {found.get(name, 'no file')}. Needed: {wanted.get(name, 'no such file')}."
        for name in sorted(found.keys() | wanted.keys())
        if found.get(name) != wanted.get(name)
    ]
