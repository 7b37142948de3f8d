"""How far leadership has drifted from the preferred leaders, where logs alone show it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY, Origin
from kafka_hindsight.catalog.rows import LeaderImbalance, LeaderSpan, Quote
from kafka_hindsight.judgements.partitions.leaders.imbalance import THRESHOLD
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, NEVER
from kafka_hindsight.shared.windows import Window

_QUOTED = 2


class _Balance:
    """The leaders and preferred leaders of all partitions at one instant, as spans begin and end."""

    def __init__(self) -> None:
        self.preferred: Counter[int] = Counter()
        self.elsewhere: defaultdict[int, dict[tuple[str, int], LeaderSpan]] = defaultdict(dict)
        self.unknown = 0
        self.newest_quotes: Sequence[Quote] = ()

    def begin(self, span: LeaderSpan) -> None:
        if span.leader is None or not span.replicas:
            self.unknown += 1
            return
        first = span.replicas[0]
        self.preferred[first] += 1
        self.newest_quotes = span.evidence or self.newest_quotes
        if span.leader != first:
            self.elsewhere[first][span.topic, span.partition] = span

    def end(self, span: LeaderSpan) -> None:
        if span.leader is None or not span.replicas:
            self.unknown -= 1
            return
        first = span.replicas[0]
        self.preferred[first] -= 1
        self.elsewhere[first].pop((span.topic, span.partition), None)

    def row(self, cluster: str, at: datetime, broker: int, *, is_whole: bool) -> LeaderImbalance:
        """The row of one broker. `is_whole`: whether the logs had listed all partitions by then."""
        elsewhere, preferred = list(self.elsewhere[broker].values()), self.preferred[broker]
        is_known = is_whole and not self.unknown
        # Each partition that is not known may be one that the broker is preferred for, and leads.
        is_above = is_whole and len(elsewhere) > THRESHOLD * (preferred + self.unknown)
        quotes = [q for span in elsewhere[-_QUOTED:] for q in span.evidence]
        return LeaderImbalance(
            cluster=cluster,
            snapshot_at=at,
            broker=broker,
            origin=Origin.BROKER,
            preferred_partitions=preferred,
            led_elsewhere=len(elsewhere),
            unknown_partitions=self.unknown if is_whole else None,
            ratio=len(elsewhere) / preferred if preferred and is_known else None,
            over_threshold=True if is_above else False if is_known else None,
            evidence=quotes or list(self.newest_quotes),
        )


def imbalance_in_logs(
    spans: Sequence[LeaderSpan], listed_from: datetime | None, window: Window, logs_end: datetime
) -> list[LeaderImbalance]:
    """Rows of gold.leader_imbalance: one for each broker wherever leaders changed, and where window or logs end.

    Changes that follow each other within CLOCK_SKEW count as one: brokers write them by clocks of their own.

    Args:
        spans: Who led each partition of one cluster, and its replicas.
        listed_from: When the logs had listed all partitions; None where they never do. Before, no ratio is known.
        window: The window that is judged.
        logs_end: The last instant that the logs show.
    """
    if not spans:
        return []
    cluster, brokers = spans[0].cluster, sorted(hosts_of(spans))
    changes = sorted(_changes(spans), key=lambda change: change[:2])
    instants = _instants([at for at, _, _ in changes], listed_from, window, min(logs_end, window.end))
    balance, place, rows = _Balance(), 0, []
    for at in instants:
        while place < len(changes) and changes[place][0] <= at:
            _, is_begin, span = changes[place]
            (balance.begin if is_begin else balance.end)(span)
            place += 1
        if balance.newest_quotes:
            is_whole = listed_from is not None and listed_from <= at
            rows += [balance.row(cluster, at, broker, is_whole=is_whole) for broker in brokers]
    return rows


def hosts_of(spans: Iterable[LeaderSpan]) -> set[int]:
    """The brokers that the spans name as leaders or replicas."""
    return {b for span in spans for b in (*(span.replicas or ()), span.leader) if b is not None and b != NOBODY}


def _changes(spans: Iterable[LeaderSpan]) -> Iterator[tuple[datetime, bool, LeaderSpan]]:
    """The begins and ends of spans; at one instant ends come first."""
    for span in spans:
        yield span.since or LONG_AGO, True, span
        if span.until is not None:
            yield span.until, False, span


def _instants(
    changed_at: Sequence[datetime], listed_from: datetime | None, window: Window, end: datetime
) -> list[datetime]:
    """The instants in the window at which changes of leaders had come to rest, its begin, and the end of the logs."""
    at_rest = [at for at, after in pairwise([*changed_at, NEVER]) if after - at > CLOCK_SKEW]
    return sorted({at for at in (*at_rest, window.start, listed_from or end, end) if window.start <= at <= end})
