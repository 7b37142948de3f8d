"""The witnesses of a window: which kinds of event the logs of each broker could show, hour by hour.

A witness is there when a line of each logger that writes such events was read, at a level at which it writes them, and
the broker's logs are at hand at that time. What a broker does not know of itself needs lines of a controller too. A
line of a logger, in the window or in the week before, is evidence that its lines reach the files that are read. Only
then does its silence show that nothing happened. Where the broker was started since, a logger that writes at each start
has to have written again: else its file is missing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import Confidence, Origin, OutageKind, WitnessGap
from kafka_hindsight.catalog.rows import BrokerOutage, LogSpan, MissingBrokerLog, ParsedHour, Witness
from kafka_hindsight.knowledge.witness_loggers import (
    AT_EACH_START,
    BROKER_LOGGERS,
    LAST_PARTS,
    LEVELS,
    NEEDED_LEVELS,
    QUORUM_LOGGER,
    WITNESSES,
    ZOOKEEPER_LOGGER,
    WitnessLoggers,
)
from kafka_hindsight.logs.reading import broker_of_folder
from kafka_hindsight.measures.time_away import least_until
from kafka_hindsight.shared.durations import CLOCK_SKEW
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals
from kafka_hindsight.shared.windows import Window

_QUIET = timedelta(hours=1)
"""A broker without work writes a line within this time. Source: metadata.log.max.snapshot.interval.ms (KRaft),
offsets.retention.check.interval.ms (ZooKeeper)."""

_PAUSE = timedelta(minutes=2)
"""For so long a whole cluster may be silent at the beginning or the end of a window. Our choice."""


LINES_WITHIN = timedelta(seconds=10)
"""The spans of a day for which it is asked whether any broker wrote a line."""


@dataclass(frozen=True)
class BrokerLoggers:
    """The levels of each logger of one broker of which a line was read. The empty logger stands for all others."""

    levels: Mapping[str, frozenset[str]]

    @property
    def judged(self) -> frozenset[str]:
        """The loggers with a line at a level that is judged."""
        return frozenset(name for name, levels in self.levels.items() if not NEEDED_LEVELS.isdisjoint(levels))

    @classmethod
    def of(cls, hours: Iterable[ParsedHour]) -> BrokerLoggers:
        """The loggers of the broker that wrote the logs of some hours."""
        pairs = (pair.partition(" ") for hour in hours for pair in hour.loggers or ())
        of_logger = grouped(pairs, lambda p: LAST_PARTS.get(p[2], p[2]))
        return cls({name: frozenset(level for level, _, _ in own) for name, own in of_logger.items()})

    def since_start(self, later: BrokerLoggers) -> BrokerLoggers:
        """The loggers that are evidence after a start: `later` are those of the hours with a line since then."""
        return BrokerLoggers(
            {
                name: later.levels.get(name, frozenset()) if name in AT_EACH_START else levels
                for name, levels in self.levels.items()
            }
        )

    @property
    def least_level(self) -> str | None:
        """The least level of any logger."""
        return min((level for levels in self.levels.values() for level in levels), key=LEVELS.index, default=None)

    @property
    def is_of_broker(self) -> bool:
        """Whether a broker wrote them, and not a controller alone."""
        return not BROKER_LOGGERS.isdisjoint(self.levels)

    def missing(self, witness: WitnessLoggers, *, is_busy: bool) -> frozenset[str]:
        """The loggers without a line at a level that is judged: of the alternative of which most were read.

        Where none of any alternative was read, all of them. None are missing where a broker has no such work: it is not
        `is_busy`, or nothing of any alternative was read.
        """
        loggers = self.judged
        has_none = all(loggers.isdisjoint(a) for a in witness.alternatives)
        if witness.idle_logger in loggers and loggers.isdisjoint(witness.work_loggers) and (has_none or not is_busy):
            return frozenset()
        nearest = max(witness.alternatives, key=lambda a: (a <= loggers, len(a & loggers)))
        return nearest - loggers if nearest & loggers else frozenset[str]().union(*witness.alternatives)


def writer_of(hour: ParsedHour) -> int | None:
    """The broker that wrote a log, as its lines in that hour or its folder name it; None if several or none did."""
    if hour.given_broker is not None:
        return hour.given_broker
    if hour.lowest_broker is None:
        return broker_of_folder(hour.source)
    return hour.lowest_broker if hour.lowest_broker == hour.highest_broker else None


def find_witnesses(
    cluster: str,
    hours: Iterable[ParsedHour],
    missing_logs: Iterable[MissingBrokerLog],
    outages: Iterable[BrokerOutage],
    window: Window,
    busy_brokers: Container[int | None] | None = None,
    log_spans: Sequence[LogSpan] | None = None,
) -> list[Witness]:
    """Find for each broker and kind of event in which parts of the window its logs could show such events.

    Args:
        cluster: The cluster's name.
        hours: The hours of the window, of the week before it and of the look-ahead.
        missing_logs: Nodes that others name and that wrote no line.
        outages: The times in which brokers were away, and wrote nothing.
        window: The window that is judged.
        busy_brokers: Those that loaded records of groups, or may have. None: not known, so that each may have.
        log_spans: The spans of each broker's own log; None: each is at hand all the time.
    """
    away = grouped((_as_read(o, log_spans) for o in outages), lambda o: o.broker)
    of_brokers = grouped((h for h in hours if h.origin == Origin.BROKER), writer_of)
    logged_span = _logged_span([h for own in of_brokers.values() for h in own], window)
    now = {broker: _loggers_now(own, away.get(broker or 0, [])) for broker, own in of_brokers.items()}
    before = {b: BrokerLoggers.of(h for h in own if h.hour_to <= window.start) for b, own in of_brokers.items()}
    silences = {b: _silences(own, away.get(b or 0, []), window, logged_span) for b, own in of_brokers.items()}
    logged = [
        row
        for broker, own in of_brokers.items()
        if BrokerLoggers.of(own).is_of_broker
        for row in _of_broker(
            cluster,
            broker,
            ReadLoggers.of(broker, now, before),
            silences[broker],
            window,
            is_busy=busy_brokers is None or broker is None or broker in busy_brokers,
        )
    ]
    unlogged_brokers: list[int | None] = [log.broker for log in missing_logs]
    if not logged and not unlogged_brokers:
        unlogged_brokers = [None]
    unlogged = [
        Witness(
            cluster=cluster,
            broker=broker,
            kind=witness.kind,
            first_at=window.start,
            last_at=window.end,
            gap=WitnessGap.NO_LOG,
            was_there=False,
        )
        for broker in unlogged_brokers
        for witness in WITNESSES
    ]
    return [*logged, *unlogged]


@dataclass(frozen=True)
class ReadLoggers:
    """The loggers of a broker, and whether lines of a controller stand beside them; and the same before the window."""

    now: BrokerLoggers
    before: BrokerLoggers
    has_controller: bool
    had_controller: bool

    @classmethod
    def of(
        cls, broker: int | None, now: Mapping[int | None, BrokerLoggers], before: Mapping[int | None, BrokerLoggers]
    ) -> ReadLoggers:
        """Those of one broker, of those of all nodes."""
        has, had = (ZOOKEEPER_LOGGER in t[broker].judged or _has_quorum(t.values()) for t in (now, before))
        return cls(now[broker], before[broker], has, had)


def _has_quorum(nodes: Iterable[BrokerLoggers]) -> bool:
    """Whether a controller of KRaft is among these nodes."""
    return any(QUORUM_LOGGER in loggers.judged for loggers in nodes)


def _of_broker(
    cluster: str,
    broker: int | None,
    read: ReadLoggers,
    silences: Sequence[Window],
    window: Window,
    *,
    is_busy: bool,
) -> Iterator[Witness]:
    loggers, before = read.now, read.before
    is_filtered = loggers.least_level not in NEEDED_LEVELS
    for witness in WITNESSES:
        missing, gap = loggers.missing(witness, is_busy=is_busy), None
        if missing:
            gap = WitnessGap.FILTERED if is_filtered else WitnessGap.NO_LOGGER
        elif witness.needs_controller and not read.has_controller:
            missing, gap = frozenset({QUORUM_LOGGER, ZOOKEEPER_LOGGER}), WitnessGap.NO_CONTROLLER
        had_controller = read.had_controller or not witness.needs_controller
        for part, is_silent in _parts(silences, window):
            yield Witness(
                cluster=cluster,
                broker=broker,
                kind=witness.kind,
                first_at=part.start,
                last_at=part.end,
                gap=gap or (WitnessGap.NO_LINES if is_silent else None),
                loggers=sorted(missing) or None,
                level=loggers.least_level,
                was_there=bool(before.levels) and not before.missing(witness, is_busy=is_busy) and had_controller,
            )


def _loggers_now(hours: Sequence[ParsedHour], outages: Iterable[BrokerOutage]) -> BrokerLoggers:
    """The loggers of a broker that are evidence of the window."""
    loggers = BrokerLoggers.of(hours)
    stopped_at = max((o.down_at for o in outages if _ended_by_start(o)), default=None)
    if stopped_at is None:
        return loggers
    return loggers.since_start(BrokerLoggers.of(h for h in hours if h.last_at >= stopped_at))


def _ended_by_start(outage: BrokerOutage) -> bool:
    """Whether an outage ended with the start of a new process, and is more than possible."""
    is_sure = outage.confidence in (Confidence.CERTAIN, Confidence.LIKELY)
    return is_sure and outage.up_at is not None and outage.kind is not OutageKind.UNRESPONSIVE


def _logged_span(hours: Sequence[ParsedHour], window: Window) -> Window:
    """The part of a window between the first and the last line of any broker; all of it but for a short pause."""
    first = min((h.first_at for h in hours), default=window.end)
    last = max((h.last_at for h in hours), default=window.start)
    start = window.start if first - window.start <= _PAUSE else min(first, window.end)
    return Window(start, window.end if window.end - last <= _PAUSE else max(last, start))


def _silences(
    hours: Sequence[ParsedHour], outages: Iterable[BrokerOutage], window: Window, logged_span: Window
) -> list[Window]:
    """The parts of a window in which a broker's logs have no line for too long, and it was not away.

    Where no broker's log has a line, at the beginning and the end of the window, that is at once too long.
    """
    spans = [
        *(Interval(h.first_at, h.last_at + timedelta.resolution, None) for h in hours),
        *(Interval(o.down_at, o.up_at or window.end, None) for o in outages),
    ]
    present = [(i.start, i.end or window.end) for i in Intervals(spans).union()]
    edges = [(logged_span.start, logged_span.start), *present, (logged_span.end, logged_span.end)]
    silent = [Window(since, until) for (_, since), (until, _) in pairwise(sorted(edges)) if until - since > _QUIET]
    unlogged = [Window(window.start, logged_span.start), Window(logged_span.end, window.end)]
    inside = (Window(max(s.start, window.start), min(s.end, window.end)) for s in [unlogged[0], *silent, unlogged[1]])
    return [part for part in inside if part.start < part.end]


def _as_read(outage: BrokerOutage, log_spans: Sequence[LogSpan] | None) -> BrokerOutage:
    """The absence up to where it is shown, if files of the broker's log are missing before its return.

    It may have served meanwhile; a log that is at hand would show that.
    """
    shown_until = least_until(outage)
    if log_spans is None or outage.up_at is None or shown_until is None:
        return outage
    own = (s for s in log_spans if s.broker == outage.broker)
    is_whole = any(s.first_at <= outage.down_at + CLOCK_SKEW and outage.up_at - CLOCK_SKEW <= s.last_at for s in own)
    return outage if is_whole else replace(outage, up_at=min(shown_until, outage.up_at))


def _parts(silences: Sequence[Window], window: Window) -> Iterator[tuple[Window, bool]]:
    """The parts of a window, each with whether it is one of its silences."""
    reached = window.start
    for silence in silences:
        if reached < silence.start:
            yield Window(reached, silence.start), False
        yield silence, True
        reached = silence.end
    if reached < window.end:
        yield Window(reached, window.end), False


def silences_of_cluster(spans: Iterable[datetime]) -> list[Window]:
    """The times between two lines of any broker that are longer than a pause.

    Args:
        spans: The begins of the spans in which any broker wrote a line.
    """
    ordered = sorted(spans)
    return [Window(a + LINES_WITHIN, b) for a, b in pairwise(ordered) if b - a - LINES_WITHIN >= _PAUSE]


def with_lost_lines(
    witnesses: Iterable[Witness], silences: Iterable[Window], breaks: Sequence[tuple[datetime, datetime]]
) -> list[Witness]:
    """The witnesses; in a silence of all brokers over which ids do not join, lines were lost, and none could show more.

    A silence alone is not a gap: a cluster without work writes nothing for as long. Of several within a break, each may
    be the one, unless another break shows one of them.

    Args:
        witnesses: The witnesses of the window.
        silences: The times in which no broker wrote a line.
        breaks: The last line before each unexplained break of generations or leader epochs, and the first after it.
    """
    own = [*silences]
    candidates = [[s for s in own if before < s.start and s.end <= after] for before, after in breaks]
    gap_of = {spans[0].start: WitnessGap.NO_LINES for spans in candidates if len(spans) == 1}
    unexplained = [spans for spans in candidates if not any(s.start in gap_of for s in spans)]
    gap_of |= {s.start: WitnessGap.SOME_LINES for spans in unexplained for s in spans}
    silent = sorted((s for s in own if s.start in gap_of), key=lambda s: s.start)
    return [part for witness in witnesses for part in _split(witness, silent, gap_of)]


def _split(witness: Witness, silent: Sequence[Window], gap_of: Mapping[datetime, WitnessGap]) -> Iterator[Witness]:
    """The parts of a witness: in those without lines it is missing, as `gap_of` says by the start of each."""
    window = Window(witness.first_at, witness.last_at)
    inside = {
        Window(max(s.start, window.start), min(s.end, window.end)): gap_of[s.start]
        for s in silent
        if window.meets(s.start, s.end)
    }
    for part, is_silent in _parts([s for s in inside if s.start < s.end], window):
        gap = witness.gap or (inside[part] if is_silent else None)
        yield replace(witness, first_at=part.start, last_at=part.end, gap=gap)
