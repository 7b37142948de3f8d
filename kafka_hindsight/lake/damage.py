"""Checksums of the files of a lake, and the refusal of what does not fit one.

The name of a data file begins with the hash of its content. A commit carries the hash of the snapshot that it makes,
a small file of JSON that of its value, and a landed file that of its lines, after them. One flipped bit changes either
the content or the hash, so it is found.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from kafka_hindsight.shared.exits import BadInput

KEY = "checksum"
"""The field that holds the checksum of a value."""

_PREFIX = "sha256:"
_DIGITS = 32
"""Characters of the hash of a file's content, with which its name begins."""

_NAME = re.compile(rf"([0-9a-f]{{{_DIGITS}}})-[0-9a-f]{{8}}-")


_SEAL = re.compile(rb'\{"checksum": "sha256:([0-9a-f]{64})"\}\n\Z')
"""The last line of a landed file."""


class Damaged(BadInput):
    """A file of the lake is not the one that was written. A retry finds the same."""


def digest(content: bytes) -> str:
    """Give the hash with which the name of a data file begins."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def digest_in(name: str) -> str | None:
    """Give the hash in the name of a data file; None for a file that another program wrote."""
    match = _NAME.match(name)
    return match[1] if match else None


def checksum_of(value: Any) -> str:
    """Give the checksum of a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return _PREFIX + hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def with_checksum(value: Mapping[str, Any]) -> dict[str, Any]:
    """Give an object of JSON with its checksum as a last field."""
    return {**value, KEY: checksum_of(value)}


def checksum_in(value: Mapping[str, Any]) -> str | None:
    """Give the checksum that an object carries; None for one of another program.

    A damaged name of the field is seen by the value, and a damaged value by the name.
    """
    texts = (text for name, text in value.items() if name == KEY or str(text).startswith(_PREFIX))
    return next((str(text) for text in texts), None)


def without_checksum(value: Any, what: str) -> Any:
    """Give a JSON value without its checksum. Another program's value has none.

    Args:
        value: The value.
        what: How a refusal names the file.

    Raises:
        Damaged: The checksum is that of another value.
    """
    if not isinstance(value, dict) or (checksum := checksum_in(value)) is None:
        return value
    own = {name: text for name, text in value.items() if name != KEY}
    if checksum != checksum_of(own):
        raise damaged(what)
    return own


def sealed(lines: str) -> str:
    """Give lines of JSON, and after them a line with their checksum."""
    return f"{lines}{json.dumps({KEY: _PREFIX + hashlib.sha256(lines.encode()).hexdigest()})}\n"


def is_seal(line: str) -> bool:
    """Whether a line holds the checksum of those before it."""
    return _SEAL.fullmatch(f"{line}\n".encode(errors="replace")) is not None


def unsealed(content: bytes) -> tuple[bytes, bool]:
    """Give lines of JSON without the checksum after them, and whether it is theirs.

    Lines that another program landed have none, and count as whole.
    """
    if not (seal := _SEAL.search(content)):
        return content, True
    lines = content[: seal.start()]
    return lines, hashlib.sha256(lines).hexdigest() == seal[1].decode()


def damaged(what: str) -> Damaged:
    """Give the refusal of a small file."""
    return Damaged(
        f"{what} has other bytes than were written. Needed: the file as it was written. Bring it back from a copy of"
        " the lake."
    )
