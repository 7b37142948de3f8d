"""How long rebalances took by their rows, held against the calls that members printed on a recorded hour."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kafka_hindsight.shared.durations import MS
from lab.drill.durations import DurationCounts, duration_rows, durations_of, read_calls, read_counts, with_counts

# Printed by two members of the group fraud (KIP-848), Kafka 4.1.2.
FRAUD_0 = """\
1795977907202 assigned [payments-0, payments-1, payments-2, payments-3, payments-4, payments-5]
1795977912407 revoked [payments-3, payments-4, payments-5]
1795977912438 assigned []
1795980651496 revoked [payments-0, payments-1, payments-2]
1795980651950 closed
"""
FRAUD_1 = """\
1795977908924 assigned []
1795977914268 assigned [payments-3, payments-4, payments-5]
1795980655603 assigned [payments-0, payments-1, payments-2]
"""
# By three members of the group billing, eager: the first one leaves.
BILLING_0 = """\
1795977858599 assigned [orders-0, orders-1]
1795978191156 revoked [orders-0, orders-1]
1795978191403 closed
"""
BILLING_1 = """\
1795977858624 assigned [orders-2, orders-3]
1795978191811 revoked [orders-2, orders-3]
1795978192283 assigned [orders-0, orders-1, orders-2]
"""
BILLING_2 = """\
1795977858612 assigned [orders-4, orders-5]
1795978192230 revoked [orders-4, orders-5]
1795978192282 assigned [orders-3, orders-4, orders-5]
"""


def at(ms: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + ms * MS


def rebalance(group: str, generation: int, start: int, ms: int | None, low: float | None, high: float | None) -> Any:
    return {
        "group_id": group,
        "protocol": "consumer" if group == "fraud" else "classic",
        "from_generation": generation,
        "started_at": at(start),
        "ended_at": None if ms is None else at(start + ms),
        "duration_ms": ms,
        "outcome": "unfinished" if ms is None else "completed",
        "partition_seconds_low": low,
        "partition_seconds": high,
    }


def started(group: str, count: int) -> list[Any]:
    return [
        {"action": "member_start", "group": group, "client": f"{group}-{n}", "at": at(0).isoformat()}
        for n in range(count)
    ]


def compared(rows: list[Any], group: str, *printed: str) -> list[Any]:
    calls = {f"{group}-{n}": list(read_calls(text, f"{group}-{n}")) for n, text in enumerate(printed)}
    return list(durations_of(rows, started(group, len(printed)), calls))


FIRST = rebalance("fraud", 0, 1795977906627, 609, 3.654, 3.654)
LAST = rebalance("fraud", 2, 1795980651503, 4112, 12.3, 12.336)
GENERATIONS = [rebalance("billing", 0, 1795977852400, 6167, 37.002, 37.002)]


def test_epoch_is_held_against_calls_of_its_members() -> None:
    [_, second, last] = compared(
        [FIRST, rebalance("fraud", 1, 1795977908887, 5490, 5.4, 16.47), LAST], "fraud", FRAUD_0, FRAUD_1
    )
    assert (second.start_ms, second.end_ms) == (3520, -109)
    assert second.is_start_inside and second.is_end_inside and second.is_cost_inside
    assert round(second.idle_seconds, 3) == 5.583
    assert last.is_end_inside and last.is_cost_inside


def test_end_that_a_much_later_line_names_is_outside() -> None:
    """As the end of an epoch once was the leave of a member 45 minutes later."""
    late = rebalance("fraud", 1, 1795977908887, 2742609, 16_000.0, 16_455.0)
    [_, second, _] = compared([FIRST, late, LAST], "fraud", FRAUD_0, FRAUD_1)
    assert not second.is_end_inside and not second.is_cost_inside


def test_member_that_goes_gives_up_before_the_start_and_others_consume_until_they_join_again() -> None:
    bounded = rebalance("billing", 1, 1795978191160, 1111, 0.2, 6.666)
    [_, leave] = compared([*GENERATIONS, bounded], "billing", BILLING_0, BILLING_1, BILLING_2)
    assert (leave.start_ms, leave.end_ms) == (651, 12)
    assert leave.is_start_inside and leave.is_end_inside and leave.is_cost_inside
    exact = rebalance("billing", 1, 1795978191160, 1111, 6.666, 6.666)
    [_, too_dear] = compared([*GENERATIONS, exact], "billing", BILLING_0, BILLING_1, BILLING_2)
    assert not too_dear.is_cost_inside


def test_group_with_a_member_that_printed_nothing_is_left_out() -> None:
    assert compared(GENERATIONS, "billing", BILLING_0, BILLING_1, "SLF4J: Class path contains several bindings.") == []


def test_row_without_an_end_is_compared_with_its_start_alone() -> None:
    open_row = rebalance("fraud", 1, 1795977908887, None, None, None)
    [_, second, _] = compared([FIRST, open_row, LAST], "fraud", FRAUD_0, FRAUD_1)
    assert (second.start_ms, second.end_ms, second.idle_seconds) == (3520, None, None)


def test_counts_of_a_folder_replace_its_older_ones() -> None:
    counts = DurationCounts(
        "night", "4.1.2", "combined", "classic", "java", 3, 0, 2, 2, 5, 9, 3, 2, 4, 400, 3, 3, 1.5, 2
    )
    other = DurationCounts("hour", "4.1.2", "combined", "consumer", "java", 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    assert read_counts(with_counts([counts, other], [counts])) == [other, counts]
    assert list(duration_rows([counts, other])) == [
        ("night", "4.1.2 combined", "classic", "java", "3", "2 of 2: 5 ms, 9 ms", "2 of 3: 4 ms, 400 ms", "0",
         "3 of 3: 1.5, 2"),
        ("hour", "4.1.2 combined", "consumer", "java", "1", "", "", "1", ""),
    ]  # fmt: skip
