"""Make text from outside harmless. Group ids, client ids and reasons can hold anything that a client sent."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from typing import Any

MAX_TEXT = 1_200
MAX_QUOTE = 2_000
MAX_NAME = 96

# Columns that keep their line breaks: a quoted record keeps its stack trace.
_QUOTED = frozenset({"text", "row", "sample"})
# A page has a million values; most of them are not text.
_NO_TEXT = frozenset({type(None), bool, int, float, datetime})
_HASH = re.compile(r"[0-9a-f]{8,64}")


def visible(text: str) -> str:
    """The text with every invisible or control character written out.

    The result is printable: no terminal escape, no line break, no change of writing direction, no character of zero
    width, no lone surrogate.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shortened(text: str, limit: int = MAX_NAME) -> str:
    """A name cut in its middle: its end often distinguishes it from its neighbours."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"


def quoted(text: str) -> str:
    """A record as its log has it: with its line breaks, and otherwise as `visible`."""
    cut = text if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE]}… ({len(text) - MAX_QUOTE:,} more characters)"
    if cut.isprintable():
        return cut
    return "\n".join(visible(line.expandtabs(4)) for line in cut.replace("\r\n", "\n").rstrip("\n").split("\n"))


def harmless(value: Any, column: str = "") -> Any:
    """A row or a value of a row with all its text made harmless; other values stay as they are."""
    if isinstance(value, str):
        return quoted(value) if column in _QUOTED else visible(shortened(value, MAX_TEXT))
    if isinstance(value, dict):
        return {key: item if type(item) in _NO_TEXT else harmless(item, key) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [harmless(item, column) for item in value]
    return value


def anchor(kind: str, row_id: str) -> str:
    """The anchor of a row in the page: its kind and its hash, never text from outside."""
    if not _HASH.fullmatch(row_id):
        row_id = hashlib.sha256(row_id.encode(errors="backslashreplace")).hexdigest()[:32]
    return f"{kind}-{row_id}"
