"""Fetch jars from Maven Central, pinned by their hashes, with Ivy: pyspark includes it, and it needs only Java."""

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

_CENTRAL = (
    '<ivysettings><settings defaultResolver="central"/>'
    '<resolvers><ibiblio name="central" m2compatible="true"/></resolvers></ivysettings>'
)


class CannotFetch(Exception):
    """The jars cannot be fetched; the text says what was found, what was needed and what to do."""


class Module(NamedTuple):
    """A Maven module by its coordinates."""

    group: str
    name: str
    version: str


def locked(lock: Path) -> dict[str, str]:
    """The SHA-256 of each jar of a lock file, by the jar's name."""
    return {name: digest for digest, name in (line.split() for line in lock.read_text(encoding="utf-8").splitlines())}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold a lock beside a folder, so that only one process at a time fetches it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(
    modules: Iterable[Module], hashes: Mapping[str, str], folder: Path, cache: Path, is_transitive: bool = True
) -> None:
    """Fetch modules into a folder, which appears only once every jar in it has its pinned hash.

    Args:
        modules: The modules.
        hashes: The SHA-256 of each jar, by name.
        folder: The folder of the jars.
        cache: Ivy's folder of downloads.
        is_transitive: Whether dependencies are fetched too.

    Raises:
        CannotFetch: A jar cannot be fetched, or has another hash.
    """
    partial = folder.with_name(f".{folder.name}.coming")
    shutil.rmtree(partial, ignore_errors=True)
    cache.mkdir(parents=True, exist_ok=True)
    settings, ivy = cache / "settings.xml", cache / f"{folder.name}.xml"
    settings.write_text(_CENTRAL, encoding="utf-8")
    ivy.write_text(_ivy_module(modules, is_transitive), encoding="utf-8")
    inside = launch.spark_home() / "jars"
    tool = ":".join(str(next(inside.glob(f"{name}-*.jar"))) for name in ("ivy", "commons-cli"))
    command = [java.program(), "-cp", tool, "org.apache.ivy.Main", "-settings", str(settings), "-cache", str(cache)]
    command += ["-ivy", str(ivy), "-types", "jar", "bundle", "-retrieve", f"{partial}/[artifact]-[revision].[ext]"]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        raise CannotFetch(
            f"The jars of {folder} could not be fetched: {' '.join(process.stdout.split()[-40:])}\n"
            "Needed: a connection from Java to Maven Central. What to do: check the network and Java's proxy settings."
        )
    if problems := differences(partial, hashes):
        shutil.rmtree(partial, ignore_errors=True)
        raise CannotFetch(
            "\n".join(
                [*problems, "What to do: find out which proxy or mirror stands between this machine and Maven Central."]
            )
        )
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def _ivy_module(modules: Iterable[Module], is_transitive: bool) -> str:
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


def differences(folder: Path, hashes: Mapping[str, str]) -> list[str]:
    """A sentence for each jar of a folder that is missing, is not pinned, or has another hash."""
    actual = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.glob("*.jar")}
    return [
        f"{name}. Found: {actual.get(name, 'no file')}. Needed: {hashes.get(name, 'no such file')}."
        for name in sorted(actual.keys() | hashes.keys())
        if actual.get(name) != hashes.get(name)
    ]
