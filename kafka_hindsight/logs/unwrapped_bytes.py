"""The bytes of files whose lines are wrapped: read from their beginning, and handed on as records with frames."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import replace

from kafka_hindsight.logs.detection import sampled
from kafka_hindsight.logs.file_bytes import CHUNK, Arriving, Bytes, placed
from kafka_hindsight.logs.forms import Form, form_of
from kafka_hindsight.logs.unwrapping import Unwrapper

_UTF_16 = ("utf-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def wrapped_as(data: bytes, given: str | None) -> Form:
    """How a file is wrapped, by its first bytes. Takes: the pattern that a user gave, if any."""
    name, marks = _UTF_16
    if not data.startswith(marks):
        return form_of(sampled(data), given)
    lines = sampled(data[: len(data) // 2 * 2].decode(name, errors="replace").encode(errors="replace"))
    form = form_of(lines, given)
    return replace(form, envelopes=(name, *form.envelopes))


class Unwrapped(Arriving):
    """What an `Unwrapper` makes of the bytes of a file, up to `end`; None: as far as they go.

    Takes: how the file is wrapped; the pattern that a user gave, if any.
    """

    def __init__(self, held: Bytes, end: int | None, form: Form, given: str | None) -> None:
        self.packed = held
        is_utf_16 = form.envelopes[:1] == _UTF_16[:1]
        self.unwrapper = Unwrapper(replace(form, envelopes=form.envelopes[is_utf_16:]), given)
        decode = codecs.getincrementaldecoder(_UTF_16[0])(errors="replace") if is_utf_16 else None
        super().__init__(placed(self._written(end, decode)))

    @property
    def damage(self) -> str | None:  # type: ignore[override]
        """Why the bytes could not be unpacked to their end, once that was tried."""
        return self.packed.damage

    @property
    def sources(self) -> list[str]:
        """Who wrote the lines, by the numbers in frames, as far as they were read."""
        return self.unwrapper.sources

    def _written(self, end: int | None, decode: codecs.IncrementalDecoder | None) -> Iterator[bytes]:
        rest = b""
        for data in self._read(end):
            text = decode.decode(data).encode(errors="replace") if decode else data
            lines, lf, rest = (rest + text).removeprefix(codecs.BOM_UTF8 if not rest else b"").rpartition(b"\n")
            yield self.unwrapper.written(lines + lf)
        if rest:
            yield self.unwrapper.written(rest + b"\n")
        yield self.unwrapper.rest()

    def _read(self, end: int | None) -> Iterator[bytes]:
        at = 0
        while data := self.packed.between(at, at + CHUNK if end is None else min(at + CHUNK, end)):
            yield data
            at += len(data)
