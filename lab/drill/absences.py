"""The times when brokers were away by the acts on them, and how an audit's absences agree with them.

It reads acts and rows alone: nothing here knows of lines, patterns and rulings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Confidence, OutageKind
from lab.answers import DOUBTFUL, RIGHT, WRONG, Answer, Expectation, answered
from lab.drill.act_expectations import codes_of
from lab.drill.acts import START_ENDED, Act
from lab.drill.cluster import SESSION_MS
from lab.drill.rows import GoldRow, GoldTables

SERVES_WITHIN = timedelta(seconds=90)
"""A process that is started, or goes on, serves so soon."""

SESSION = timedelta(milliseconds=int(SESSION_MS))

CLOCKS_APART = timedelta(seconds=2)
"""How far an act is from the line that shows it."""

NIGHT_ENDS = "night_ends"
"""The action with which a broker goes when all is over; the truth of a night does not say how, nor just when."""

_GONE: Mapping[str, frozenset[str]] = {
    "broker_kill9": frozenset({OutageKind.CRASH}),
    "log_dir_failed": frozenset({OutageKind.CRASH}),
    "broker_controlled_shutdown": frozenset({OutageKind.CONTROLLED_SHUTDOWN}),
    "broker_sigstop": frozenset({OutageKind.UNRESPONSIVE}),
    NIGHT_ENDS: frozenset({OutageKind.CRASH, OutageKind.CONTROLLED_SHUTDOWN, OutageKind.UNKNOWN}),
}
_BACK = ("broker_start", "broker_sigcont")


@dataclass(frozen=True)
class Away:
    """A time in which a broker was away: from the act that took it to the one that brought it back.

    `back_at`: the last act of all where it was not brought back. `kinds`: what an audit may call it. `is_owed`: an
    audit of all logs must have it.
    """

    broker: int
    gone_at: datetime
    back_at: datetime
    is_back: bool
    kinds: frozenset[str]
    is_owed: bool

    @property
    def is_noticed(self) -> bool:
        """Whether a controller misses the broker: a short pause is over before."""
        return self.is_owed or self.back_at - self.gone_at > SESSION

    def is_met(self, start: datetime, end: datetime) -> bool:
        """Whether a span holds a part of it."""
        return self.gone_at <= end + CLOCKS_APART and self.back_at > start


def away_of(acts: Sequence[Act]) -> list[Away]:
    """The times when each broker was away."""
    by_broker: dict[int, list[Act]] = defaultdict(list)
    for act in acts:
        if act.broker is not None and act.is_on_broker:
            by_broker[act.broker].append(act)
    away = (a for broker, own in by_broker.items() for a in _of_broker(broker, own, acts[-1].at))
    return sorted(away, key=lambda a: (a.gone_at, a.broker))


def _of_broker(broker: int, acts: Iterable[Act], until: datetime) -> list[Away]:
    """The absences of one broker. One whose start ended because its former session was open is started again later."""
    over: list[Away] = []
    current: Away | None = None
    for act in acts:
        if kinds := _kinds_of(act):
            absence = current or Away(broker, act.at, until, False, frozenset(), False)
            owed = absence.is_owed or bool(codes_of(act.expect, "broker_outages"))
            current = replace(absence, kinds=absence.kinds | kinds, is_owed=owed)
        elif act.action == START_ENDED:
            over[-1] = replace(over[-1], back_at=act.at + SESSION, kinds=over[-1].kinds | {OutageKind.FAILED_START})
        elif current and act.action == "broker_starts_fail":
            current = replace(current, kinds=current.kinds | {OutageKind.FAILED_START})
        elif current and act.action in _BACK:
            over.append(replace(current, back_at=act.at, is_back=True))
            current = None
    return [*over, *([current] if current else [])]


def _kinds_of(act: Act) -> frozenset[str]:
    """The kinds of absence that an act causes. A failed disk causes one only where it ends the process."""
    lives = act.action == "log_dir_failed" and not codes_of(act.expect, "broker_outages")
    return frozenset() if lives else _GONE.get(act.action, frozenset())


def _is_in_audit(away: Away, truth: Sequence[Away], tables: GoldTables) -> Answer:
    """The rows that are about an absence."""
    rows = [row for row in tables["broker_outages"] if away in _met(row, truth)]
    return answered(bool(rows), rows)


def _agrees(row: GoldRow, truth: Sequence[Away], tables: GoldTables) -> Answer:
    """How one absence of an audit agrees with what was done."""
    met = _met(row, truth)
    if not met:
        return Answer(WRONG, ("nothing was done that takes that broker away",))
    if len(met) > 1:
        is_sure = row["confidence"] == Confidence.CERTAIN
        return Answer(WRONG if is_sure else DOUBTFUL, (f"it holds {len(met)} absences",))
    away = met[0]
    if row["kind"] not in away.kinds:
        says_one = row["kind"] != OutageKind.UNKNOWN
        return Answer(WRONG if says_one else DOUBTFUL, (f"it was {' and '.join(sorted(away.kinds))}",))
    if why := _contradicted(row, away):
        return Answer(WRONG, (why,))
    if row["up_at"] is None and away.is_back:
        return Answer(DOUBTFUL, (f"it was brought back at {away.back_at:%m-%d %H:%M:%S}",))
    return Answer(RIGHT)


def _met(row: GoldRow, truth: Sequence[Away]) -> list[Away]:
    """The absences that a row is about: those that it holds a part of, else the one whose broker was about to serve.

    A pause that no controller noticed counts where there is no other. A row without an end claims its lower bound.
    """
    down = row["down_at"]
    up = row["up_at"] or (row["detected_at"] or down) + timedelta(milliseconds=row["away_low_ms"])
    own = [a for a in truth if a.broker == row["broker"]]
    inside = [a for a in own if a.is_met(down, up)]
    return (
        [a for a in inside if a.is_noticed]
        or inside
        or [a for a in own if a.back_at <= down <= a.back_at + SERVES_WITHIN][-1:]
    )


def _contradicted(row: GoldRow, away: Away) -> str | None:
    """Why its end or its bounds are wrong: it was away until it was started, and served a little later."""
    least, most = away.back_at - away.gone_at, away.back_at + SERVES_WITHIN - away.gone_at
    low, high = row["away_low_ms"], row["away_high_ms"]
    if row["up_at"] and row["up_at"] < away.back_at - CLOCKS_APART:
        return f"it was away until {away.back_at:%H:%M:%S}"
    is_short = away.is_owed and high is not None and timedelta(milliseconds=high) < least - CLOCKS_APART
    if is_short or timedelta(milliseconds=low) > most:
        return f"it was away for {least} at least, and not for {low} to {high} ms"
    return None


PLAYED, AGREEING = "absence_played", "absence_agreeing"

OF_ABSENCES: Mapping[str, Expectation] = {
    PLAYED: Expectation(("broker_outages",), _is_in_audit),
    AGREEING: Expectation(("broker_outages",), _agrees),
}
"""An absence that was played is in the audit; an absence of the audit agrees with what was played."""
