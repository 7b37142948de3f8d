"""Replicas that cut their logs: what went, and whether committed records went with it.

Source: KIP-101 and KIP-279: a follower cuts its log where it diverges from the leader's, by leader epochs. A record is
committed once every replica in the ISR has it. So a leader from the ISR has all that is committed, and what a follower
has beyond that leader's log never was committed. An unclean leader may lack committed records.

A high watermark that goes back is not a cut. A new leader begins with its own, which lags behind its predecessor's
until followers fetch (KIP-207), and a follower takes it over (ReplicaFetcherThread.processPartitionData,
UnifiedLog.maybeUpdateHighWatermark).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY, Confidence, FailoverKind, TruncationVerdict
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Failover, Truncation
from kafka_hindsight.judgements.partitions.incarnations import Incarnation, Partition, by_partition
from kafka_hindsight.judgements.partitions.replicas.losses import Mark, end_offsets, high_watermarks, highest
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.proofs import Proof, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Unknown, verdict_of
from kafka_hindsight.shared.durations import CLOCK_SKEW
from kafka_hindsight.shared.grouping import with_neighbours
from kafka_hindsight.shared.timelines import by_instant
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

_ONE_CUT = timedelta(seconds=10)
"""A cut may take several steps, and more than one line shows it."""
_AT_FOLLOWING = timedelta(minutes=1)
"""A follower cuts before it fetches, so its log is as long as when it began to follow."""
_RESET = re.compile(r"from (\d+) to (?:the )?current leader's (latest|start) offset")


@dataclass(frozen=True)
class Cut:
    """One cut of one replica's log, with all lines that show it.

    `follows`: the line with which the replica began to follow its leader. `loaded`: the last line before the cut that
    shows its log end.
    """

    lines: Sequence[Event]
    follows: Event | None = None
    loaded: Event | None = None

    @property
    def first(self) -> Event:
        return self.lines[0]

    @property
    def broker(self) -> int:
        assert self.first.broker is not None
        return self.first.broker

    @cached_property
    def offsets(self) -> list[int]:
        return [e.log_offset for e in self.lines if e.log_offset is not None]

    @property
    def to(self) -> int:
        """Where the log ends after it, or starts where the whole log was dropped."""
        return self.offsets[-1] if self.is_whole else min(self.offsets)

    @property
    def is_whole(self) -> bool:
        return _reset(self.lines[-1])[1] == "start"

    @cached_property
    def log_end(self) -> int | None:
        """Where the log ended before the cut: by the line itself, or by the one before that shows the log end."""
        named_end = next((end for end, _ in map(_reset, self.lines) if end is not None), None)
        if named_end is not None:
            return named_end
        before = self.follows or self.loaded
        if before is None or self.first.happened_at - before.happened_at > _AT_FOLLOWING:
            return None
        end = before.log_offset
        return end if end is not None and end >= min(self.offsets) else None

    @property
    def records(self) -> int | None:
        """How many records were cut; None where that is not known, or where the log had been cut by then."""
        return None if self.is_whole or self.log_end is None else (self.log_end - self.to) or None


def cuts_of(lines: Iterable[Event]) -> list[Cut]:
    """The cuts of all replicas of one incarnation of a partition, by time and broker, from its events in order."""
    loaded: dict[int | None, Event] = {}
    follows: dict[int | None, Event | None] = {}
    cuts: defaultdict[int | None, list[Cut]] = defaultdict(list)
    for event in lines:
        broker = event.broker
        if event.kind == Kind.LOG_END_LOADED:
            loaded[broker] = event
        elif event.kind in (Kind.FOLLOWER_STARTED, Kind.LEADER_STARTED):
            follows[broker] = event if event.kind == Kind.FOLLOWER_STARTED else None
        elif _is_cut(event):
            own, following = cuts[broker], follows.get(broker)
            if own and own[-1].follows is following and event.happened_at - own[-1].lines[-1].happened_at <= _ONE_CUT:
                own[-1] = replace(own[-1], lines=[*own[-1].lines, event])
            else:
                own.append(Cut([event], following, loaded.get(broker)))
    all_cuts = (cut for broker, own in cuts.items() if broker is not None for cut in own)
    return sorted(all_cuts, key=lambda c: (c.first.happened_at, c.broker))


def _is_cut(event: Event) -> bool:
    """Whether a line shows a cut.

    Older Kafkas say in the same words that a fetch starts at this log's own end, and no record is dropped.
    Source: AbstractFetcherThread.fetchOffsetAndTruncate.
    """
    end, where = _reset(event)
    if event.kind != Kind.LOG_TRUNCATED or event.log_offset is None:
        return False
    return where != "start" or end is None or event.log_offset > end


def _reset(event: Event) -> tuple[int | None, str | None]:
    """Where the log ended, and which of the leader's offsets it is reset to."""
    match = _RESET.search(event.detail or "")
    return (int(match[1]), match[2]) if match else (None, None)


METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True)
class TruncationCase:
    """One cut, with its partition, and the partition's failovers in order of time."""

    incarnation: Incarnation
    cut: Cut
    failovers: Sequence[Failover]

    @cached_property
    def failovers_since(self) -> list[Failover]:
        """The failovers since the replica was last known to be in sync; else all that are known."""
        cut_at = self.cut.first.happened_at + CLOCK_SKEW
        epoch = self.cut.follows.leader_epoch if self.cut.follows else None
        chain: list[Failover] = []
        for failover in reversed(self.failovers):
            is_later = epoch is not None and failover.epoch_to is not None and failover.epoch_to > epoch
            if failover.happened_at > cut_at or is_later:
                continue
            chain.insert(0, failover)
            if self._was_in_sync_before(failover):
                break
        return chain

    def _was_in_sync_before(self, failover: Failover) -> bool:
        return self.cut.broker in (failover.leader_from, *(failover.isr_before or ()))

    @cached_property
    def unclean(self) -> Failover | None:
        """The first unclean election since, as far as it is more than possible."""
        unclean = (f for f in self.failovers_since if f.kind == FailoverKind.UNCLEAN_ELECTION)
        return next((f for f in unclean if f.confidence is not Confidence.POSSIBLE), None)

    @cached_property
    def failover(self) -> Failover | None:
        """The failover that the cut follows from: the first unclean election since, else the first failover."""
        return self.unclean or next(iter(self.failovers_since), None)

    @cached_property
    def new_leader_start(self) -> Event | None:
        """The line with which the leader that this failover elected became leader."""
        elected = self.failover
        return self.incarnation.leader_start(elected.leader_to, elected.epoch_to) if elected else None

    @cached_property
    def high_watermark(self) -> Mark | None:
        """The highest high watermark that lines or readings show before the first failover since."""
        if not self.failovers_since:
            return None
        first = self.failovers_since[0]

        def is_before(at: datetime, epoch: int | None) -> bool:
            return at < first.happened_at and (epoch is None or first.epoch_to is None or epoch < first.epoch_to)

        in_lines = high_watermarks(e for e in self.incarnation.events if is_before(e.happened_at, e.leader_epoch))
        in_readings = end_offsets(r for r in self.incarnation.readings if is_before(r.snapshot_at, r.leader_epoch))
        return highest([*in_lines, *in_readings])

    @property
    def offset(self) -> int | None:
        return self.high_watermark.offset if self.high_watermark else None

    @property
    def new_log_end(self) -> int | None:
        """How far the new leader's log reached."""
        start = self.new_leader_start
        return start.log_offset if start else self.cut.to

    @property
    def leader_started(self) -> Event | None:
        """The line with which the leader that the replica follows became leader."""
        epoch = self.cut.follows.leader_epoch if self.cut.follows else None
        starts = (e for e in self.incarnation.of_kind(Kind.LEADER_STARTED) if e.leader_epoch == epoch)
        return None if epoch is None else next(starts, None)


def is_of_the_metadata_log(case: TruncationCase) -> Proof | None:
    """The log is the metadata log, which a quorum of controllers replicates."""
    return proof_if(case.incarnation.key[1] == METADATA_TOPIC)


def cut_below_its_high_watermark(case: TruncationCase) -> Proof | None:
    """A line of the replica shows its high watermark, as it cut or as it began to follow, above the end of the cut."""
    cut = case.cut
    high = highest(high_watermarks((*cut.lines, *([cut.follows] if cut.follows else []))))
    if high is None or high.offset <= cut.to:
        return None
    facts = {"failover": case.failover, "high_watermark": high.offset}
    return Proof((high.quote,), {"offset": high.offset}, facts)


def no_failover_since(case: TruncationCase) -> Proof | None:
    """No failover is known since the replica was in sync."""
    return proof_if(not case.failovers_since)


def leader_is_logged(case: TruncationCase) -> Proof | None:
    """The leader's log shows that it became leader in the epoch that the replica follows."""
    return Proof((quote(case.leader_started),)) if case.leader_started else None


def unclean_election(case: TruncationCase) -> Proof | None:
    """An election since was unclean."""
    return failover_since(case) if case.unclean else None


def no_record_was_lost(case: TruncationCase) -> Proof | None:
    """The evidence of the unclean election, which is as sure as its own row says, shows that it lost no record."""
    unclean = case.unclean
    return Proof(confidence=unclean.confidence) if unclean and unclean.records_lost_high == 0 else None


