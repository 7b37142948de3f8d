"""A calm day: what it plays, and how what an audit says of it is kept."""

from dataclasses import replace

import pytest

from kafka_hindsight.shared.exits import BadInput
from lab.drill.act_expectations import OF_ACTS
from lab.drill.calm_score import CalmWindow, Reason, calm_parts, windows_of, with_windows
from lab.drill.libraries import JAVA, LIBRARIES
from lab.drill.on_groups import do
from lab.drill.run import choose, minutes_of
from lab.drill.scenarios.calm import calm_day
from lab.drill.steps import Close, Kill, Pause, Start, Until
from lab.drill.steps_on_brokers import KillBroker, PauseBroker, StartBroker, StopBroker
from tests.support.rows import AT

WINDOW = CalmWindow("calm", "4.4.0", "first", "2026-12-01T02:40:00+00:00", "calm", 0)


@pytest.mark.parametrize("minutes", [20, 40, 480])
def test_calm_day_fails_nothing_and_leaves_every_member_running(minutes: int) -> None:
    for scenario in calm_day(minutes):
        assert scenario.runs_on
        assert not [s for s in scenario.steps if isinstance(s, (Kill, Pause, KillBroker, PauseBroker))]
        stops = [s for s in scenario.steps if isinstance(s, StopBroker)]
        assert len(stops) == len([s for s in scenario.steps if isinstance(s, StartBroker)])
        times = [s.seconds for s in scenario.steps if isinstance(s, Until)]
        assert times == sorted(times) and times[-1] == minutes * 60
        assert {type(s) for s in scenario.steps if do.dispatch(type(s)) is do.dispatch(object)} == set()
        assert {s.expect for s in scenario.steps if s.expect} <= OF_ACTS.keys()


def test_calm_day_has_twenty_groups_of_every_library() -> None:
    with_members = [s for s in calm_day() if any(isinstance(step, Start) for step in s.steps)]
    assert len(with_members) > 20
    assert {name for s in with_members for name in s.libraries} == {JAVA, *LIBRARIES}
    assert len({s.name for s in calm_day()}) == len(calm_day())


def test_longer_calm_day_has_more_rounds_of_work() -> None:
    def closes(minutes: float) -> int:
        return sum(isinstance(step, Close) for s in calm_day(minutes) for step in s.steps)

    assert closes(20) == closes(40) == closes(55)
    assert closes(120) == 3 * closes(40)


def test_length_of_calm_day_is_a_number_of_minutes() -> None:
    assert (minutes_of(""), minutes_of("90")) == (40, 90)
    for text in ("5", "long"):
        with pytest.raises(BadInput, match="Needed: 20 or more"):
            minutes_of(text)
    with pytest.raises(BadInput):
        choose("calm", "4.4.0", "combined")


def test_windows_of_ten_minutes_cover_the_day() -> None:
    windows = [*windows_of(AT, AT.replace(hour=AT.hour + 1, minute=5))]
    assert (windows[0][0], windows[-1][1]) == (AT, AT.replace(hour=AT.hour + 1, minute=5))
    assert [end for _, end in windows[:-1]] == [start for start, _ in windows[1:]]


def test_first_score_stays_and_later_one_is_replaced() -> None:
    later = replace(WINDOW, score="later", badge="look")
    windows = with_windows([WINDOW, later], [replace(WINDOW, badge="act")])
    assert windows == [WINDOW, later]
    windows = with_windows(windows, [replace(later, badge="calm")])
    assert [(w.score, w.badge) for w in windows] == [("first", "calm"), ("later", "calm")]


def test_each_sentence_stands_with_its_judgement() -> None:
    window = replace(WINDOW, badge="look", asks=("Group a died",), findings=("info: b gave no answer",))
    heading, table, sentences = calm_parts([window], [Reason("a died", False, "It was deployed.")])
    assert heading == "### calm (4.4.0), first score"
    assert "| 02:40 | LOOK | 0 | 1 | 1 | 0 |" in table
    assert "| Group a died | 1 | **no** | It was deployed. |" in sentences
    assert "| info: b gave no answer | 1 | not judged |  |" in sentences
