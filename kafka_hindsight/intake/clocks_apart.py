"""Wrong clocks: the meaning of steps in files, and the clocks of two brokers, compared by leader epochs.

Two brokers name a leader epoch when each of them has heard of it. A broker that stands still, or starts, names it late:
such a delay looks like a clock that is ahead, but it ends. A clock is ahead if a leader is later than a follower by the
same time in several minutes, and hardly any minute between them shows both together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from statistics import median
from typing import NamedTuple

from kafka_hindsight.catalog.codes import ClockMeaning, Origin
from kafka_hindsight.catalog.rows.structs import ClockStep
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.intake.lake_rows import reduced
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_facts import FileFacts
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import CLOCK_SKEW, REPEATED
from kafka_hindsight.shared.grouping import grouped

_QUARTER = 15 * 60
_MINUTE = 60_000_000
"""Microseconds of a minute."""

_NEAR = 60
"""Seconds by which the distance of a leader and a follower may differ from whole quarters."""

_FACTS, _ACTS = 5, 3
"""Leader epochs, and minutes in which they began: fewer may come from a broker that was away once."""

_LATE_ACTS = 2
"""Minutes in which a leader was later than its followers: one that stood still at its election is late only once."""

_SKEW = CLOCK_SKEW.total_seconds()
_TOGETHER = _SKEW / 2
"""Seconds by which clocks that agree differ, and by which the distance of two clocks varies."""

_SHARE = 0.9
_SHOWN = 3
_EPOCH = ("topic", "partition", "leader_epoch")

Distances = Mapping[tuple[int, int], Sequence[tuple[float, int]]]
"""By leader and follower, for each leader epoch: the seconds by which the follower named it later, and the minute."""

Writer = Callable[[str], int | None]
"""The broker that wrote a log; None if it is not known."""


class WrongClock(NamedTuple):
    """A wrong clock, and a sentence about it; the sentence is empty if another finding's covers it."""

    error: ClockError
    sentence: str


_PAIRS = """
    WITH namings AS (
        SELECT topic, "partition", leader_epoch, kind = 'leader_started' AS leads, broker,
            min(epoch_us(happened_at)) AS at
        FROM part WHERE kind IN ('leader_started', 'follower_started') AND broker IS NOT NULL GROUP BY ALL),
    leaders AS (
        SELECT * FROM namings WHERE leads QUALIFY count(*) OVER (PARTITION BY topic, "partition", leader_epoch) = 1)
    SELECT l.broker AS leader, f.broker AS follower, l.at AS began, f.at
    FROM leaders AS l JOIN namings AS f USING (topic, "partition", leader_epoch)
    WHERE NOT f.leads AND f.broker <> l.broker ORDER BY began, topic, "partition", leader_epoch"""
"""Each leader epoch that a leader and a follower named, and when either of them first did."""


