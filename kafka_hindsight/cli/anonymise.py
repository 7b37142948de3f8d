"""`hindsight anonymise`: copy a folder of logs and readings, with pseudonyms in place of names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from kafka_hindsight.cli.names_of_logs import Names
from kafka_hindsight.cli.pseudonyms import Pseudonyms
from kafka_hindsight.knowledge.layouts import SEGMENT_REGEX
from kafka_hindsight.logs.file_bytes import CHUNK, open_bytes, packed
from kafka_hindsight.logs.found_files import Found, files_at, is_archive
from kafka_hindsight.logs.unwrapping import wrapped_as
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.shared.plain import visible

_LOOKED_AT = 1024
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SHOWN = 10


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="logs of brokers and clients, readings")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="the folder of the copy, which must not exist")],
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write the pseudonym of each name into this file: keep it secret"),
    ] = None,
) -> int:
    """Copy a folder with pseudonyms for hosts, addresses, topics, groups, clients, users and paths."""
    if problems := list(_problems(folder, out, mapping)):
        raise BadInput(*problems)
    copy = Copy(folder, out)
    progress.say(f"Reading the names in {visible(str(folder))}")
    names = copy.find_names()
    pseudonyms = names.pseudonyms()
    progress.say(f"Writing the copy into {visible(str(out))}")
    copy.write(pseudonyms)
    by_kind = _by_kind(names, pseudonyms)
    if mapping:
        mapping.write_text(json.dumps(by_kind, indent=1), encoding="utf-8")
    print("\n".join(_sentences(copy, by_kind, names, pseudonyms)))
    return DONE


def _problems(folder: Path, out: Path, mapping: Path | None) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder} is not a folder. Needed: the folder with the logs. Check the path."
    for path in filter(None, (out, mapping)):
        if path.exists() or path.is_symlink():
            yield f"{path} exists. Needed: a path where nothing is. Name another one, or remove it."
        elif path.resolve().is_relative_to(folder.resolve()):
            yield f"{path} lies in {folder}. Needed: a path outside of it. Name another one."
    if mapping and mapping.resolve().is_relative_to(out.resolve()):
        yield f"{mapping} lies in {out}. Needed: a path outside of it, because the mapping is secret. Name another one."


class Copy:
    """A folder, and its copy."""

    def __init__(self, folder: Path, out: Path) -> None:
        self.folder, self.out = folder, out
        self.left_out: dict[str, str] = {}
        """Why a file is not in the copy, or not to its end, by its name."""
        self._files = [f for f in files_at(str(folder)) if not self._leaves_out(f.name, f.why_not or _why_not(f))]

    def find_names(self) -> Names:
        """The names in all files. Raises: BadInput if none of them is a text."""
        if not self._files:
            raise BadInput(f"{self.folder} holds no text. Needed: logs or readings. Check the path.")
        names = Names()
        for file in progress.reported(self._files, lambda f: f.size):
            names.add_path(file.name)
            with closing(open_bytes(file.uri, file.size)) as content:
                form = wrapped_as(content.between(0, CHUNK), None)
            for lines in self._parts(file):
                names.add_lines(lines, form)
        return names

    def write(self, pseudonyms: Pseudonyms) -> None:
        """Write the copy."""
        for file in progress.reported(self._files, lambda f: f.size):
            place = self.out.joinpath(*map(pseudonyms.in_path, file.name.split("/")))
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as output, packed(output, file.name) as stream:
                for part in self._parts(file):
                    replaced = pseudonyms.in_text(part.decode(errors="surrogateescape"))
                    stream.write(replaced.encode(errors="surrogateescape"))
            os.utime(place, (file.modified_at.timestamp(),) * 2)

    def _parts(self, file: Found) -> Iterator[bytes]:
        """The bytes of a file, in parts of whole lines."""
        with closing(open_bytes(file.uri, file.size)) as content:
            at, rest = 0, b""
            while data := content.between(at, at + CHUNK):
                at += len(data)
                lines, lf, rest = (rest + data).rpartition(b"\n")
                if lf:
                    yield lines + lf
            if rest:
                yield rest
            self._leaves_out(file.name, content.damage or "")

    def _leaves_out(self, name: str, why: str) -> bool:
        if why:
            self.left_out[name] = why
        return bool(why)


def _why_not(file: Found) -> str:
    """Why a file is not a text that can be copied."""
    if is_archive(file.name):
        return "it is an archive: unpack it"
    with closing(open_bytes(file.uri, file.size)) as content:
        first = content.between(0, _LOOKED_AT)
    if first.startswith(_UTF_16):
        return "it is UTF-16: convert it to UTF-8"
    is_segment = SEGMENT_REGEX.fullmatch(file.name.rpartition("/")[2])
    return "its records are binary, and may hold names" if is_segment or b"\0" in first else ""


def _by_kind(names: Names, pseudonyms: Pseudonyms) -> dict[str, dict[str, str]]:
    """The pseudonyms of names and addresses, by what they name."""
    kinds: dict[str, dict[str, str]] = {}
    for name, new in sorted(pseudonyms.by_name.items()):
        kinds.setdefault(names.kinds[name], {})[name] = new
    return {**kinds, "addresses": pseudonyms.by_address}


def _sentences(
    copy: Copy, by_kind: Mapping[str, Mapping[str, str]], names: Names, pseudonyms: Pseudonyms
) -> Iterator[str]:
    """The counts of the copy, and what its reader may still see."""
    counts = [f"{len(new):,} {kind}" for kind, new in by_kind.items()]
    yield f"The copy in {visible(str(copy.out))} has pseudonyms for {', '.join(counts)}."
    if stayed := sorted(names.kinds.keys() - pseudonyms.by_name.keys()):
        yield f"Kept, because they consist of Kafka's own words: {_some(stayed)}."
    if pseudonyms.ambiguous:
        yield (
            f"Kafka's text may hold the same words as {_some(sorted(pseudonyms.ambiguous))}: they are replaced only"
            " where they stand as names."
        )
    for name, why in list(copy.left_out.items())[:_SHOWN]:
        yield f"Not copied, or not whole: {visible(name)}, {why}."
    if len(copy.left_out) > _SHOWN:
        yield f"Not copied, or not whole: {len(copy.left_out) - _SHOWN} more."
    yield "All other text is as it was. Read the lines that your own programs wrote before you send the copy."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(map(visible, names[:_SHOWN]))}{more}"
