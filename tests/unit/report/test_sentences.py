"""Sentences that readers see, each with no lower bound, no upper bound, and none, one and two of what they count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Confidence, FailoverKind, IncidentKind, UnavailabilityKind
from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    CONTROLLER_CHANGES,
    FAILOVERS,
    OUT_OF_SYNC_PERIODS,
    TRUNCATIONS,
    UNAVAILABILITY,
)
from kafka_hindsight.catalog.rows import Coverage, Unavailability
from kafka_hindsight.knowledge.rules import coverage_rules
from kafka_hindsight.logs.forms import closest
from kafka_hindsight.measures.time_away import away
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, lasted, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.phrases import lost_records
from kafka_hindsight.report.terminal import Terminal
from kafka_hindsight.shared.windows import Window
from tests.support.findings import raised
from tests.support.incidents import judged_incidents
from tests.support.rows import AT, row

SLIPS = re.compile(
    r"""\bfor\s*[:,.]|\bfor$|\(,|,\s*[,)]|\s[.,:;]|\s\s|''|\bNone\b|\bnull\b   # a part is missing
    |\b1\ (records|partitions|lines|times|groups|brokers|members)\b|\b1\ committed\ records\b
    |\b1\ committed\ record\ were\b|\b2\ (record|partition|line|time)\b|\bbrokers\ \d+\ and\ \d+\ cut\ its\b
    |\bno\ (lines|times|records)\ (in|of)\ the\b""",
    re.VERBOSE,
)

LOWS, HIGHS, COUNTS = (0, 8_800), (None, 0, 16_900), (1, 2)
WINDOW = Window(AT - timedelta(hours=1), AT + timedelta(hours=1))


def assert_whole(sentence: str) -> None:
    assert sentence and not (slip := SLIPS.search(sentence)), f"{slip and slip.group()!r} in {sentence!r}"


def interval(low: int, high: int | None, n: int, confidence: str = "certain", **columns: Any) -> Unavailability:
    times = {"started_at": AT, "ended_at": AT + timedelta(milliseconds=16_900), "low_ms": low, "high_ms": high}
    about = {"unavailability_id": f"u{n}", "topic": "t", "partition": n, "failover_id": f"f{n}", "kind": "no_leader"}
    return row(UNAVAILABILITY, confidence=confidence, **{**times, **about, **columns})


BOUNDS = [(low, high) for low, high in product(LOWS, HIGHS) if high is None or low <= high]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("still", [0, 1])
def test_clause_of_what_could_not_be_used_keeps_its_bounds(low: int, high: int | None, count: int, still: int) -> None:
    for confidence in Confidence:
        rows = [interval(low, high, n, confidence) for n in range(count)]
        rows += [interval(low, None, 9, confidence, ended_at=None)] * still
        clause = unused(rows, LEADERLESS).clause()
        assert_whole(clause)
        assert "16.9 s" not in clause or high == 16_900, "a length without an upper bound is not its estimate"
        assert low < 1_000 or high is None or lasted(rows[0]) == "8.8 s to 16.9 s"


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_length_of_absence_keeps_its_bounds(low: int, high: int | None) -> None:
    outage = row(BROKER_OUTAGES, kind="crash", down_at=AT, up_at=AT + timedelta(seconds=16.9), unreachable_at=None,
                 away_low_ms=low, away_high_ms=high)  # fmt: skip
    assert_whole(f"away for {away(outage)}")
    assert high is not None or low or away(outage) == "about 16.9 s", "no proof bounds it"


def headlines(low: int, high: int | None, count: int, lost: tuple[int, int | None]) -> Iterator[str]:
    """The headlines of incidents of each kind that has no group."""
    places = range(count)
    intervals = [interval(low, high, n) for n in places]
    elections = [
        row(FAILOVERS, failover_id=f"f{n}", kind=FailoverKind.UNCLEAN_ELECTION, topic="t", partition=n, happened_at=AT,
            leader_from=1, leader_to=2, records_lost_low=lost[0], records_lost_high=lost[1])
        for n in places
    ]  # fmt: skip
    cuts = [
        row(TRUNCATIONS, truncation_id=f"t{n}", topic="u", partition=0, broker=n + 1, happened_at=AT,
            verdict="committed_lost", records_cut=lost[1])
        for n in places
    ]  # fmt: skip
    crashes = [
        row(BROKER_OUTAGES, outage_id=f"o{n}", broker=n, kind=kind, down_at=AT, up_at=up_at, away_low_ms=low,
            away_high_ms=high)
        for n in places
        for kind in ("crash", "controlled_shutdown", "unresponsive")
        for up_at in (None, AT + timedelta(seconds=3))
    ]  # fmt: skip
    periods = [
        row(
            OUT_OF_SYNC_PERIODS,
            kind="slow",
            broker=1,
            partitions=count,
            started_at=AT,
            ended_at=ended,
            outage_id=None,
            observed_until=observed,
        )
        for ended, observed in ((None, None), (None, AT), (AT, None))
    ]
    controllers = [
        row(CONTROLLER_CHANGES, cause="no_majority", epoch=n, happened_at=AT + timedelta(minutes=5 * n),
            uncontrolled_low_ms=low, uncontrolled_high_ms=high)
        for n in places
    ]  # fmt: skip
    refused = [
        interval(low, high, n, kind=UnavailabilityKind.ACKS_ALL_REFUSED, failover_id=None, unavailability_id=f"w{n}")
        for n in places
    ]
    parts: list[dict[str, Any]] = [
        {"failovers": elections, "unavailability": intervals}, {"truncations": cuts}, {"periods": periods},
        {"controllers": controllers}, {"unavailability": refused}, *({"outages": [crash]} for crash in crashes),
    ]  # fmt: skip
    for own in parts:
        for incident in judged_incidents(WINDOW, **own).incidents:
            assert incident.headline and incident.kind in {*IncidentKind}
            yield incident.headline


@pytest.mark.parametrize(("low", "high"), BOUNDS)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("lost", [(0, None), (0, 1), (1, 1), (1, None), (1, 2), (2, 2)])
def test_each_headline_is_whole(low: int, high: int | None, count: int, lost: tuple[int, int | None]) -> None:
    for headline in headlines(low, high, count, lost):
        assert_whole(headline)


@pytest.mark.parametrize("bounds", [(0, None), (0, 1), (1, 1), (1, None), (1, 2), (2, 2)])
def test_lost_records_are_counted_in_whole_words(bounds: tuple[int, int | None]) -> None:
    assert_whole(f"{lost_records(*bounds)} lost")


@pytest.mark.parametrize("count", COUNTS)
def test_findings_about_lines_count_in_whole_words(count: int) -> None:
    log: Coverage = row(Coverage.TABLE, unparsed=count, quarantined=count, lines_in=9)
    messages = [f.message for f in raised(unread_logs=[log])]
    assert len(messages) == len({coverage_rules.LINES_UNREAD, coverage_rules.LINES_QUARANTINED})
    for message in messages:
        assert_whole(message)


def test_entry_without_cost_and_section_without_lines_leave_nothing_empty() -> None:
    entry = ui.Entry("It rebalanced", (), when=ui.At(AT), badges=(ui.confidence_badge(Confidence.LIKELY),))
    (line,) = Terminal(100).entry(entry)
    assert "(likely)" in line
    assert_whole(line.strip().replace("  ", " "))


def test_layout_that_fits_asks_for_nothing() -> None:
    sentence = closest(["[2026-11-21 01:53:00,123] INFO Started (com.example.Other)"])
    assert "'' was needed" not in sentence and "no logger of Kafka's wrote it" in sentence