def distances(store: Store, part: Part) -> Distances:
    """Compare the instants at which two brokers named the same leader epochs, in a part of silver.events."""
    pairs = defaultdict[tuple[int, int], list[tuple[float, int]]](list)
    for row in reduced(store, EVENTS, part, (*_EPOCH, "kind", "broker", "happened_at"), _PAIRS).to_pylist():
        seconds = row["at"] // 1_000 / 1_000 - row["began"] // 1_000 / 1_000
        pairs[row["leader"], row["follower"]].append((seconds, row["began"] // _MINUTE))
    return pairs


def ahead(pairs: Distances, sources: Mapping[int, frozenset[str]]) -> list[WrongClock]:
    """The brokers whose clocks are seconds or minutes ahead of others'; `sources` are the logs of each broker."""
    by_leader = defaultdict[int, dict[int, Mapping[int, Sequence[float]]]](dict)
    for (leader, follower), facts in pairs.items():
        if late := _late_minutes(facts, pairs.get((follower, leader), ())):
            by_leader[leader][follower] = late
    return [finding for leader, late in sorted(by_leader.items()) for finding in _ahead(leader, late, sources)]


def _late_minutes(
    leads: Sequence[tuple[float, int]], follows: Sequence[tuple[float, int]]
) -> Mapping[int, Sequence[float]]:
    """The minutes in which a leader is later than a follower by the same time, with the seconds of each epoch.

    `leads` are the epochs that it leads, `follows` those that the other one leads. A follower that starts is late by
    any time. Epochs that both name together, or that the other one leads and names later, show that the leader was
    delayed before.
    """
    ahead = [(-seconds, minute) for seconds, minute in leads]
    late = grouped([fact for fact in ahead if _SKEW <= fact[0] < _QUARTER / 2], lambda fact: fact[1])
    together = {minute for seconds, minute in ahead if abs(seconds) <= _TOGETHER}
    together |= {minute for seconds, minute in follows if seconds <= _TOGETHER}
    middles = {minute: median(s for s, _ in facts) for minute, facts in late.items() if minute not in together}
    by = median(middles.values()) if middles else 0
    same = {minute: [s for s, _ in late[minute]] for minute, s in middles.items() if abs(s - by) <= _TOGETHER}
    if not same or sum(min(same) < minute < max(same) for minute in together) >= len(same):
        return {}
    return same


def _ahead(
    leader: int, late: Mapping[int, Mapping[int, Sequence[float]]], sources: Mapping[int, frozenset[str]]
) -> Iterator[WrongClock]:
    seconds = [s for minutes in late.values() for facts in minutes.values() for s in facts]
    if len(seconds) < _FACTS or len({minute for minutes in late.values() for minute in minutes}) < _LATE_ACTS:
        return
    followers = words.listed([f"broker {follower}" for follower in sorted(late)])
    proof = (
        f"{words.counted(len(seconds), 'leader epoch')} of broker {leader} began so much earlier in the logs of its"
        " followers"
    )
    error = ClockError(
        ClockMeaning.AHEAD,
        sources.get(leader, frozenset()),
        frozenset({leader}),
        timedelta(seconds=max(seconds)),
        proof=proof,
    )
    yield WrongClock(
        error,
        f"The clock of broker {leader} seems to be {words.duration(median(seconds) * 1_000)} ahead of that of"
        f" {followers}, at least for a time: {proof}. Times are kept as they were written. A verdict that compares this"
        " clock with another one is not certain, and times without a leader are given as bounds. Let all brokers keep"
        " time by NTP.",
    )


def pairs_apart(pairs: Distances, sources: Mapping[int, frozenset[str]]) -> list[WrongClock]:
    """The pairs of brokers whose clocks are whole quarters of an hour apart; the first have sentences of their own."""
    facts = defaultdict[tuple[int, int], list[tuple[int | None, int]]](list)
    for (leader, follower), own in pairs.items():
        sign = 1 if leader < follower else -1
        facts[min(leader, follower), max(leader, follower)] += ((_quarters(sign * s), minute) for s, minute in own)
    findings = [f for (one, other), own in sorted(facts.items()) for f in _apart(one, other, own, sources)]
    common = frozenset.intersection(*(f.error.brokers for f in findings)) if findings[1:] else frozenset[int]()
    if len(common) == 1:
        # One clock differs from all others, which agree: it is the wrong one, whether it is late or early.
        odd = sources.get(min(common), frozenset())
        findings = [f._replace(error=replace(f.error, brokers=common, sources=odd)) for f in findings]
    more = f"{len(findings) - _SHOWN} more pairs of brokers write times that lie apart so."
    rest = ["" if n > _SHOWN else more for n in range(_SHOWN, len(findings))]
    return [
        *findings[:_SHOWN],
        *(f._replace(sentence=sentence) for f, sentence in zip(findings[_SHOWN:], rest, strict=True)),
    ]


def _quarters(seconds: float) -> int | None:
    quarters = int(abs(seconds) / _QUARTER + 0.5) * (1 if seconds > 0 else -1)
    return quarters if abs(seconds - quarters * _QUARTER) <= _NEAR else None


def _apart(
    one: int, other: int, facts: Sequence[tuple[int | None, int]], sources: Mapping[int, frozenset[str]]
) -> Iterator[WrongClock]:
    quarters, count = Counter(quarters for quarters, _ in facts).most_common(1)[0]
    acts = {minute for q, minute in facts if q == quarters}
    if not quarters or count < max(_FACTS, _SHARE * len(facts)) or len(acts) < _ACTS:
        return
    later, earlier = (other, one) if quarters > 0 else (one, other)
    by = timedelta(seconds=abs(quarters) * _QUARTER)
    both = frozenset({one, other})
    proof = (
        f"in the log of broker {later} {words.number(count)} of {words.counted(len(facts), 'leader epoch')} begin"
        f" {words.duration(by)} later than in that of broker {earlier}"
    )
    yield WrongClock(
        ClockError(ClockMeaning.OTHER_ZONE, sources.get(later, frozenset()), both, by, proof=proof),
        f"The clocks of brokers {one} and {other} seem to run in different zones: {proof}. Their times are "
        "kept as they were written, so what spans both is wrong by as much. Needed: clocks of one zone, or a date with "
        "its zone in the layout. Compare TZ of both brokers with LOGS_TZ.",
    )


def in_files(files: Sequence[FileFacts], writer: Writer) -> list[WrongClock]:
    """The meaning of the steps in files' clocks, one sentence for each; `writer` gives the broker of a log."""
    by_meaning = defaultdict[ClockMeaning, list[tuple[FileFacts, ClockStep]]](list)
    for file, step in ((f, step) for f in files for step in f.steps):
        by_meaning[step.meaning].append((file, step))
    findings = list(_repeated_hours(files, writer))
    for meaning, steps in sorted(by_meaning.items()):
        for n, (file, step) in enumerate(steps):
            brokers = _writers(file, writer)
            own = {f.file.source for f in files if brokers and writer(f.file.source) in brokers}
            by = abs(step.before_at - step.after_at)
            ordered_at = None if meaning == ClockMeaning.GARBLED else step.placed_at
            proof = (
                f"the times in {file.file.name} step back from {step.before_at:%H:%M:%S} to {step.after_at:%H:%M:%S}"
            )
            error = ClockError(meaning, frozenset({file.file.source, *own}), brokers, by, ordered_at, proof=proof)
            findings.append(WrongClock(error, "" if n else _sentence(meaning, steps)))
    return findings


def _writers(file: FileFacts, writer: Writer) -> frozenset[int]:
    broker = writer(file.file.source) if file.file.origin == Origin.BROKER else None
    return frozenset() if broker is None else frozenset({broker})


def _repeated_hours(files: Sequence[FileFacts], writer: Writer) -> Iterator[WrongClock]:
    """The hours of local time that come twice in files, one sentence for all."""
    hours = [(file, hour) for file in files for hour in file.repeated]
    names = words.listed(sorted({file.file.name for file, _ in hours}), _SHOWN)
    count = sum(hour.record_count for _, hour in hours)
    sentence = (
        f"{words.counted(count, 'record')} of {names} {words.verb(count, 'has', 'have')} a local time that comes twice"
        " as summer time ends. Where the order of a file does not show the second time, they are read as of the first,"
        " and may be an hour early: a verdict that rests on one of them is likely at most. Needed: a layout whose times"
        " are in UTC or name their zone."
    )
    for n, (file, hour) in enumerate(hours):
        times = hour.first_at, hour.last_at
        sources, brokers = frozenset({file.file.source}), _writers(file, writer)
        error = ClockError(ClockMeaning.HOUR_REPEATED, sources, brokers, REPEATED, repeated=times)
        yield WrongClock(error, "" if n else sentence)


def _sentence(meaning: ClockMeaning, steps: Sequence[tuple[FileFacts, ClockStep]]) -> str:
    file, step = steps[0]
    names = words.listed(sorted({f.file.name for f, _ in steps}), _SHOWN)
    setting = "LOGS_TZ" if file.file.origin == Origin.BROKER else "CLIENT_TZ"
    from_to = f"from {step.before_at:%Y-%m-%d %H:%M:%S} to {step.after_at:%H:%M:%S}"
    lines = f" The lines, of {file.file.name}: {step.before!r}, then {step.after!r}."
    by = words.duration(abs(step.before_at - step.after_at).total_seconds() * 1_000)
    return {
        ClockMeaning.GARBLED: f"{words.counted(len(steps), 'instant')} in {names} cannot be: the lines around agree on"
        " another one. These lines stand where they were written, and take no part in what is concluded of clocks.",
        ClockMeaning.SET_BACK: f"A clock was set back by {by}, {from_to} in {names}, and stayed back"
        + (
            ", or several logs follow one another in a file. Lines are put in the order of their times."
            if step.placed_at is None
            else ". The lines until it had caught up keep their order in the file, and stand at one instant."
        )
        + " A verdict that compares this clock with another one is not certain, and times without a leader are given"
        f" as bounds. Let all brokers keep time by NTP, and name the zone of a local time in {setting}.",
    }[meaning] + lines
