"""A drill kept as a recording: what a site would have, and the truth, with nothing of this machine in it.

`python -m lab.drill.record night.tar.gz` keeps the newest drill, so that a night that was judged wrong becomes a test.
"""

from __future__ import annotations

import argparse
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput

DRILLS = HOME / ".drill"
"""Where drills lie, each in a folder that begins with the instant it was started at."""

KEPT = (
    "logs/**/*.log*",
    "clients/*.log",
    "clients/*.out",
    "snapshots.jsonl",
    "truth.jsonl",
    "cluster.json",
    "canary.jsonl",
    "internal_topics.jsonl",
)
NEEDED = ("logs", "truth.jsonl")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m lab.drill.record", description="Keep a drill as a recording.")
    parser.add_argument("to", type=Path, help="a new folder, or a file that ends in .tar.gz")
    parser.add_argument("--drill", type=Path, help="the drill's folder; default: the newest drill", metavar="FOLDER")
    options = parser.parse_args(arguments)
    try:
        print(record(options.drill, options.to))
    except BadInput as problem:
        parser.error(" ".join(problem.sentences))


def record(drill: Path | None, to: Path) -> Path:
    """Keep a drill as a folder, or as one file where `to` ends in .tar.gz.

    Without a folder it is the newest drill.
    Every line and the order stay; only paths of this machine are rewritten.
    Raises BadInput where there is no drill, or something at `to`.
    """
    source = drill or newest()
    if lacking := [name for name in NEEDED if not (source / name).exists()]:
        raise BadInput(f"{source} has no {' and no '.join(lacking)}. Needed: the folder of a drill. Name one.")
    if to.exists():
        raise BadInput(f"{to} exists already. Needed: a name that is free. Choose another one, or move it away.")
    to.parent.mkdir(parents=True, exist_ok=True)
    if to.name.endswith(".tar.gz"):
        name = to.name.removesuffix(".tar.gz")
        with tempfile.TemporaryDirectory() as temporary, tarfile.open(to, "w:gz") as packed:
            _copy(source, Path(temporary) / name)
            packed.add(Path(temporary) / name, arcname=name, filter=_of_nobody)
    else:
        _copy(source, to)
    return to


def newest() -> Path:
    """The drill that was started last. Raises BadInput where there is none."""
    drills = sorted(d for d in DRILLS.glob("*") if (d / "truth.jsonl").exists())
    if not drills:
        raise BadInput(f"Found: no drill in {DRILLS}. Needed: one. Run `make drill`, or name a drill's folder.")
    return drills[-1]


def neutral(text: str, drill: Path) -> str:
    """A text without the paths of this machine: the drill's folder, this project, the user's home."""
    for path, name in _names(drill).items():
        text = text.replace(path, name)
    return text


def _names(drill: Path) -> Mapping[str, str]:
    """Longer paths first: one may lie in another."""
    names = {str(drill.resolve()): "/kafka", str(drill): "/kafka", str(HOME): "/opt/hindsight"}
    names |= {str(Path.home()): "/home/kafka"} if len(Path.home().parts) > 1 else {}
    return {path: names[path] for path in sorted(names, key=len, reverse=True) if len(Path(path).parts) > 1}


def _copy(source: Path, to: Path) -> None:
    for file in _files_of(source):
        target = to / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(
            neutral(file.read_bytes().decode(errors="surrogateescape"), source).encode(errors="surrogateescape")
        )


def _files_of(source: Path) -> Iterator[Path]:
    for pattern in KEPT:
        yield from sorted(p for p in source.glob(pattern) if p.is_file())


def _of_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "kafka"
    return member


if __name__ == "__main__":
    main()
