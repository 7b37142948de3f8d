"""Ids that depend only on what a row is."""

import hashlib
from datetime import datetime

DIGITS = 32
"""Hexadecimal digits of an id, which is a hash."""


def row_id(*parts: object) -> str:
    """The id of a row: a hash of what it is. Instants count in UTC to the microsecond."""
    text = "\x1f".join(p.isoformat() if isinstance(p, datetime) else str(p) for p in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
