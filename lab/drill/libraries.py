"""The client libraries whose consumers are members of a drill, and how their programs come onto this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kafka_hindsight.settings.home import HOME
from setup import maven
from setup.needs import CLIENTS

JAVA = "java"
"""Kafka's own consumer, of the Kafka that is played."""

LIBRDKAFKA = "librdkafka"
STREAMS, CONNECT, SHARE = "streams", "connect", "share"
"""Frameworks that form groups of their own, and consumers of a share group: lab.drill.frameworks has their members."""

PROGRAMS = HOME / "lab" / "drill" / "clients"
_BUILT_WITHIN = 600


class CannotPlay(Exception):
    """A library's members cannot be played here; the text says why."""


class Toolchain(NamedTuple):
    """The build of a language's programs.

    `tool`: the program that it needs; `made_from`: their sources, the lock of their libraries first; `build`: a
    function that takes the target folder.
    """

    tool: str
    made_from: tuple[Path, ...]
    build: Callable[[Path], None]


class Library(NamedTuple):
    """A client library. `toolchain`: by name; None: its members need nothing. `program`: what starts a member."""

    toolchain: str | None
    program: tuple[str, ...]


def _run(*command: str | Path, cwd: Path, **environment: str) -> None:
    variables = {**os.environ, **environment}
    try:
        process = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=_BUILT_WITHIN)
    except subprocess.TimeoutExpired:
        raise CannotPlay(f"{command[0]} had not ended after {_BUILT_WITHIN} s.") from None
    if process.returncode:
        raise CannotPlay(f"{' '.join(map(str, command))} failed: {' '.join(process.stderr.split()[-30:])}")


def _python(to: Path) -> None:
    _run(sys.executable, "-m", "venv", to, cwd=HOME)
    _run(
        to / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--require-hashes",
        "-r",
        _OF_PYTHON.made_from[0],
        cwd=HOME,
    )


def _go(to: Path) -> None:
    _run("go", "build", "-o", to / "member", ".", cwd=PROGRAMS / "go", CGO_ENABLED="0")


def _node(to: Path) -> None:
    to.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PROGRAMS / "node" / name, to)
    _run("npm", "ci", "--silent", "--ignore-scripts", cwd=to)


_OF_PYTHON = Toolchain(sys.executable, (HOME / "locks" / "clients.txt",), _python)
JARS = CLIENTS / "java"
"""The jars of Kafka Streams and of a connector, beside those of the newest Kafka."""


def _java(to: Path) -> None:
    checksums = maven.locked(TOOLCHAINS["java"].made_from[0])
    modules = [maven.Module("org.apache.kafka", *name.removesuffix(".jar").rsplit("-", 1)) for name in checksums]
    try:
        maven.fetch(modules, checksums, to, CLIENTS / "ivy", is_transitive=False)
    except maven.CannotFetch as fault:
        raise CannotPlay(str(fault)) from None


TOOLCHAINS: Mapping[str, Toolchain] = {
    "python": _OF_PYTHON,
    "go": Toolchain("go", (PROGRAMS / "go" / "go.sum", *sorted((PROGRAMS / "go").glob("*.go"))), _go),
    "java": Toolchain("java", (HOME / "locks" / "clients.sha256",), _java),
    "node": Toolchain("npm", (PROGRAMS / "node" / "package-lock.json",), _node),
}

_LIBRDKAFKA = (sys.executable, "-m", "lab.drill.librdkafka_member")
_PYTHON = (str(CLIENTS / "python" / "bin" / "python"), str(PROGRAMS / "python" / "member.py"))
_GO = str(CLIENTS / "go" / "member")

LIBRARIES: Mapping[str, Library] = {
    LIBRDKAFKA: Library(None, _LIBRDKAFKA),
    "confluent-kafka": Library(None, (*_LIBRDKAFKA, "--logger")),
    "aiokafka": Library("python", (*_PYTHON, "aiokafka")),
    "kafka-python": Library("python", (*_PYTHON, "kafka-python")),
    "franz-go": Library("go", (_GO, "franz-go")),
    "sarama": Library("go", (_GO, "sarama")),
    "kafka-go": Library("go", (_GO, "kafka-go")),
    STREAMS: Library("java", ()),
    CONNECT: Library("java", ()),
    SHARE: Library(None, ()),
    "kafkajs": Library("node", ("node", str(PROGRAMS / "node" / "member.js"))),
}

ENVIRONMENT = {"PYTHONPATH": str(HOME), "NODE_PATH": str(CLIENTS / "node" / "node_modules"), "TZ": "UTC"}
"""What each program is given beside this process's environment."""


def program_of(library: str) -> Sequence[str]:
    """The command that starts a member."""
    return LIBRARIES[library].program


def prepare(libraries: Iterable[str]) -> dict[str, str]:
    """Build what members of these libraries need. Returns those that cannot be played, each with the reason."""
    toolchains = {name: LIBRARIES[name].toolchain for name in libraries if name != JAVA}
    failed = {chain: why for chain in sorted({c for c in toolchains.values() if c}) if (why := _built(chain))}
    return {name: failed[chain] for name, chain in toolchains.items() if chain in failed}


def _built(name: str) -> str | None:
    """Build the programs of a language where they are missing or outdated. Returns why that failed."""
    chain = TOOLCHAINS[name]
    if not shutil.which(chain.tool):
        return f"Found: no program {chain.tool}. Install it to play them."
    stamp, made_from = CLIENTS / f"{name}.built", b"".join(path.read_bytes() for path in chain.made_from)
    with maven.alone(CLIENTS / name):
        try:
            if not stamp.exists() or stamp.read_bytes() != made_from:
                chain.build(CLIENTS / name)
                stamp.write_bytes(made_from)
        except CannotPlay as fault:
            return str(fault)
    return None
