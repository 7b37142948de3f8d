"""Objects of a store, each replaced only by a writer who names the newest version of it.

A store compares an object's ETag when it writes (If-Match, If-None-Match), so of two writers one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from kafka_hindsight.lake.damage import digest
from kafka_hindsight.lake.landing import read_bytes, write_atomically

_SCHEMES = ("s3://", "s3a://", "gs://", "abfs://", "abfss://")
"""Stores that compare when they write. HDFS has no ETags: there one Airflow with one active run guards a lake."""

_RETRIES: Any = {"max_retries": 5, "retry_timeout": timedelta(seconds=20)}


class Replaced(Exception):
    """The object has another version than the one that its writer named."""


class StoreFails(OSError):
    """The store does not answer, or refuses the request."""


def compares(place: str) -> bool:
    """Whether a place lies in a store that compares when it writes."""
    return place.startswith(_SCHEMES)


class ObjectFolder:
    """The objects of a folder in such a store.

    Each method raises StoreFails if the store does not answer.
    """

    def __init__(self, place: str) -> None:
        with _failing():
            self._store = from_url(place, retry_config=_RETRIES)

    def read(self, name: str) -> tuple[bytes | None, str | None]:
        """Give the content of an object and its version; None for both if it is not there."""
        try:
            with _failing():
                answer = obstore.get(self._store, name)
                return bytes(answer.bytes()), answer.meta["e_tag"]
        except FileNotFoundError:
            return None, None

    def replace(self, name: str, content: bytes, version: str | None) -> str:
        """Write an object over its version, None for an object that is not there, and give the new version.

        Raises:
            Replaced: The object has another version.
        """
        mode: Any = {"e_tag": version} if version else "create"
        try:
            with _failing():
                return str(obstore.put(self._store, name, content, mode=mode)["e_tag"])
        except (AlreadyExistsError, PreconditionError) as refusal:
            raise Replaced(name) from refusal


@contextmanager
def _failing() -> Iterator[None]:
    """Raise StoreFails in the place of obstore's own errors without a meaning here."""
    try:
        yield
    except (AlreadyExistsError, PreconditionError, FileNotFoundError):
        raise
    except BaseError as failure:
        raise StoreFails(str(failure)) from failure


def read_version(place: str) -> tuple[bytes | None, str | None]:
    """The bytes of one file, and its version for `replace_version`; None for both if there is no such file."""
    if compares(place):
        folder, _, name = place.rpartition("/")
        return ObjectFolder(folder).read(name)
    with suppress(FileNotFoundError):
        content = read_bytes(place)
        return content, digest(content)
    return None, None


def replace_version(place: str, text: str, version: str | None) -> None:
    """Write a file over the version of it that was read.

    A store compares when it writes. On this machine only who holds the lock of the file writes it.

    Raises:
        Replaced: It has another version.
    """
    if compares(place):
        folder, _, name = place.rpartition("/")
        ObjectFolder(folder).replace(name, text.encode(), version)
    elif read_version(place)[1] != version:
        raise Replaced(place)
    else:
        write_atomically(place, text)
