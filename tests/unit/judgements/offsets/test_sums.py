"""Sums of jumps keep their bounds, and an expected number is never called a proof."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import JumpHarm
from kafka_hindsight.catalog.gold import OFFSET_JUMPS
from kafka_hindsight.judgements.rebuild.incidents import bills_of
from kafka_hindsight.measures.records_moved import records_moved
from tests.support.rows import row

_BOUNDS = st.tuples(st.integers(0, 50), st.none() | st.integers(51, 90))
_HARMS = st.sampled_from([JumpHarm.RECORDS_SKIPPED, JumpHarm.RECORDS_READ_AGAIN])


def test_records_in_words() -> None:
    exact = row(OFFSET_JUMPS, records_low=40, records_high=40)
    guessed = row(OFFSET_JUMPS, records_low=0, records_high=90, records_expected=12)
    unbounded = row(OFFSET_JUMPS, records_low=7, records_high=None)
    skipped = JumpHarm.RECORDS_SKIPPED
    assert records_moved([exact], skipped).records == "40 records"
    assert records_moved([exact, guessed], skipped).records == "40–130 records (some 52 by the pace of its commits)"
    assert records_moved([exact, unbounded], skipped).records == "at least 47 records"
    assert records_moved([guessed], skipped).records == "up to 90 records (some 12 by the pace of its commits)"
    assert records_moved([guessed], JumpHarm.RECORDS_READ_AGAIN).records == "no records"


@given(st.lists(st.tuples(_BOUNDS, _HARMS, st.sampled_from([None, "r1", "r2"]))))
def test_bills_of_rebalances_and_jumps_without_one_are_all_jumps(
    drawn: list[tuple[tuple[int, int | None], JumpHarm, str | None]],
) -> None:
    jumps = [
        row(OFFSET_JUMPS, jump_id=str(n), records_low=low, records_high=high, harm=harm, rebalance_id=rebalance)
        for n, ((low, high), harm, rebalance) in enumerate(drawn)
    ]
    bills = [*bills_of(jumps)]
    alone = [j for j in jumps if j.rebalance_id is None]
    for harm, name in ((JumpHarm.RECORDS_READ_AGAIN, "read_again"), (JumpHarm.RECORDS_SKIPPED, "skipped")):
        whole, rest = records_moved(jumps, harm), records_moved(alone, harm)
        assert whole.low == rest.low + sum(getattr(b, f"{name}_low") for b in bills)
        highs = [rest.high, *(getattr(b, f"{name}_high") for b in bills)]
        assert whole.high == (None if None in highs else sum(h for h in highs if h is not None))
