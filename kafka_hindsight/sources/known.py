"""The kinds of sources, and the files that declare them: `<HINDSIGHT_SOURCES>/<name>.toml` for `source://name`."""

from __future__ import annotations

import importlib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from kafka_hindsight.settings.config import SOURCE
from kafka_hindsight.settings.home import WORK
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sources.model import Source

FOLDER_VARIABLE = "HINDSIGHT_SOURCES"
"""Names the folder of these files; without it `sources` where we work. Who starts a run names a source, and cannot say
what it runs, or where its secrets go."""

KINDS: Mapping[str, tuple[str, str]] = {
    "command": ("kafka_hindsight.sources.command", "Commands"),
    "kafka": ("kafka_hindsight.kafka.topic_logs", "Topic"),
}
"""The class of each kind, by its module: clients are loaded only where they are used."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def name_of(place: str) -> str:
    """The name of a source. Raises: BadInput where it cannot be one."""
    name = place.removeprefix(SOURCE)
    if not _NAME.fullmatch(name):
        raise BadInput(f"{place!r} names no source. Needed: source:// and letters, digits, dot, dash or underscore.")
    return name


def source_at(place: str) -> Source:
    """The source that a file declares. Raises: BadInput, without a value of the file: it may be a secret."""
    name = name_of(place)
    folder = Path(os.environ.get(FOLDER_VARIABLE) or WORK / "sources").expanduser()
    file = folder / f"{name}.toml"
    try:
        said = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = ", ".join(sorted(p.stem for p in folder.glob("*.toml"))) or "none"
        raise BadInput(
            f"{place} has no file {file}. Needed: one; those that are there: {known}. Write it, or name its folder in"
            f" {FOLDER_VARIABLE}."
        ) from None
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not TOML"
        raise BadInput(f"{file} cannot be read: {why}. Needed: a TOML file with kind = ... Mend it.") from None
    return _made(said, file)


def _made(said: dict[str, Any], file: Path) -> Source:
    if (name := str(said.pop("kind", ""))) not in KINDS:
        raise BadInput(f"{file} has no kind that is known. Needed: kind = one of {', '.join(KINDS)}. Mend it.")
    module, called = KINDS[name]
    kind: Callable[..., Source] = getattr(importlib.import_module(module), called)
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    if found := [*_problems(said, known)]:
        raise BadInput(
            f"{file} has {', '.join(found)}. Needed: {', '.join(known)}. docs/sources.md shows each kind. Mend it."
        )
    return kind(**said)


def _problems(said: Mapping[str, Any], known: Mapping[str, Field[Any]]) -> Iterator[str]:
    """What is wrong with the keys of a file, without their values."""
    is_needed = {n: f.default is MISSING and f.default_factory is MISSING for n, f in known.items()}
    yield from (f"no {n}" for n in known if is_needed[n] and n not in said)
    yield from (f"an unknown {n}" for n in sorted(set(said) - set(known)))
    yield from (f"a wrong {n}" for n, f in known.items() if n in said and isinstance(said[n], str) != (f.type == "str"))