def high_watermark_above_new_leader(case: TruncationCase) -> Proof | None:
    """Before the failover a line or a reading shows a high watermark above the new leader's log end."""
    return proof_if(case.offset is not None and case.new_log_end is not None and case.offset > case.new_log_end)


def known_to_be_committed(case: TruncationCase) -> Proof:
    """A high watermark above the new leader's log end is named, where one is known."""
    is_known = high_watermark_above_new_leader(case)
    return Proof(words={"what": f" up to offset {case.offset}" if is_known else ""})


def new_leader_is_logged(case: TruncationCase) -> Proof | None:
    """The new leader's log shows its log end as it became leader."""
    return Proof((quote(case.new_leader_start),)) if case.new_leader_start else None


def failover_since(case: TruncationCase) -> Proof | None:
    """The leader has changed since the replica was in sync."""
    if case.failover is None:
        return None
    quotes = (case.high_watermark.quote,) if case.high_watermark else ()
    return Proof(quotes, facts={"failover": case.failover, "high_watermark": case.offset})


def every_leader_was_in_sync(case: TruncationCase) -> Proof | None:
    """Since the replica was in sync, each leader followed the one before it, and was in sync or the last leader."""
    chain = case.failovers_since
    if not any(map(case._was_in_sync_before, chain[:1])):
        return None
    last_leader = chain[0].leader_from
    for before, failover, _ in with_neighbours(chain):
        if before is not None and failover.leader_from != before.leader_to:
            return None
        if failover.leader_to not in (NOBODY, last_leader, *(failover.isr_before or ())):
            return None
        last_leader = last_leader if failover.leader_to == NOBODY else failover.leader_to
    return Proof()


def likely_unless_every_failover_is_certain(case: TruncationCase) -> Proof:
    """Likely, unless each failover since is certain, no epoch is missing between two, and no high watermark objects."""
    chain = case.failovers_since
    is_gapless = all(before.epoch_to == after.epoch_from for before, after in pairwise(chain))
    is_certain = is_gapless and all(f.confidence == Confidence.CERTAIN for f in chain)
    if is_certain and not high_watermark_above_new_leader(case):
        return Proof(words={"every": "Every"})
    return Proof(words={"every": "As far as the evidence shows, every"}, confidence=Confidence.LIKELY)


_CUT_BY_EPOCHS = "KIP-101 and KIP-279: OffsetsForLeaderEpoch; UnifiedLog.truncateTo"
_UNCLEAN = "Partition leader election with unclean.leader.election.enable: the new leader may lack committed records"

TRUNCATION_RULINGS: tuple[Ruling[TruncationCase], ...] = (
    Likely(
        TruncationVerdict.NOTHING_COMMITTED_LOST,
        "A voter of the metadata quorum cuts only what no majority had.",
        proof=(is_of_the_metadata_log,),
        source="KIP-595: a voter truncates to the leader's log; committed is what a majority has",
        cases=("made: a voter of the metadata quorum", "truncation-4.1 billing.94-t-0 broker 3 15:37:57.232"),
    ),
    Certain(
        TruncationVerdict.COMMITTED_LOST,
        "Those records were committed (high watermark {offset}), so they are lost.",
        proof=(cut_below_its_high_watermark,),
        source="A replica's high watermark is never above what is committed, since KAFKA-14704; UnifiedLog.truncateTo."
        " One that follows its new leader's back (maybeUpdateHighWatermark) cuts nothing: KIP-101, KIP-207",
        cases=(
            "unclean-4.1 fraud-risky-19-0 broker 1 01:53:02.499",
            "truncation-3.0 __consumer_offsets-8 broker 1 22:25:03.164",
        ),
    ),
    Likely(
        TruncationVerdict.NOTHING_COMMITTED_LOST,
        "As far as the evidence shows, its leader did not change, and still has all records it ever had.",
        proof=(no_failover_since, leader_is_logged),
        source=_CUT_BY_EPOCHS,
        cases=("made: the leader did not change", "truncation-4.1 billing.94-t-0 broker 3 15:37:57.232"),
    ),
    Unknown(
        TruncationVerdict.UNKNOWN,
        "No line shows what the leader that it followed had: committed records may be lost.",
        proof=(no_failover_since,),
        source=_CUT_BY_EPOCHS,
        cases=("made: the log of the leader is missing", "made: the leader did not change"),
    ),
    Likely(
        TruncationVerdict.NOTHING_COMMITTED_LOST,
        "An election since was unclean, but the new leader had every record of the old one.",
        proof=(unclean_election, no_record_was_lost),
        source=_UNCLEAN,
        cases=("made: an unclean leader with every record", "unclean-2.8 ads-risky-18-0 broker 1 01:54:46.678"),
    ),
    Likely(
        TruncationVerdict.COMMITTED_LOST,
        "Broker {failover.leader_to} was elected from outside the ISR: committed records{what} were lost.",
        proof=(unclean_election, known_to_be_committed),
        source=_UNCLEAN,
        cases=(
            "unclean-2.8 ads-risky-18-0 broker 1 01:54:46.678",
            "unclean-4.1 fraud-risky-19-0 broker 1 01:53:02.499",
        ),
    ),
    Likely(
        TruncationVerdict.COMMITTED_LOST,
        "Records up to offset {offset} were committed, and the new leader's log ended at {new_log_end}: committed"
        " records were lost.",
        proof=(failover_since, high_watermark_above_new_leader, new_leader_is_logged),
        source=_CUT_BY_EPOCHS,
        cases=("made: a clean leader behind a known end offset", "truncation-4.1 billing.94-t-0 broker 3 15:37:57.232"),
    ),
    Unknown(
        TruncationVerdict.UNKNOWN,
        "No evidence shows that every leader since was in sync: committed records may be lost.",
        proof=(failover_since,),
        unless=(every_leader_was_in_sync,),
        source=_CUT_BY_EPOCHS,
        cases=("made: unclean-2.8 without the last ISR", "unclean-2.8 ads-risky-18-0 broker 1 01:54:46.678"),
    ),
    Certain(
        TruncationVerdict.NOTHING_COMMITTED_LOST,
        "{every} leader since came from the ISR and had all committed records: the records that were cut were not"
        " committed.",
        proof=(failover_since, likely_unless_every_failover_is_certain),
        source=_CUT_BY_EPOCHS,
        cases=(
            "truncation-4.1 billing.94-t-0 broker 3 15:37:57.232",
            "unclean-2.8 ads-risky-18-0 broker 1 01:54:46.678",
        ),
    ),
)
"""In order: the first that holds decides. The replica's own evidence comes first, then unclean elections."""


