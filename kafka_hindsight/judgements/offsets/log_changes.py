"""The changes of the logs that groups read: where each began, and where it was cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Failover, Quote, Truncation
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline, instants, timelines

PartitionKey = tuple[str, int]

DELETE_RECORDS, SEGMENT_DELETION = "client delete records request", "segment deletion"
"""The reasons of a leader for a log that begins later. Source: LogStartOffsetIncrementReason, UnifiedLog."""


@dataclass(frozen=True)
class LogStart:
    """An instant from which on a log began at an offset. `reason`: the leader's; empty where its line has none."""

    key: PartitionKey
    at: datetime
    offset: int
    reason: str
    quote: Quote


@dataclass(frozen=True)
class LogCut:
    """An instant at which a log may have been cut. `offset`: where it was cut; None where only an election shows it."""

    key: PartitionKey
    at: datetime
    offset: int | None
    quotes: Sequence[Quote]


_NO_DELETIONS = instants(())
_NO_STARTS: Timeline[LogStart] = Timeline((), lambda s: s.at)
_NO_CUTS: Timeline[LogCut] = Timeline((), lambda c: c.at)


@dataclass(frozen=True)
class LogHistory:
    """The changes of one log."""

    starts: Timeline[LogStart]
    cuts: Timeline[LogCut]
    deletions: Timeline[datetime] = _NO_DELETIONS

    def start_at(self, at: datetime) -> LogStart | None:
        """The highest beginning that a line shows up to an instant: a log never begins earlier than before."""
        return max(self.starts.until(at), key=lambda s: s.offset, default=None)

    def starts_above(self, offset: int, at: datetime) -> list[LogStart]:
        """The changes up to an instant that let the log begin above an offset."""
        return [s for s in self.starts.until(at) if s.offset > offset]

    def cut_below(self, offset: int, at: datetime) -> LogCut | None:
        """The last cut up to an instant that may have taken the record before an offset."""
        cuts = (c for c in self.cuts.until(at) if c.offset is None or c.offset < offset)
        return max(cuts, key=lambda c: c.at, default=None)


@dataclass(frozen=True)
class LogChanges:
    """The changes of each log: `starts` and `cuts` by topic and partition, `deletions` of topics, in order of time."""

    starts: Mapping[PartitionKey, Timeline[LogStart]] = field(default_factory=dict)
    cuts: Mapping[PartitionKey, Timeline[LogCut]] = field(default_factory=dict)
    deletions: Mapping[str, Timeline[datetime]] = field(default_factory=dict)

    def of(self, key: PartitionKey) -> LogHistory:
        """The changes of one log."""
        deletions = self.deletions.get(key[0], _NO_DELETIONS)
        return LogHistory(self.starts.get(key, _NO_STARTS), self.cuts.get(key, _NO_CUTS), deletions)


def log_changes(lines: Sequence[Event], truncations: Iterable[Truncation], failovers: Iterable[Failover]) -> LogChanges:
    """The changes of all logs, by lines about their beginnings and deletions, by cuts, and by unclean elections.

    Followers repeat the beginning that their leader has, and only the leader knows the reason.
    """
    starts = [
        LogStart((e.topic, e.partition), e.happened_at, e.log_offset, e.reason or "", quote(e))
        for e in lines
        if e.kind == Kind.LOG_START_MOVED
        and e.topic is not None
        and e.partition is not None
        and e.log_offset is not None
    ]
    cuts = [
        *(LogCut((t.topic, t.partition), t.happened_at, t.truncated_to, t.evidence) for t in truncations),
        *(LogCut((f.topic, f.partition), f.happened_at, None, f.evidence) for f in failovers),
    ]
    deletions = grouped((e for e in lines if e.kind == Kind.TOPIC_DELETED), lambda e: e.topic or "")
    return LogChanges(
        timelines(starts, lambda s: s.key, lambda s: s.at),
        timelines(cuts, lambda c: c.key, lambda c: c.at),
        {topic: instants(e.happened_at for e in own) for topic, own in deletions.items()},
    )
