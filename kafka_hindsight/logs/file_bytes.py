"""The bytes of files as a worker reads them: stored, unpacked, or within an archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

import pyarrow as pa

from kafka_hindsight.lake.landing import open_file

CHUNK = 8 * 1024 * 1024
"""Bytes that are read together: few enough for a processor's cache, enough for operations on whole arrays."""


def _by_arrow(codec: str) -> Callable[[Any], Any]:
    return lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), codec)


_CODECS: Mapping[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    "gzip": ((".gz", ".tgz"), lambda file: gzip.GzipFile(fileobj=file)),
    "bzip2": ((".bz2", ".tbz", ".tbz2"), bz2.BZ2File),
    "xz": ((".xz", ".txz"), lzma.LZMAFile),
    "zstd": ((".zst", ".tzst"), _by_arrow("zstd")),
    "lz4": ((".lz4",), _by_arrow("lz4")),
}
"""By codec: the suffixes of its files, and the function that unpacks them."""

_PACKED = tuple(suffix for suffixes, _ in _CODECS.values() for suffix in suffixes)
_BROKEN = (OSError, zlib.error, lzma.LZMAError)

_UNPACKED_TIMES = 500
"""The unpacked size of a log is at most so many times its packed size. Measured: brokers' logs shrink 16 to 62 times,
one repeated line 54 times by gzip and 455 times by xz.
"""
_UNPACKED_LEAST = 256 * 1024 * 1024
"""The unpacked size that is allowed whatever the packed size."""


class ArchiveMember(NamedTuple):
    """A file within an archive: its name, and where its bytes lie in the unpacked archive."""

    name: str
    begin: int
    size: int


class Bytes:
    """The bytes of one unit. After a read, `damage` says why they could not be unpacked to their end."""

    damage: str | None = None

    def between(self, begin: int, end: int) -> bytes:
        """The bytes from `begin` to `end`, or fewer where the file ends or cannot be read. `begin` never goes back."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the underlying file."""


class InMemory(Bytes):
    """Bytes in memory, such as the first ones of a file."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def between(self, begin: int, end: int) -> bytes:
        return self.data[begin:end]


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
    """Bytes that arrive in parts, one after another."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.buffer, self.first = parts, bytearray(), 0

    def between(self, begin: int, end: int) -> bytes:
        del self.buffer[: max(begin - self.first, 0)]
        self.first = max(begin, self.first)
        while self.first + len(self.buffer) < end and (part := next(self.parts, None)) is not None:
            self.buffer += part
        return bytes(memoryview(self.buffer)[begin - self.first : end - self.first])

    def skip_to(self, begin: int) -> None:
        """Skip the bytes before `begin`, without keeping them."""
        for at in range(self.first, begin, CHUNK):
            self.between(at, min(at + CHUNK, begin))


class Unpacked(Arriving):
    """The content of a compressed file, as far as it can be unpacked. `size` is its packed size in bytes."""

    def __init__(self, packed: Bytes, name: str, size: int) -> None:
        self.packed, self.name = packed, name
        super().__init__(self._unpacked(AsFile(packed, size)))

    def _unpacked(self, file: AsFile) -> Iterator[bytes]:
        """Unpack up to a limit: a few megabytes can unpack to gigabytes of one repeated byte."""
        codec, (_, unpack) = next(each for each in _CODECS.items() if self.name.endswith(each[1][0]))
        size = 0
        try:
            stream = unpack(io.BufferedReader(file, CHUNK))
            while part := getattr(stream, "read1", stream.read)(CHUNK):
                size += len(part)
                if size > max(_UNPACKED_LEAST, _UNPACKED_TIMES * file.at):
                    self.damage = (
                        f"it unpacks to more than {_UNPACKED_TIMES} times its size, which no log does; the rest was"
                        " not read"
                    )
                    return
                yield part
        except EOFError:
            self.damage = "it is incomplete: it was cut off, or is still being written"
        except _BROKEN:
            self.damage = f"it is not a {codec} file, it was cut off, or its bytes were changed"

    def close(self) -> None:
        self.packed.close()


class OfMember(Bytes):
    """The bytes of a file within an archive. `content` is the unpacked archive."""

    def __init__(self, content: Bytes, member: ArchiveMember) -> None:
        self.content, self.member = content, member

    @property
    def damage(self) -> str | None:  # type: ignore[override]
        """The reason why the archive could not be unpacked to its end, after a read."""
        return self.content.damage

    def between(self, begin: int, end: int) -> bytes:
        first = self.member.begin
        return self.content.between(first + begin, first + min(end, self.member.size))


class AsFile(io.RawIOBase):
    """Bytes as a file object that is read from its beginning to `end`. `at` is the position."""

    def __init__(self, content: Bytes, end: int) -> None:
        self.content, self.end, self.at = content, end, 0

    def readable(self) -> bool:
        """Always true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer as far as there are bytes."""
        data = self.content.between(self.at, min(self.at + len(buffer), self.end))
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def open_bytes(uri: str, size: int) -> Bytes:
    """Open the bytes of a file, unpacked where they are packed."""
    return unpacked(Stored(uri), uri, size)


def is_packed(name: str) -> bool:
    """Whether a file has to be unpacked. If so, it is read from its beginning."""
    return name.endswith(_PACKED)


def packed(file: IO[bytes], name: str) -> Any:
    """A file that packs what is written as its name says, else the file itself."""
    codec = next((codec for codec, (suffixes, _) in _CODECS.items() if name.endswith(suffixes)), None)
    if codec == "xz":  # Arrow has no codec for it
        return lzma.LZMAFile(file, "w")
    return pa.CompressedOutputStream(pa.PythonFile(file, "w"), codec.replace("bzip2", "bz2")) if codec else file


def unpacked(content: Bytes, name: str, size: int) -> Bytes:
    """The bytes, or their unpacked content where the file's name is that of a packed file."""
    return Unpacked(content, name, size) if is_packed(name) else content


def unpacked_archive(uri: str, size: int, before: Bytes | None, member: ArchiveMember) -> Bytes:
    """The unpacked archive, at the beginning of a member: `before` if it is the same one and has not passed it."""
    if not is_packed(uri):
        return Stored(uri)
    goes_on = isinstance(before, Unpacked) and before.name == uri and before.first <= member.begin
    content = before if goes_on else open_bytes(uri, size)
    assert isinstance(content, Unpacked)
    content.skip_to(member.begin)
    return content


@dataclass(frozen=True)
class FilePart:
    """A part of a file that one worker reads at once, and the arguments of the work.

    `part` is from which byte to which. `member` is the file wanted of an archive. `is_raw`: packed bytes are not
    unpacked. `numbers` is an array of whole numbers that belongs to the arguments.
    """

    uri: str
    part: tuple[int, int]
    arguments: dict[str, Any]
    member: ArchiveMember | None = None
    is_raw: bool = False
    numbers: Any = None

    @property
    def is_of_packed_archive(self) -> bool:
        """Whether the bytes before it have to be unpacked first."""
        return self.member is not None and is_packed(self.uri)

    @property
    def size(self) -> int:
        """The bytes that are read."""
        return self.member.size if self.member and is_packed(self.uri) else self.part[1] - self.part[0]