def rebuild_truncations(
    incarnations: Iterable[Incarnation], failovers: Iterable[Failover], window: Window
) -> list[Truncation]:
    """Rows of gold.truncations: one for each time that a replica cut its log, in order.

    No committed record is reported lost where every leader since came from the ISR.
    """
    failovers_of = by_partition(failovers)
    rows = []
    for incarnation in incarnations:
        # Leader epochs start again in each incarnation. The first may be older than its first line.
        since = incarnation.events[0].happened_at - CLOCK_SKEW if incarnation.number else None
        own_failovers = by_instant(failovers_of[incarnation.key]).within(since, None)
        cuts = (cut for cut in cuts_of(incarnation.events) if window.holds(cut.first.happened_at))
        rows += [_row(incarnation.key, TruncationCase(incarnation, cut, own_failovers)) for cut in cuts]
    return rows


def _row(key: Partition, case: TruncationCase) -> Truncation:
    cluster, topic, partition = key
    cut, verdict = case.cut, verdict_of(TRUNCATION_RULINGS, case)
    failover: Failover | None = verdict.facts.get("failover")
    follows, at = cut.follows, cut.first.happened_at
    leader = _leader(cut, failover)
    quotes = [quote(e) for e in ([follows] if follows else []) + [*cut.lines]]
    return Truncation(
        cluster=cluster,
        truncation_id=row_id(cluster, "truncation", topic, partition, cut.broker, at),
        topic=topic,
        partition=partition,
        broker=cut.broker,
        happened_at=at,
        leader=leader,
        leader_epoch=follows.leader_epoch if follows else None,
        is_whole=cut.is_whole,
        log_end_before=cut.log_end,
        truncated_to=cut.to,
        records_cut=cut.records,
        high_watermark=verdict.facts.get("high_watermark"),
        failover_id=failover.failover_id if failover else None,
        outage_id=failover.outage_id if failover else None,
        verdict=TruncationVerdict(verdict.code),
        confidence=verdict.confidence,
        explanation=f"{_describe(cut, leader)} {verdict.sentence}",
        evidence=evidence_of(quotes, verdict.evidence, failover.evidence[:2] if failover else ()),
    )


def _leader(cut: Cut, failover: Failover | None) -> int | None:
    """The leader that the replica followed."""
    if cut.follows is None or cut.follows.leader is not None:
        return cut.follows.leader if cut.follows else None
    return failover.leader_to if failover and failover.epoch_to == cut.follows.leader_epoch else None


def _describe(cut: Cut, leader: int | None) -> str:
    following = "" if leader is None else f" as it followed broker {leader}"
    if cut.is_whole:
        return f"Broker {cut.broker} dropped its whole log{following}, and fetches it again from offset {cut.to}."
    if cut.records is None:
        return f"Broker {cut.broker} cut its log back to offset {cut.to}{following}."
    records = counted(cut.records, "record")
    return f"Broker {cut.broker} cut {records} off its log, back to offset {cut.to}{following}."
