"""Locations that settings name: folders, URIs, sources, dates in them, and secrets masked. Standard library only."""

from __future__ import annotations

import re

SOURCE = "source://"
"""Prefix of a place that is a source; the source's name follows (kafka_hindsight/sources)."""

DATED = re.compile(r"\{(date|hour)(?::([^{}]+))?\}")
"""Placeholders in a place for a day and an hour of UTC, such as 2026-11-20 and 05; `{date:%Y/%m/%d}` has a format."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_uri(place: str) -> bool:
    """Whether a place is a URI."""
    return bool(_URI.match(place))


def is_dated(place: str) -> bool:
    """Whether a place holds placeholders for dates."""
    return bool(DATED.search(place))


def is_source(place: str) -> bool:
    """Whether a place is a source: logs outside of files, which land in the lake before they are read."""
    return place.startswith(SOURCE)


_SECRET_PARAMETER = r"(?i:[?&;][^=&;]*(?:key|secret|token|sig|password|credential)[^=&;]*=)"
_CREDENTIALS = re.compile(rf"(?<=://)[^/@\s]*:[^/@\s]*@|{_SECRET_PARAMETER}[^&;\s]")
"""Credentials in a URI. A user name alone is not one: abfss://container@account..."""


def has_secret(uri: str) -> bool:
    """Whether a URI carries a password, a token or a key."""
    return bool(_CREDENTIALS.search(uri))


def masked(text: str) -> str:
    """The text without passwords, tokens and keys that a URI may carry."""
    text = re.sub(r"(?<=://)[^/@\s]+@", "***@", text)
    return re.sub(rf"({_SECRET_PARAMETER})[^&;\s]+", r"\1***", text)
