"""Replicas that cut their logs: what went, and whether anything committed went with it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from spark_jobs.transforms.cluster import CLOCKS
from spark_jobs.transforms.controllers import Term
from spark_jobs.transforms.evidence import evidence_of, quote, quote_snapshot, row_id
from spark_jobs.transforms.leaderships import NOBODY
from spark_jobs.transforms.partitions import Partition, by_partition, lives_of
from spark_jobs.transforms.replicas.losses import LOSS_KINDS
from spark_jobs.transforms.windows import OutRow, Row, Window, counted

METADATA_TOPIC = "__cluster_metadata"

_ONE_CUT = timedelta(seconds=10)
"""A cut may take several steps, and more than one line tells of it."""
_AT_FOLLOWING = timedelta(minutes=1)
"""A follower cuts before it fetches, so its log is as long as when it began to follow."""
_RESET = re.compile(r"from (\d+) to (?:the )?current leader's (latest|start) offset")


@dataclass(frozen=True)
class Cut:
    """One cut of one replica's log, by all lines that tell of it."""

    lines: Sequence[Row]
    follows: Row | None
    log_end: int | None

    @property
    def first(self) -> Row:
        """The line that tells of it first."""
        return self.lines[0]

    @property
    def to(self) -> int:
        """Where the log ends after it, or begins anew."""
        return int(self.lines[-1]["log_offset"] if self.is_whole else min(e["log_offset"] for e in self.lines))

    @property
    def is_whole(self) -> bool:
        """Whether the whole log was dropped."""
        return _reset(self.lines[-1])[1] == "start"


@dataclass(frozen=True)
class Judged:
    """Whether anything committed was lost, how sure that is, why, and by which change of leader."""

    verdict: str
    confidence: str
    says: str
    failover: Row | None = None
    high_watermark: int | None = None
    quotes: tuple[dict[str, Any], ...] = ()


def rebuild_truncations(
    events: Iterable[Row], readings: Iterable[Row], failovers: Iterable[Row], terms: Sequence[Term], window: Window
) -> list[OutRow]:
    """Rows of gold.truncations: one for each time that a replica cut its log.

    Takes: silver.events of at least LOSS_KINDS and topic_deleted, of whole topics, with look-back; rows of
    bronze.partition_snapshots and gold.failovers of the same topics.
    Order: by topic, partition and time.
    Keeps: nothing committed is said to be lost where every leader since came from the ISR.
    """
    lives = lives_of(events, LOSS_KINDS, terms)
    cutting = {key for key, some in lives.items() if any(e["kind"] == "log_truncated" for life in some for e in life)}
    if not cutting:
        return []
    read, changed = by_partition(readings), by_partition(failovers)
    return [
        _row(key, cut, _judge(key, cut, life, _since(begun, read[key]), _since(begun, changed[key])))
        for key in sorted(cutting)
        for life, begun in _begun(lives[key])
        for cut in _cuts_of(life)
        if window.holds(cut.first["happened_at"])
    ]


def _begun(lives: Sequence[Sequence[Row]]) -> list[tuple[Sequence[Row], datetime | None]]:
    """Each life of a partition, and when it began; None for the first one, which may be older than its first line."""
    return [(life, life[0]["happened_at"] - CLOCKS if i else None) for i, life in enumerate(lives)]


def _since(begun: datetime | None, rows: Sequence[Row]) -> Sequence[Row]:
    """The readings, or changes of leader, of one life: epochs begin anew in each."""
    return rows if begun is None else [r for r in rows if (r.get("snapshot_at") or r["happened_at"]) >= begun]


def _cuts_of(life: Sequence[Row]) -> list[Cut]:
    """The cuts of all replicas in order of time, each once."""
    told: dict[int, list[list[Row]]] = defaultdict(list)
    follows: dict[int, Row | None] = defaultdict(lambda: None)
    begun: dict[int, list[Row | None]] = defaultdict(list)
    for event in life:
        broker = event["broker"]
        if event["kind"] == "follower_started":
            follows[broker] = event
        elif event["kind"] == "leader_started":
            follows[broker] = None
        elif broker is not None and _is_cut(event):
            last = told[broker][-1] if told[broker] else None
            is_same = last and event["happened_at"] - last[-1]["happened_at"] <= _ONE_CUT
            if last is not None and is_same and begun[broker][-1] is follows[broker]:
                last.append(event)
            else:
                told[broker].append([event])
                begun[broker].append(follows[broker])
    cuts = [
        Cut(lines, followed, _log_end(lines, followed, life))
        for broker in told
        for lines, followed in zip(told[broker], begun[broker], strict=True)
    ]
    return sorted(cuts, key=lambda c: (c.first["happened_at"], c.first["broker"]))


def _is_cut(event: Row) -> bool:
    """Whether a line tells of a cut.

    Odd: older Kafkas tell in the same words that a fetch begins at this log's own end, and nothing is dropped.
    Source: AbstractFetcherThread.fetchOffsetAndTruncate.
    """
    end, where = _reset(event)
    is_kept = where == "start" and end is not None and event["log_offset"] <= end
    return event["kind"] == "log_truncated" and event["log_offset"] is not None and not is_kept


