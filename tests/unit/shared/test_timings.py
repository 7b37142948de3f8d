"""What took longest in a step."""

from __future__ import annotations

import pytest

from kafka_hindsight.shared import timings
from kafka_hindsight.shared.timings import KEY, STAGE, Timing, described, keep_longest, pop_longest, timed


def test_the_longest_of_each_sort_is_kept_and_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pop_longest()
    clock = iter([0.0, 2.0, 2.0, 7.0, 7.0, 8.0])
    monkeypatch.setattr(timings.time, "monotonic", lambda: next(clock))
    for what in ("list", "collect", "parse"):
        with timed(STAGE, what):
            pass
    keep_longest(KEY, Timing(0.25, "groups of group_id orders"))
    keep_longest(KEY, Timing(0.125, "groups of group_id ads"))
    assert pop_longest() == {STAGE: (5.0, "collect"), KEY: (0.25, "groups of group_id orders")}
    assert pop_longest() == {}


def test_lengths_of_a_step_are_said_with_harmless_names() -> None:
    longest = {"stage": [61.0, "judge groups"], "key": [0.25, "groups of group_id a\x1b[2J"]}
    assert described("rebuild", {"took_s": 75.5, "longest": longest}) == (
        "rebuild took 1 min 16 s; its longest stage, judge groups, 1 min 1 s; "
        r"its longest key, groups of group_id a\x1b[2J, 250 ms"
    )
    assert described("publish", {"took_s": 0.5, "longest": {}}) == "publish took 500 ms"
