"""`hindsight anonymise`: copy a folder of logs and readings, with pseudonyms in place of names."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated, NamedTuple

import typer

from kafka_hindsight.cli.doctor_logs import Beginning
from kafka_hindsight.cli.names_of_logs import Names
from kafka_hindsight.cli.pseudonyms import Pseudonyms
from kafka_hindsight.knowledge.layouts import SEGMENT_REGEX
from kafka_hindsight.logs.file_bytes import CHUNK, Bytes, open_bytes, packed, unpacked
from kafka_hindsight.logs.found_files import FAULTS, Found, entries, files_at, is_archive, why_not
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
        self._files = [f for f in files_at(str(folder)) if not self._leaves_out(f.name, f.why_not)]

    def find_names(self) -> Names:
        """The names in all files. Raises: BadInput if none of them is a text."""
        names, is_any = Names(), False
        for file in progress.reported(self._files, lambda f: f.size):
            for text in self._texts_in(file):
                is_any = True
                names.add_path(text.name)
                form = wrapped_as(text.content.between(0, CHUNK), None)
                for lines in _parts(text.content):
                    names.add_lines(lines, form)
        if not is_any:
            raise BadInput(f"{self.folder} holds no text. Needed: logs or readings. Check the path.")
        return names

    def write(self, pseudonyms: Pseudonyms) -> None:
        """Write the copy."""
        for file in progress.reported(self._files, lambda f: f.size):
            place = self.out / _new_path(file.name, pseudonyms)
            place.parent.mkdir(parents=True, exist_ok=True)
            if is_archive(file.name):
                with place.open("wb") as output, packed(output, file.name) as stream:
                    self._write_archive(file, stream, pseudonyms)
            else:
                for text in self._texts_in(file):
                    with place.open("wb") as output:
                        _write(text, output, pseudonyms)
                    os.utime(place, (text.modified_s,) * 2)

    def _write_archive(self, file: Found, stream: IO[bytes], pseudonyms: Pseudonyms) -> None:
        with tarfile.open(fileobj=stream, mode="w|") as archive:
            for text in self._texts_in(file):
                output = _Kept()
                _write(text, output, pseudonyms)
                entry = tarfile.TarInfo(_new_path(text.name, pseudonyms))
                entry.size, entry.mtime = output.tell(), text.modified_s
                output.seek(0)
                archive.addfile(entry, output)

    def _texts_in(self, file: Found) -> Iterator[_Text]:
        """The file, or the files of an archive, without those that are not texts."""
        content = open_bytes(file.uri, file.size)
        if not is_archive(file.name):
            members = iter([_Text(file.name, content, file.modified_at.timestamp())])
        else:
            members = self._members(file.name, content)
        for text in members:
            yield from () if self._leaves_out(text.name, _why_not_text(text)) else [text]
            self._leaves_out(text.name, text.content.damage or "")
        content.close()

    def _members(self, name: str, content: Bytes) -> Iterator[_Text]:
        try:
            for archive, entry in entries(content):
                if not (entry.isdir() or self._leaves_out(f"{name}/{entry.name}", why_not(entry))):
                    data = archive.extractfile(entry).read()  # type: ignore[union-attr]
                    yield _Text(entry.name, unpacked(Beginning(data), entry.name, len(data)), entry.mtime)
        except FAULTS as fault:
            self._leaves_out(name, f"{content.damage or fault}; what is before the break is copied")

    def _leaves_out(self, name: str, why: str) -> bool:
        if why:
            self.left_out[name] = why
        return bool(why)


class _Text(NamedTuple):
    """A text with its name, its bytes, and when it was written last, in seconds since 1970."""

    name: str
    content: Bytes
    modified_s: float


class _Kept(io.BytesIO):
    """Bytes that stay when what writes them is closed."""

    def close(self) -> None:
        """Keep the bytes."""


def _why_not_text(text: _Text) -> str:
    first = text.content.between(0, _LOOKED_AT)
    if first.startswith(_UTF_16):
        return "it is UTF-16: convert it to UTF-8"
    is_segment = SEGMENT_REGEX.fullmatch(text.name.rpartition("/")[2])
    return "its records are binary, and may hold names" if is_segment or b"\0" in first else ""


def _parts(content: Bytes) -> Iterator[bytes]:
    """The bytes of a file, in parts of whole lines."""
    at, rest = 0, b""
    while data := content.between(at, at + CHUNK):
        at += len(data)
        lines, lf, rest = (rest + data).rpartition(b"\n")
        if lf:
            yield lines + lf
    if rest:
        yield rest


def _write(text: _Text, output: IO[bytes], pseudonyms: Pseudonyms) -> None:
    with packed(output, text.name) as stream:
        for part in _parts(text.content):
            replaced = pseudonyms.in_text(part.decode(errors="surrogateescape"))
            stream.write(replaced.encode(errors="surrogateescape"))


def _new_path(path: str, pseudonyms: Pseudonyms) -> str:
    """The path of a file in the copy."""
    return "/".join(map(pseudonyms.in_path, path.split("/")))


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
