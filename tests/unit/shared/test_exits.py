"""Exit codes: what a retry may heal, and what it may not."""

from __future__ import annotations

import errno
import os

import pytest

from kafka_hindsight.shared.exits import (
    NEVER_RETRIED,
    BadInput,
    PublicationRefused,
    exit_code,
    format_exit_summary,
    sentences_of,
)


@pytest.mark.parametrize(
    ("error", "code"), [(BadInput("a"), 2), (PublicationRefused("a"), 42), (ValueError("a"), 1), (MemoryError(), 1)]
)
def test_error_has_exit_code_and_retry_class(error: BaseException, code: int) -> None:
    assert exit_code(error) == code
    assert (code in NEVER_RETRIED) == (code in (2, 42))


def test_own_errors_keep_sentences_and_others_become_one_line() -> None:
    assert sentences_of(BadInput("one.", "two.")) == ["one.", "two."]
    assert sentences_of(PublicationRefused("rebalances: 3 rows end before they start.")) == [
        "rebalances: 3 rows end before they start."
    ]
    assert sentences_of(RuntimeError("disk full\n  at org.apache...")) == ["RuntimeError: disk full"]
    assert sentences_of(MemoryError()) == ["MemoryError"]


class OfJava:
    """An exception as Py4J shows it."""

    def __init__(self, name: str, message: str | None, cause: OfJava | None = None) -> None:
        self._name, self._message, self._cause = name, message, cause

    def getMessage(self) -> str | None:
        return self._message

    def getCause(self) -> OfJava | None:
        return self._cause

    def getClass(self) -> OfJava:
        return self

    def getSimpleName(self) -> str:
        return self._name

    def getName(self) -> str:
        return f"java.lang.{self._name}"


class Py4JJavaError(Exception):
    def __init__(self, java_exception: OfJava) -> None:
        super().__init__("An error occurred while calling o3406.isEmpty.\n: trace")
        self.java_exception = java_exception


class Py4JNetworkError(Exception):
    pass


class PythonException(Exception):
    pass


def test_java_error_shows_first_and_innermost_message() -> None:
    innermost = OfJava("JsonEOFException", "Unexpected end-of-input\n at [Source: ...]")
    middle = OfJava("SparkException", "Malformed records", innermost)
    first = OfJava("SparkException", "Encountered error while reading file 0007.json.\nmore", middle)
    assert sentences_of(Py4JJavaError(first)) == [
        "SparkException: Encountered error while reading file 0007.json."
        " Cause: JsonEOFException: Unexpected end-of-input"
    ]
    one = OfJava("UnsupportedFileSystemException", 'No FileSystem for scheme "nofs"')
    assert sentences_of(Py4JJavaError(one)) == ['UnsupportedFileSystemException: No FileSystem for scheme "nofs"']
    assert sentences_of(Py4JJavaError(OfJava("NullPointerException", None))) == ["java.lang.NullPointerException"]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "A disk is full. Needed: space"),
        (errno.EROFS, "The place that the message names cannot be written. Needed: a file system"),
        (errno.EACCES, "The place that the message names is closed to this user. Needed: the right"),
        (errno.ECONNREFUSED, "A store or a service"),
    ],
)
def test_disk_without_room_or_rights_and_unreachable_store_come_with_advice(number: int, advice: str) -> None:
    error, action = sentences_of(OSError(number, os.strerror(number)))
    assert os.strerror(number) in error
    assert action.startswith(advice)
    assert len(sentences_of(OSError(errno.EIO, os.strerror(errno.EIO)))) == 1


def test_java_process_end_keeps_earlier_java_error() -> None:
    assert sentences_of(Py4JNetworkError("Error while sending or receiving")) == [
        "Spark's Java process ended before this step did. The log above this line has its last messages. If they say"
        " OutOfMemoryError, raise HINDSIGHT_DRIVER_MEMORY. If they name a file, take that file out of the input."
    ]
    try:
        try:
            raise Py4JJavaError(OfJava("SparkException", "Job aborted", OfJava("OutOfMemoryError", "Java heap space")))
        finally:
            raise Py4JNetworkError("Error while sending or receiving")
    except Py4JNetworkError as error:
        assert sentences_of(error)[0] == "SparkException: Job aborted Cause: OutOfMemoryError: Java heap space"
    assert sentences_of(ConnectionRefusedError("[Errno 111]")) == ["ConnectionRefusedError: [Errno 111]"]


def test_spark_worker_error_shows_raised_exception() -> None:
    text = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File x\nKeyError: 'a'\n"
    )
    assert sentences_of(PythonException(text)) == ["PythonException: KeyError: 'a'"]


def test_exit_summary_has_code_and_line_per_sentence() -> None:
    assert format_exit_summary("ingest", 2, ["LOGS names /x,\nand nothing is there.", "Needed: a folder."]) == [
        "ingest: ends with exit code 2",
        "ingest: LOGS names /x, and nothing is there.",
        "ingest: Needed: a folder.",
    ]
