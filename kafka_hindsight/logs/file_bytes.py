"""The bytes of files as a worker reads them, wherever they lie: as they are, unpacked, or within an archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from kafka_hindsight.lake.landing import open_file

CHUNK = 8 * 1024 * 1024
"""Bytes that are looked at together: few enough for a processor's cache, many enough for whole arrays to pay."""


def _by_arrow(codec: str) -> Callable[[Any], Any]:
    return lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), codec)


_CODECS: Mapping[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "gzip": ((".gz", ".tgz"), lambda file: gzip.GzipFile(fileobj=file)),
    "bzip2": ((".bz2", ".tbz", ".tbz2"), bz2.BZ2File),
    "xz": ((".xz", ".txz"), lzma.LZMAFile),
    "zstd": ((".zst", ".tzst"), _by_arrow("zstd")),
    "lz4": ((".lz4",), _by_arrow("lz4")),
}
"""What unpacks files whose names end so."""

_PACKED = tuple(suffix for suffixes, _ in _CODECS.values() for suffix in suffixes)
_BROKEN = (OSError, zlib.error, lzma.LZMAError)

_UNPACKED_TIMES = 500
"""How many times its size a packed log may be. Measured: brokers' logs shrink 16 to 62 times, and one line again and
again 54 times by gzip and 455 times by xz.
"""
_UNPACKED_LEAST = 256 * 1024 * 1024
"""Bytes that any packed file may hold."""


class Member(NamedTuple):
    """A file within an archive: its name, and where its bytes lie in what the archive holds once it is unpacked."""

    name: str
    begin: int
    size: int


class Bytes:
    """The bytes of one unit; `damage` says why they could not be unpacked to their end, once that was tried."""

    damage: str | None = None

    def between(self, begin: int, end: int) -> bytes:
        """Those bytes, or fewer where the file ends before or cannot be read. Order: begins never go back."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes what was opened."""


class Stored(Bytes):
    """A file on a disk or in a store."""

    def __init__(self, uri: str) -> None:
        try:
            self.file = open_file(uri)
        except OSError:
            self.file = None

    def between(self, begin: int, end: int) -> bytes:
        return self.file.read_at(end - begin, begin) if self.file and begin < end else b""

    def close(self) -> None:
        if self.file:
            self.file.close()


class Arriving(Bytes):
    """What arrives part after part."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.held, self.first = parts, bytearray(), 0

    def between(self, begin: int, end: int) -> bytes:
        del self.held[: max(begin - self.first, 0)]
        self.first = max(begin, self.first)
        while self.first + len(self.held) < end and (part := next(self.parts, None)) is not None:
            self.held += part
        return bytes(memoryview(self.held)[begin - self.first : end - self.first])

    def skip_to(self, begin: int) -> None:
        """Passes over what lies before, and keeps none of it."""
        for at in range(self.first, begin, CHUNK):
            self.between(at, min(at + CHUNK, begin))


class Unpacked(Arriving):
    """What a compressed file holds, as far as it can be unpacked. Takes: its bytes, its name and its size."""

    def __init__(self, packed: Bytes, name: str, size: int) -> None:
        self.packed, self.name = packed, name
        super().__init__(self._unpacked(AsFile(packed, size)))

    def _unpacked(self, file: AsFile) -> Iterator[bytes]:
        """What is unpacked, up to a limit: a few megabytes of one repeated byte are gigabytes."""
        codec, (_, unpack) = next(each for each in _CODECS.items() if self.name.endswith(each[1][0]))
        given = 0
        try:
            stream = unpack(io.BufferedReader(file, CHUNK))
            while part := getattr(stream, "read1", stream.read)(CHUNK):
                given += len(part)
                if given > max(_UNPACKED_LEAST, _UNPACKED_TIMES * file.at):
                    self.damage = (
                        f"it unpacks to more than {_UNPACKED_TIMES} times its size, which no log does; it was read to"
                        " there"
                    )
                    return
                yield part
        except EOFError:
            self.damage = "it ends before its end: it was cut off, or is still being written"
        except _BROKEN:
            self.damage = f"it is not a file of {codec}, it was cut off, or its bytes were changed"

    def close(self) -> None:
        self.packed.close()


class OfMember(Bytes):
    """The bytes of a file within an archive. Takes: what the archive holds, unpacked."""

    def __init__(self, content: Bytes, member: Member) -> None:
        self.content, self.member = content, member

    @property
    def damage(self) -> str | None:  # type: ignore[override]
        """Why the archive could not be unpacked to its end, once that was tried."""
        return self.content.damage

    def between(self, begin: int, end: int) -> bytes:
        first = self.member.begin
        return self.content.between(first + begin, first + min(end, self.member.size))


class AsFile(io.RawIOBase):
    """Bytes as a file that is read from its beginning to an end; `at` is how far it was read."""

    def __init__(self, held: Bytes, end: int) -> None:
        self.held, self.end, self.at = held, end, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer as far as there are bytes."""
        data = self.held.between(self.at, min(self.at + len(buffer), self.end))
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def opened(uri: str, size: int) -> Bytes:
    """The bytes of a file, unpacked where they are packed."""
    return unpacked(Stored(uri), uri, size)


def is_packed(name: str) -> bool:
    """Whether a file has to be unpacked, and so is read from its beginning."""
    return name.endswith(_PACKED)


def unpacked(held: Bytes, name: str, size: int) -> Bytes:
    """What is read of a file's bytes, by its name: they themselves, or what they hold packed."""
    return Unpacked(held, name, size) if is_packed(name) else held


def content_of(uri: str, size: int, before: Bytes | None, member: Member) -> Bytes:
    """What an archive holds: the one that was read before goes on, where it is the same and has not passed the file."""
    if not is_packed(uri):
        return Stored(uri)
    goes_on = isinstance(before, Unpacked) and before.name == uri and before.first <= member.begin
    content = before if goes_on else opened(uri, size)
    assert isinstance(content, Unpacked)
    content.skip_to(member.begin)
    return content
