"""The bytes of files as a worker reads them: those of a disk, those that arrive, unpacked, or within an archive."""

from __future__ import annotations

import io
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, count
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa

CHUNK = 8 * 1024 * 1024
"""Bytes that are looked at together: few enough for a processor's cache, many enough for whole arrays to pay."""

ROW = 1024 * 1024
"""Bytes that are handed over at once, packed as they are."""

_GZIP = 31
"""What zlib calls a stream with a head and an end of gzip."""

_GZIP_BEGINS = b"\x1f"
_CODECS = {".bz2": "bz2", ".tbz": "bz2", ".tbz2": "bz2", ".zst": "zstd", ".tzst": "zstd", ".lz4": "lz4"}
_XZ = (".xz", ".txz")
_GZ = (".gz", ".tgz")

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

    def chunks(self, end: int) -> Iterator[bytes]:
        """All bytes up to there, part after part: unpacked, each may be many times as long."""
        return (self.between(begin, min(begin + ROW, end)) for begin in range(0, end, ROW))


class Local(Bytes):
    def __init__(self, uri: str) -> None:
        try:
            self.file = os.open(local_path(uri), os.O_RDONLY)
        except OSError:
            self.file = -1

    def between(self, begin: int, end: int) -> bytes:
        parts = list[bytes]()
        while begin < end and self.file >= 0 and (part := os.pread(self.file, end - begin, begin)):
            parts.append(part)
            begin += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        if self.file >= 0:
            os.close(self.file)


class Arriving(Bytes):
    """What arrives part after part, each with the byte that it begins with."""

    def __init__(self, parts: Iterator[tuple[int, bytes]]) -> None:
        self.parts, self.held, self.first = parts, bytearray(), 0

    def between(self, begin: int, end: int) -> bytes:
        del self.held[: max(begin - self.first, 0)]
        self.first = max(begin, self.first)
        while self.first + len(self.held) < end and (part := next(self.parts, None)):
            if part[0] != self.first + len(self.held):
                self.held.clear()
                self.first = part[0]
            self.held += part[1]
        return bytes(memoryview(self.held)[begin - self.first : end - self.first])

    def skip_to(self, begin: int) -> None:
        """Passes over what lies before, and keeps none of it."""
        for at in range(self.first, begin, CHUNK):
            self.between(at, min(at + CHUNK, begin))


class Unpacked(Arriving):
    """What a compressed file holds, as far as it can be unpacked."""

    def __init__(self, packed: Iterator[bytes], uri: str) -> None:
        codec = next((codec for suffix, codec in _CODECS.items() if uri.endswith(suffix)), None)
        unpacked = self._unxzed if uri.endswith(_XZ) else self._unzipped
        self.uri = uri
        self.taken = 0
        given = self._counted(packed)
        super().__init__(placed(self._limited(self._decoded(given, codec) if codec else unpacked(given))))

    def _counted(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        for part in packed:
            self.taken += len(part)
            yield part

    def _limited(self, unpacked: Iterator[bytes]) -> Iterator[bytes]:
        """What is unpacked, up to a limit: a few megabytes of one repeated byte are gigabytes."""
        given = 0
        for part in unpacked:
            given += len(part)
            if given > max(_UNPACKED_LEAST, _UNPACKED_TIMES * self.taken):
                self.damage = (
                    f"it unpacks to more than {_UNPACKED_TIMES} times its size, which no log does; it was read to there"
                )
                return
            yield part

    def _unzipped(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        """Edge case: what follows the last stream of a gzip file and is none is passed over, as gzip does."""
        unzip: Any = None
        first = next(packed, b"")
        try:
            for part in chain([first], packed):
                while part and (unzip or part is first or part.startswith(_GZIP_BEGINS)):
                    unzip = unzip or zlib.decompressobj(wbits=_GZIP)
                    yield unzip.decompress(part, CHUNK)
                    part, unzip = unzip.unconsumed_tail or unzip.unused_data, None if unzip.eof else unzip
        except zlib.error:
            self.damage = "it is not a gzip file, or its bytes were changed"
            return
        if unzip:
            self.damage = "it ends before its end: it was cut off, or is still being written"

    def _unxzed(self, packed: Iterator[bytes]) -> Iterator[bytes]:
        unpack: Any = None
        try:
            for part in packed:
                while part:
                    unpack = unpack or lzma.LZMADecompressor()
                    yield unpack.decompress(part, CHUNK)
                    while not (unpack.eof or unpack.needs_input):
                        yield unpack.decompress(b"", CHUNK)
                    part, unpack = unpack.unused_data.lstrip(b"\0"), None if unpack.eof else unpack
        except lzma.LZMAError:
            self.damage = "it is not a file of xz, or its bytes were changed"
            return
        if unpack:
            self.damage = "it ends before its end: it was cut off, or is still being written"

    def _decoded(self, packed: Iterator[bytes], codec: str) -> Iterator[bytes]:
        try:
            with pa.CompressedInputStream(pa.PythonFile(_File(packed), "r"), codec) as stream:
                while part := stream.read(CHUNK):
                    yield part
        except OSError:
            self.damage = f"it is not a file of {codec}, it was cut off, or its bytes were changed"


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


class _File(io.RawIOBase):
    """What arrives part after part, as a file."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self.parts, self.held = parts, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.held = self.held or next(self.parts, b"")
        given, self.held = self.held[:size], self.held[size:]
        return given


def placed(parts: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Parts with the byte that each begins with."""
    begin = 0
    for part in parts:
        yield begin, part
        begin += len(part)


def local_path(uri: str) -> str:
    """The path of a file of this machine's file systems."""
    return unquote(urlsplit(uri).path)


def is_local(uri: str) -> bool:
    """Whether every process opens the file by itself, on whichever machine."""
    return uri.startswith("file:/")


def opened(uri: str, size: int) -> Bytes:
    """The bytes of a file that every process opens by itself, unpacked where they are packed."""
    return unpacked(Local(uri), uri, size)


def is_packed(name: str) -> bool:
    """Whether a file has to be unpacked, and so is read from its beginning."""
    return name.endswith((*_GZ, *_XZ, *_CODECS))


def stream_of(held: Bytes) -> io.RawIOBase:
    """Bytes as a file that is read from its beginning to its end."""
    return _File(_to_its_end(held))


def _to_its_end(held: Bytes) -> Iterator[bytes]:
    for begin in count(0, ROW):
        if not (part := held.between(begin, begin + ROW)):
            return
        yield part


def unpacked(held: Bytes, name: str, size: int) -> Bytes:
    """What is read of a file's bytes, by its name: they themselves, or what they hold packed."""
    return Unpacked(held.chunks(size), name) if is_packed(name) else held


def read_local(uri: str, parts: Iterable[tuple[int, int]]) -> list[bytes]:
    """Bytes of a file of this machine's file systems, each as far as the file reaches."""
    file = Local(uri)
    try:
        return [file.between(begin, end) for begin, end in parts]
    finally:
        file.close()


def content_of(held: Bytes, uri: str, size: int, before: Unpacked | None, member: Member) -> Bytes:
    """What an archive holds: the one that was read before goes on, where it is the same and has not passed the file."""
    if not is_packed(uri):
        return held
    goes_on = before and before.uri == uri and before.first <= member.begin
    content = before if before and goes_on else Unpacked(_chunks_of(uri, size), uri)
    content.skip_to(member.begin)
    return content


def _chunks_of(uri: str, size: int) -> Iterator[bytes]:
    local = Local(uri)
    try:
        yield from local.chunks(size)
    finally:
        local.close()