def _reset(event: Row) -> tuple[int | None, str | None]:
    """Where the log ended, and which of the leader's offsets it is reset to."""
    found = _RESET.search(event["detail"] or "")
    return (int(found[1]), found[2]) if found else (None, None)


def _log_end(lines: Sequence[Row], follows: Row | None, life: Sequence[Row]) -> int | None:
    """Where the log ended before the cut: the line itself tells, or the replica did as it began to follow."""
    said = next((end for end, _ in map(_reset, lines) if end is not None), None)
    if said is not None:
        return said
    at, broker = lines[0]["happened_at"], lines[0]["broker"]
    loaded = [e for e in life if e["kind"] == "log_end_loaded" and e["broker"] == broker and e["happened_at"] <= at]
    told = follows or (loaded[-1] if loaded else None)
    if told is None or told["log_offset"] is None or at - told["happened_at"] > _AT_FOLLOWING:
        return None
    end = int(told["log_offset"])
    return end if end >= min(e["log_offset"] for e in lines) else None


def _judge(key: Partition, cut: Cut, life: Sequence[Row], readings: Sequence[Row], failovers: Sequence[Row]) -> Judged:
    """Whether committed records were lost with what was cut.

    Source: KIP-101 and KIP-279: a follower cuts where its log parts from the leader's, by leader epochs. A record is
    committed once all of the ISR have it, so a leader out of the ISR has all that is committed, and what a follower
    has beyond it never was. An unclean leader may lack it. A replica's own high watermark is never above what is
    committed, so a cut below it loses.
    """
    if key[1] == METADATA_TOPIC:
        return Judged(
            "nothing_committed_lost", "likely", "A voter of the metadata quorum cuts only what no majority had."
        )
    chain, is_told = _chain(cut, failovers)
    own = _told_high(cut)
    if own is not None:
        says = f"It had known up to offset {own['high_watermark']} to be committed: committed records were lost."
        by = _culprit(chain) or next(iter(chain), None)
        return Judged("committed_lost", "certain", says, by, own["high_watermark"], (quote(own),))
    if not chain:
        return _without_change(cut, life)
    unclean = _culprit(chain)
    high = _high_before(chain[0], life, readings)
    start = _start_of(unclean or chain[0], life)
    floor = start["log_offset"] if start else cut.to
    told = (high[1],) if high else ()
    is_below = high is not None and high[0] > floor
    offset = high[0] if high else None
    if unclean and unclean["records_lost_high"] == 0:
        says = "The election since was unclean, but the leader had every record that the old one had."
        return Judged("nothing_committed_lost", unclean["confidence"], says, unclean, offset, told)
    if unclean:
        proven = f": offset {offset} had been committed" if is_below else ""
        says = f"Broker {unclean['leader_to']} was elected from outside the ISR{proven}; the records are lost."
        sure = "certain" if is_below and unclean["confidence"] == "certain" else "likely"
        return Judged("committed_lost", sure, says, unclean, offset, told)
    if is_below and start:
        says = f"Offset {offset} had been committed, and its leader began at {floor}: committed records were lost."
        return Judged("committed_lost", "likely", says, chain[0], offset, (*told, quote(start)))
    return _of_clean(chain, is_told, is_below, offset, told)


def _of_clean(
    chain: Sequence[Row], is_told: bool, is_below: bool, high_watermark: int | None, quotes: tuple[dict[str, Any], ...]
) -> Judged:
    by = chain[0]
    if not is_told:
        says = "Whether every leader since was in sync is not told: committed records may be lost."
        return Judged("unknown", "unknown", says, by, high_watermark, quotes)
    is_sure = not is_below and all(f["confidence"] == "certain" for f in chain) and _is_without_gap(chain)
    says = "Every leader since came from the ISR and had all that was committed: what was cut never was."
    return Judged("nothing_committed_lost", "certain" if is_sure else "likely", says, by, high_watermark, quotes)


def _is_without_gap(chain: Sequence[Row]) -> bool:
    """Whether no epoch lies between two changes in which somebody else may have led."""
    return all(before["epoch_to"] == after["epoch_from"] for before, after in pairwise(chain))


def _without_change(cut: Cut, life: Sequence[Row]) -> Judged:
    """No change of leader is known since the replica was in sync."""
    follows = cut.follows
    if follows is None or follows["leader_epoch"] is None:
        return Judged("unknown", "unknown", "Which leader it followed is not told: committed records may be lost.")
    known = [e for e in life if e["kind"] == "leader_started" and e["leader_epoch"] == follows["leader_epoch"]]
    if not known:
        return Judged("unknown", "unknown", "Its leader's log is not at hand: committed records may be lost.")
    says = "Its leader did not change, as far as is told, and still has all that it ever had."
    return Judged("nothing_committed_lost", "likely", says, quotes=(quote(known[0]),))


