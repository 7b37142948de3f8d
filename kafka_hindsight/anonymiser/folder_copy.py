"""The copy of a folder of logs and readings, with pseudonyms in place of names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from kafka_hindsight.anonymiser.names import Names
from kafka_hindsight.anonymiser.pseudonyms import Pseudonyms
from kafka_hindsight.knowledge.layouts import SEGMENT_REGEX
from kafka_hindsight.logs.file_bytes import CHUNK, open_bytes, packed
from kafka_hindsight.logs.found_files import Found, files_at, is_archive
from kafka_hindsight.logs.unwrapping import wrapped_as
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput

_LOOKED_AT = 1024
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


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
