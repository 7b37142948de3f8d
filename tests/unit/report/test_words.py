"""Numbers and names as a report says them."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.nouns.causes import CauseFamily
from kafka_hindsight.catalog.nouns.tones import Tone
from kafka_hindsight.report.html import _asset
from kafka_hindsight.shared import plain, words


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, ""),
        (0, "0 ms"),
        (240, "240 ms"),
        (3_240, "3.2 s"),
        (9_960, "10 s"),
        (59_700, "59.7 s"),
        (134_000, "2 min 14 s"),
        (3_900_000, "1 h 5 min"),
        (7_200_000, "2 h"),
        (183_600_000, "2 d 3 h"),
    ],
)
def test_duration_is_worded_in_its_largest_units(ms, text):
    assert words.duration(ms) == text
    assert words.duration(None if ms is None else timedelta(milliseconds=ms)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "no lines"), (1, "1 line"), (2, "2 lines"), (34_587, "34,587 lines"), (1_893_400, "1.9 million lines")],
)
def test_noun_agrees_with_its_number(value, text):
    assert words.counted(value, "line") == text


@pytest.mark.parametrize(
    ("items", "at_most", "text"),
    [
        ([], 0, ""),
        (["a"], 0, "a"),
        (["a", "b"], 0, "a and b"),
        (["a", "b", "c"], 0, "a, b and c"),
        (["a", "b", "c", "d"], 2, "a, b and 2 more"),
    ],
)
def test_list_is_worded_with_and_and_a_count_of_the_rest(items, at_most, text):
    assert words.listed(items, at_most) == text


def test_timestamp_has_its_date_only_on_another_day():
    at = datetime(2026, 10, 3, 2, 13, 4, 118_900, tzinfo=UTC)
    assert words.instant(at, date(2026, 10, 3)) == "02:13:04"
    assert words.instant(at, date(2026, 10, 2)) == "2026-10-03 02:13:04"
    assert words.instant(at, date(2026, 10, 3), precise=True) == "02:13:04.118"


def test_runs_of_partitions_are_worded_as_ranges():
    assert words.ranges([7, 0, 1, 2, 9, 8, 4]) == "0-2, 4, 7-9"


@given(st.text())
def test_visible_text_is_printable_and_keeps_printable_text(text):
    shown = plain.visible(text)
    assert shown.isprintable()
    assert not text.isprintable() or shown == text


@given(st.text())
def test_quoted_text_keeps_line_breaks_and_no_other_control_character(text):
    assert all(line.isprintable() for line in plain.quoted(text).split("\n"))


def test_quoted_stack_trace_keeps_its_lines():
    assert plain.quoted("failed\r\n\tat A\x1b[2J\n") == "failed\n    at A\\x1b[2J"


def test_long_text_is_shortened_with_a_count_of_the_rest():
    assert len(plain.harmless({"reason": "r" * 5_000})["reason"]) == plain.MAX_TEXT
    assert plain.harmless({"text": "r" * 5_000})["text"].endswith("… (3,000 more characters)")
    assert plain.shortened("consumer-" + "x" * 500 + "-7f3a").endswith("-7f3a")
    assert len(plain.shortened("x" * 500)) == plain.MAX_NAME


@given(st.text())
def test_anchor_of_any_row_id_has_hex_digits_alone(row_id):
    kind, _, digest = plain.anchor("rebalance", row_id).partition("-")
    assert kind == "rebalance"
    assert set(digest) <= set("0123456789abcdef")
    assert len(digest) >= 8


def test_hash_row_id_is_kept_in_the_anchor():
    assert plain.anchor("outage", "00ff" * 8) == "outage-" + "00ff" * 8


def test_every_tone_has_a_colour_in_light_and_dark():
    style = _asset("page.css")
    for tone in (*Tone, *CauseFamily):
        assert style.count(f"--{tone}: #") == 2
        assert f".t-{tone} {{ --tone: var(--{tone}); }}" in style
