"""Laws of the absences into which the life of a broker is cut, on signals in any order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.liveness import ACTIVE_KINDS, SIGNAL_KINDS
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window
from tests.support.outages import rebuild_outages
from tests.support.rows import AT, row

EVER = Window(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
BROKERS = st.sampled_from((1, 2))


@st.composite
def signals(draw: st.DrawFn) -> list[Event]:
    """Lines of two brokers about themselves and about each other, of a minute up to two days."""
    length = draw(st.sampled_from((60, 3_600, 172_800)))
    drawn = st.tuples(st.sampled_from(sorted({*SIGNAL_KINDS, *ACTIVE_KINDS})), st.integers(0, length), BROKERS, BROKERS)
    lines = [
        row(
            EVENTS,
            kind=kind,
            broker=broker,
            node=about,
            source=f"broker-{broker}/server.log",
            line_id=f"{n}",
            happened_at=AT + timedelta(seconds=second),
        )
        for n, (kind, second, broker, about) in enumerate(draw(st.lists(drawn, min_size=1, max_size=30)))
    ]
    return lines


@given(signals())
def test_absences_of_one_broker_follow_one_another(lines: list[Event]) -> None:
    """Each is over before the next one begins, and only the last one may go on."""
    for absences in grouped(rebuild_outages(lines, [], EVER), lambda o: o.broker).values():
        assert all(before.up_at and before.up_at <= after.down_at for before, after in pairwise(absences))


@given(signals())
def test_absence_is_detected_while_it_lasts_and_has_lines(lines: list[Event]) -> None:
    for absence in rebuild_outages(lines, [], EVER):
        instants = [at for at in (absence.down_at, absence.detected_at, absence.up_at) if at]
        assert instants == sorted(instants)
        assert absence.evidence and {q.line_id for q in absence.evidence} <= {line.line_id for line in lines}
        assert absence.away_high_ms is None or (absence.away_low_ms or 0) <= absence.away_high_ms
