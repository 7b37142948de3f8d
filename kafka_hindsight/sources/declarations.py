"""Sources: logs outside of files, read from a position on; and the file that declares each.

It is `<HINDSIGHT_SOURCES>/<name>.toml` for `source://name`.
"""

from __future__ import annotations

import importlib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from kafka_hindsight.logs.envelope_lines import object_in, origin_of
from kafka_hindsight.settings.config import SOURCE
from kafka_hindsight.settings.home import WORK
from kafka_hindsight.shared.exits import BadInput

FOLDER_VARIABLE = "HINDSIGHT_SOURCES"
"""The variable that names the folder of these files; default: `sources` in the working folder. A run names a source
only: whoever starts it cannot choose what the source runs, or where its secrets go."""

KINDS: Mapping[str, tuple[str, str]] = {
    "command": ("kafka_hindsight.sources.command", "Commands"),
    "kafka": ("kafka_hindsight.kafka.topic_logs", "Topic"),
}
"""The module and the class of each kind: clients are loaded only if they are used."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def name_of(place: str) -> str:
    """The name in `source://name`. Raises: BadInput if it is not a valid name."""
    name = place.removeprefix(SOURCE)
    if not _NAME.fullmatch(name):
        raise BadInput(f"{place!r} names no source. Needed: source:// and letters, digits, dot, dash or underscore.")
    return name


def source_at(place: str) -> Source:
    """The source at `source://name`, as its file declares it. Raises: BadInput, without the file's values: secrets."""
    name = name_of(place)
    folder = Path(os.environ.get(FOLDER_VARIABLE) or WORK / "sources").expanduser()
    file = folder / f"{name}.toml"
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        names = ", ".join(sorted(p.stem for p in folder.glob("*.toml"))) or "none"
        raise BadInput(
            f"{place} has no file {file}. Needed: a file that declares it. Declared sources: {names}. Write the"
            f" file, or name its folder in {FOLDER_VARIABLE}."
        ) from None
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is not TOML"
        raise BadInput(f"{file} cannot be read: {why}. Needed: a TOML file with kind = ... Correct it.") from None
    return _source(values, file)


def _source(values: dict[str, Any], file: Path) -> Source:
    if (name := str(values.pop("kind", ""))) not in KINDS:
        raise BadInput(f"{file} has no known kind. Needed: kind = one of {', '.join(KINDS)}. Correct it.")
    module, class_name = KINDS[name]
    kind: Callable[..., Source] = getattr(importlib.import_module(module), class_name)
    keys = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    if problems := [*_problems(values, keys)]:
        raise BadInput(
            f"{file} has {', '.join(problems)}. Needed: {', '.join(keys)}. docs/sources.md shows each kind. Correct it."
        )
    return kind(**values)


def _problems(values: Mapping[str, Any], keys: Mapping[str, Field[Any]]) -> Iterator[str]:
    """The problems of a file's keys, without their values."""
    is_needed = {n: f.default is MISSING and f.default_factory is MISSING for n, f in keys.items()}
    yield from (f"no {n}" for n in keys if is_needed[n] and n not in values)
    yield from (f"an unknown {n}" for n in sorted(set(values) - set(keys)))
    yield from (
        f"a wrong {n}" for n, f in keys.items() if n in values and isinstance(values[n], str) != (f.type == "str")
    )


T = TypeVar("T")


class SourceFails(RuntimeError):
    """A source does not answer, or ends early. A retry may succeed."""


class Line(NamedTuple):
    """One line. `log` is the name of its log, as a path. A late one lies before lines that were read earlier."""

    log: str
    text: bytes
    is_late: bool = False


class Loss(NamedTuple):
    """Lines that a source does not give any more. `log` is what they are missing from, `size` how many, if known."""

    log: str
    size: int | None
    sentence: str


class Batch(NamedTuple):
    """Lines in order, the position after them, as a JSON value, and what was lost before them."""

    lines: Sequence[Line]
    position: Any
    losses: Sequence[Loss] = ()


class Period(NamedTuple):
    """The instant from which a source is read the first time, and the instant of this run."""

    since: datetime
    until: datetime


class Source(Protocol):
    """Logs outside of files. The fields of its class are the keys of its file."""

    def new(self, position: Any, period: Period) -> Iterator[Batch]:
        """Read the lines after the position of an earlier batch, or from the beginning if it is None.

        Each line is in one batch, as long as reading goes on from the position of the last batch that was written.
        Lines may come late, so a source asks again for the last hours.

        Raises:
            BadInput: The settings cannot work.
            SourceFails: A retry may succeed.
        """


def batched(items: Iterable[T], count: int) -> Iterator[list[T]]:
    """Items in batches of `count` (as itertools.batched of Python 3.12 on)."""
    iterator = iter(items)
    while batch := list(islice(iterator, count)):
        yield batch


def lines_in(value: bytes, log: str) -> list[Line]:
    """The lines of a value: one, several, or a shipper's object. `log` is their log if the object names none."""
    name = origin_of(object_in(value) or {}) or log
    return [Line(name, text) for text in value.removesuffix(b"\n").split(b"\n")] if value else []
