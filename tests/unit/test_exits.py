"""Exit codes: what a retry may heal, and what it may not."""

from __future__ import annotations

import pytest

from spark_jobs.shared.exits import (
    NEVER_RETRIED,
    BadInput,
    PublicationRefused,
    exit_code,
    format_exit_summary,
    parse_exit_summary,
    sentences_of,
)


@pytest.mark.parametrize(
    ("error", "code"), [(BadInput("a"), 2), (PublicationRefused("a"), 42), (ValueError("a"), 1), (MemoryError(), 1)]
)
def test_the_code_of_an_error(error: BaseException, code: int) -> None:
    assert exit_code(error) == code
    assert (code in NEVER_RETRIED) == (code in (2, 42))


def test_our_errors_speak_in_their_own_sentences_and_others_in_one_line() -> None:
    assert sentences_of(BadInput("one.", "two.")) == ["one.", "two."]
    assert sentences_of(PublicationRefused("rebalances: 3 rows end before they start.")) == [
        "rebalances: 3 rows end before they start."
    ]
    assert sentences_of(RuntimeError("disk full\n  at org.apache...")) == ["RuntimeError: disk full"]
    assert sentences_of(MemoryError()) == ["MemoryError"]


def test_what_a_step_says_at_its_end_is_told_apart_from_what_others_say_there() -> None:
    said = format_exit_summary("ingest", 2, ["LOGS names /x,\nand nothing is there.", "Needed: a folder."])
    log = ["ingest: ends with exit code 2", "ingest: a try before.", "ingest: Read logs", *said, "WARN ShutdownHook"]
    assert parse_exit_summary("ingest", 2, log) == ["LOGS names /x, and nothing is there.", "Needed: a folder."]
    assert parse_exit_summary("ingest", 1, log) == parse_exit_summary("rebuild", 2, log) == []