def _chain(cut: Cut, failovers: Sequence[Row]) -> tuple[list[Row], bool]:
    """The changes of leader since the replica was in sync, and whether all of them are known to be clean."""
    at, broker = cut.first["happened_at"], cut.first["broker"]
    epoch = cut.follows["leader_epoch"] if cut.follows else None
    past = [
        f
        for f in failovers
        if (f["happened_at"] <= at + CLOCKS if epoch is None else f["epoch_to"] <= epoch)
        and f["happened_at"] <= at + CLOCKS
    ]
    chain: list[Row] = []
    for f in sorted(past, key=lambda f: f["happened_at"], reverse=True):
        chain.insert(0, f)
        if f["leader_from"] == broker or broker in (f["isr_before"] or ()):
            return chain, _is_from_isr(chain)
    return chain, False


def _is_from_isr(chain: Sequence[Row]) -> bool:
    """Whether each leader follows the one before it, and was in sync with it or is the last one that led."""
    last_leader = chain[0]["leader_from"]
    for i, f in enumerate(chain):
        if i and f["leader_from"] != chain[i - 1]["leader_to"]:
            return False
        if f["leader_to"] not in (NOBODY, last_leader, *(f["isr_before"] or ())):
            return False
        last_leader = last_leader if f["leader_to"] == NOBODY else f["leader_to"]
    return True


def _culprit(chain: Sequence[Row]) -> Row | None:
    return next((f for f in chain if f["kind"] == "unclean_election"), None)


def _told_high(cut: Cut) -> Row | None:
    """The replica's own line of a high watermark above the cut: as it cut, or as it began to follow."""
    own = [*cut.lines, cut.follows] if cut.follows else cut.lines
    told = [e for e in own if e["high_watermark"] is not None and e["high_watermark"] > cut.to]
    return max(told, key=lambda e: e["high_watermark"], default=None)


def _high_before(first: Row, life: Sequence[Row], readings: Sequence[Row]) -> tuple[int, dict[str, Any]] | None:
    """The highest high watermark that was told before a change of leader."""

    def is_before(at: datetime, epoch: int | None) -> bool:
        return bool(at < first["happened_at"] and (epoch is None or epoch < first["epoch_to"]))

    told = [
        (e["high_watermark"], quote(e))
        for e in life
        if e["high_watermark"] is not None and is_before(e["happened_at"], e["leader_epoch"])
    ]
    for r in readings:
        if r["end_offset"] is not None and is_before(r["snapshot_at"], r["leader_epoch"]):
            says = f"{r['topic']}-{r['partition']} ends at offset {r['end_offset']}"
            told.append((r["end_offset"], quote_snapshot(r["snapshot_id"], r["snapshot_at"], says)))
    return max(told, key=lambda t: t[0], default=None)


def _start_of(failover: Row, life: Sequence[Row]) -> Row | None:
    return next(
        (
            e
            for e in life
            if e["kind"] == "leader_started"
            and e["broker"] == failover["leader_to"]
            and e["leader_epoch"] == failover["epoch_to"]
            and e["log_offset"] is not None
        ),
        None,
    )


def _row(key: Partition, cut: Cut, judged: Judged) -> OutRow:
    cluster, topic, partition = key
    first, follows, failover = cut.first, cut.follows, judged.failover
    records = None if cut.is_whole or cut.log_end is None else cut.log_end - cut.to
    if records == 0:
        # Told twice: the log had been cut by then.
        records = None
    leader = follows["leader"] if follows else None
    if leader is None and failover and follows and failover["epoch_to"] == follows["leader_epoch"]:
        leader = failover["leader_to"]
    return {
        "cluster": cluster,
        "truncation_id": row_id(cluster, "truncation", topic, partition, first["broker"], first["happened_at"]),
        "topic": topic,
        "partition": partition,
        "broker": first["broker"],
        "happened_at": first["happened_at"],
        "leader": leader,
        "leader_epoch": follows["leader_epoch"] if follows else None,
        "is_whole": cut.is_whole,
        "log_end_before": cut.log_end,
        "truncated_to": cut.to,
        "records_cut": records,
        "high_watermark": judged.high_watermark,
        "failover_id": failover["failover_id"] if failover else None,
        "outage_id": failover["outage_id"] if failover else None,
        "verdict": judged.verdict,
        "confidence": judged.confidence,
        "explanation": f"{_what(cut, records, leader)} {judged.says}",
        "evidence": evidence_of(
            [
                *([quote(follows)] if follows else []),
                *map(quote, cut.lines),
                *judged.quotes,
                *(failover["evidence"][:2] if failover else ()),
            ]
        ),
    }


def _what(cut: Cut, records: int | None, leader: int | None) -> str:
    who = f"Broker {cut.first['broker']}"
    following = "" if leader is None else f" as it followed broker {leader}"
    if cut.is_whole:
        return f"{who} dropped its whole log{following}, and fetches it anew from offset {cut.to}."
    if records is None:
        return f"{who} cut its log back to offset {cut.to}{following}."
    return f"{who} cut {counted(records, 'record')} off its log, back to offset {cut.to}{following}."
