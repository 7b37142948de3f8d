"""The cases of the rulings on incidents, storms, stalls, moves and remedies, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import OFFSET_SNAPSHOTS
from kafka_hindsight.catalog.codes import RebalanceKind
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, OWNERSHIP
from kafka_hindsight.catalog.rows import BrokerOutage, MemberStay, Rebalance
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.groups import (
    group_incidents as incidents,
)
from kafka_hindsight.judgements.groups import (
    remedies,
    stall_rulings,
)
from kafka_hindsight.judgements.groups.assignments import Witnesses
from kafka_hindsight.judgements.groups.costs import Stop, price, stops_of
from kafka_hindsight.judgements.groups.group_incidents import FINGERPRINTS, INCIDENTS, IncidentCase
from kafka_hindsight.judgements.groups.remedies import (
    COOPERATIVE_ASSIGNMENT,
    MAX_POLL_INTERVAL,
    SESSION_TIMEOUT,
    STATIC_MEMBERSHIP,
    ReplayCase,
)
from kafka_hindsight.judgements.groups.stall_rulings import STALL_RULINGS
from kafka_hindsight.judgements.groups.storms import Storm
from kafka_hindsight.judgements.reasoning.rulings import Ruling, Verdict
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.shared.windows import Window, in_order
from tests.support.build import after, loop, rebalance_of
from tests.support.groups import SAMPLE, Witnessed, excerpt, sample_night
from tests.support.nights import WHOLE
from tests.support.outages import rebuild_outages
from tests.support.rows import AT, row
from tests.support.rulings import Decided, RulingCases
from tools.plain_reader import read_logs

DAY = Window(AT, AT + timedelta(days=1))
REMEDIES = (*STATIC_MEMBERSHIP, *SESSION_TIMEOUT, *MAX_POLL_INTERVAL, *COOPERATIVE_ASSIGNMENT)
ALL: tuple[Ruling[Any], ...] = (*INCIDENTS, *FINGERPRINTS, *STALL_RULINGS, *REMEDIES)

Trace = tuple[str, Ruling[Any], Verdict]


def key_of(case: Any) -> str:
    """A case by its group, and where a group has several, by the instant."""
    if isinstance(case, IncidentCase):
        return f"{case.rebalances[0].group_id} {case.rebalances[0].started_at:%H:%M:%S.%f}"[:-3]
    if isinstance(case, Storm):
        return case.units[0][0].group_id
    return case.in_window[0].group_id if isinstance(case, ReplayCase) else ""


def decisions(run: Callable[[], object]) -> list[Trace]:
    """Every decision of the room while something runs: the case, the ruling, its verdict."""
    trace: list[Trace] = []

    def decide(rulings: Iterable[Ruling[Any]], case: Any) -> Verdict | None:
        for ruling in rulings:
            verdict = ruling.decide(case)
            if verdict is not None:
                trace.append((key_of(case), ruling, verdict))
                return verdict
        return None

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((incidents, "verdict_of"), (incidents, "decide"), (stall_rulings, "decide"),
                             (remedies, "verdict_of"), (remedies, "decide")):  # fmt: skip
            patch.setattr(module, name, decide)
        run()
    return trace


def judge_night(groups: Sequence[Witnessed], logs: Any = None) -> None:
    """All that the room judges of some groups; of a whole night with the outages and moves of its brokers' lines."""
    brokers = read_logs(logs, "broker", "night")[0] if logs else []
    outages = rebuild_outages(brokers, (), WHOLE)
    rows: list[Rebalance] = []
    stays: list[MemberStay] = []
    for group in groups:
        history, events = group.history(), in_order(group.events)
        stops = stops_of(history.rebalances, Witnesses(events))
        priced = price(history.rebalances, stops)
        remedies.judge_remedies(priced, stops, MemberRegistry(events), events, WHOLE)
        rows += priced
        stays += history.roster
    incidents.group_incidents(rows, outages, (), None, stays)


# --- Cases that no recorded night shows. ---


def grouped(*rows: Rebalance, outages: Sequence[BrokerOutage] = (), stays: Sequence[MemberStay] = ()) -> None:
    incidents.group_incidents(rows, outages, (), None, stays)


def silent(members: int, confidence: str = "possible") -> None:
    """Members of one host whose sessions expire together, while one elsewhere stays."""
    stay = {"session_timeout_ms": 45_000, "since": after(-900), "group_id": "g"}
    gone = [
        row(MemberStay.TABLE, **stay, member_id=f"m{n}", host="h1", until=after(60), how="expired")
        for n in range(members)
    ]
    there = row(MemberStay.TABLE, **stay, member_id="m9", host="h2", until=None)
    expired = rebalance_of(60, "heartbeat_expired", member_id="m0", confidence=confidence)
    grouped(expired, stays=[*gone, there])


def replaced(left: str, joined: str, second: float) -> list[Rebalance]:
    """A member leaves, and another one joins five seconds later."""
    return [
        rebalance_of(second, "member_left", left),
        rebalance_of(second + 5, "member_joined", joined),
    ]


AWAY = row(BROKER_OUTAGES, outage_id="o", broker=1, down_at=AT, up_at=after(30))


