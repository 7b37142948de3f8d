"""Whether a file is a log of Kafka's or of its clients, by its first bytes, whatever its name."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from functools import lru_cache

from kafka_hindsight.knowledge.layouts import WORDS_REGEX
from kafka_hindsight.logs.file_bytes import open_bytes
from kafka_hindsight.logs.forms import innermost, is_of_kafka
from kafka_hindsight.logs.found_files import Found
from kafka_hindsight.logs.proposals import Proposal, proposal_of
from kafka_hindsight.logs.unwrapping import first_lines

PEEK = 128 * 1024
"""Bytes by which a file is judged: some hundred lines."""

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_PACKED: Mapping[bytes, str] = {
    b"PK\x03\x04": "a zip archive: unpack it",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"\x1f\x8b": "packed by gzip: let its name end with .gz",
    b"BZh": "packed by bzip2: let its name end with .bz2",
    b"\xfd7zXZ\0": "packed by xz: let its name end with .xz",
    b"\x28\xb5\x2f\xfd": "packed by zstd: let its name end with .zst",
}
"""By the first bytes of a file: what it is, and what makes it readable."""

EMPTY = "it is empty, or cannot be read"
NOT_TEXT = "not text"
FOREIGN = "not a log of Kafka"
UNKNOWN = "its first lines have no known layout: `hindsight doctor --logs` with this file shows why"


@lru_cache(maxsize=10_000)
def why_no_log(file: Found, pattern: str | None) -> str:
    """Why a file is not read, by its first bytes; empty if it is a log. `pattern` is the user's, if there is one.

    A file that was not written to meanwhile is not looked at again.
    """
    content = open_bytes(file.uri, file.size)
    try:
        return why_not_of(content.between(0, PEEK), pattern)
    finally:
        content.close()


def why_not_of(data: bytes, pattern: str | None) -> str:
    """Why a file that begins with these bytes is not read; empty if a layout, known or proposed, reads its lines."""
    if not data:
        return EMPTY
    if packed := next((why for begin, why in _PACKED.items() if data.startswith(begin)), ""):
        return packed
    if b"\0" in data and not data.startswith(_WIDE):
        return NOT_TEXT
    lines = first_lines(data)
    if not any(map(WORDS_REGEX.search, lines)):
        return FOREIGN
    if is_of_kafka(lines, pattern) or isinstance(proposal_of(innermost(lines)), Proposal):
        return ""
    return UNKNOWN