def standing(*partitions: tuple[Sequence[int], Sequence[int]], is_held: bool = False) -> None:
    """The committed and end offsets of partitions that one member owns, a reading a minute.

    `is_held`: the last stable offset is the committed one.
    """
    stall_rulings.judge_stalls(
        [
            row(
                OFFSET_SNAPSHOTS,
                partition=p,
                snapshot_at=after(60 * n),
                committed_offset=c,
                end_offset=e,
                lag=e - c,
                last_stable=c if is_held else None,
            )
            for p, offsets in enumerate(partitions)
            for n, (c, e) in enumerate(zip(*offsets, strict=True))
        ],
        [row(OWNERSHIP, partition=p, is_open=True) for p, _ in enumerate(partitions)],
        (),
        DAY,
    )


def replayed(*rows: Rebalance, session: int | None) -> None:
    """A group whose members all have this session timeout."""
    joined = row(EVENTS, kind="member_joined", happened_at=after(-60), member_id="m-a", client_id="a",
                 session_timeout_ms=session)  # fmt: skip
    stops = {r.rebalance_id: Stop(3, 0, RebalanceKind.COOPERATIVE) for r in rows}
    remedies.judge_remedies(rows, stops, MemberRegistry([joined]), [joined], DAY)


EVERY_52_S = [52.3 * n for n in range(8)]
UPWARDS = list(range(0, 200, 10))
STOPS = [*UPWARDS[:8], *[70] * 12]

MADE: dict[str, Callable[[], object]] = {
    "a coordinator is away": lambda: grouped(rebalance_of(20, "heartbeat_expired", coordinator=1), outages=[AWAY]),
    "a member dies while a broker is away": lambda: grouped(
        rebalance_of(20, "member_dead", coordinator=1), outages=[AWAY]
    ),
    "a coordinator moves without an outage": lambda: grouped(rebalance_of(20, "coordinator_moved", coordinator=1)),
    "a host is never heard again": lambda: silent(3),
    "two members are replaced": lambda: grouped(*replaced("a", "c", 0), *replaced("b", "d", 20)),
    "one member is replaced": lambda: grouped(*replaced("a", "c", 0)),
    "two members of a host fall silent": lambda: silent(2),
    "a member that dies as soon as it has joined": lambda: grouped(
        *loop(EVERY_52_S, "member_dead", session_timeout_ms=45_000)
    ),
    "the same intervals with a session timeout of 10 s": lambda: grouped(
        *loop(EVERY_52_S, "member_dead", session_timeout_ms=10_000)
    ),
    "three removals, too few for a rhythm": lambda: grouped(*loop((0, 52, 104), "member_dead")),
    "one of two partitions stops": lambda: standing((STOPS, UPWARDS), (UPWARDS, UPWARDS)),
    "a consumer stops": lambda: standing((STOPS, UPWARDS)),
    "a transaction is open": lambda: standing((STOPS, UPWARDS), is_held=True),
    "a consumer never moves": lambda: standing(([5] * 20, range(5, 205, 10))),
    "a consumer reads half of what arrives": lambda: standing((range(0, 100, 5), UPWARDS)),
    "a restart takes longer than the session timeout": lambda: replayed(
        rebalance_of(0, "member_left"), rebalance_of(20, "member_rejoined"), session=10_000
    ),
    "a restart of a member whose session timeout is not known": lambda: replayed(
        rebalance_of(0, "member_left"), rebalance_of(20, "member_rejoined"), session=None
    ),
    "a silence of a member whose session timeout is not known": lambda: replayed(
        rebalance_of(0, "heartbeat_expired", silent_ms=12_000), session=None
    ),
    "a restart that is only possible": lambda: replayed(
        rebalance_of(0, "member_left", confidence="possible"), rebalance_of(20, "member_rejoined"), session=30_000
    ),
    "a silence that is only possible": lambda: replayed(
        rebalance_of(0, "heartbeat_expired", silent_ms=12_000, confidence="possible"), session=10_000
    ),
}


@cache
def decided(night: str) -> list[Trace]:
    """The decisions of an excerpt, of the sample night, or of a made case."""
    if night == "night-4.1":
        return decisions(lambda: judge_night(sample_night(), SAMPLE / "logs"))
    if night.startswith("groups/"):
        return decisions(lambda: judge_night([excerpt(night.removeprefix("groups/"))]))
    return decisions(MADE[night])


def decisions_on(case: str) -> list[Decided]:
    """What was decided of a named case: `made: <case>`, or a night and the key of the case in it."""
    if case.startswith("made: "):
        trace = decided(case.removeprefix("made: "))
    else:
        night, _, key = case.partition(" ")
        trace = [d for d in decided(night) if d[0] == key]
    return [Decided(r, v.code, v.confidence, v.sentence) for _, r, v in trace]


CASES = (
    RulingCases(
        "groups",
        ALL,
        decisions_on,
        MADE,
        [
            ("made: a restart takes longer than the session timeout", "static_membership", "likely"),
            ("made: a restart of a member whose session timeout is not known", "static_membership", "likely"),
            ("made: a restart that is only possible", "static_membership", "possible"),
            ("made: a silence of a member whose session timeout is not known", "session_timeout", "likely"),
            ("made: a silence that is only possible", "session_timeout", "possible"),
        ],
        caches=[decided],
    ),
)
