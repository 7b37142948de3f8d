"""Incidents that led to others: links that rows prove, and the stories that they make. Overlap proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from kafka_hindsight.catalog.codes import FailoverKind, IncidentKind, IsrChangeKind
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    ControllerChange,
    Failover,
    Incident,
    IsrChange,
    OffsetJump,
    Quote,
    Truncation,
)
from kafka_hindsight.measures.record_losses import can_lose
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

Place = tuple[str, int]
"""A partition: its topic and number."""

_NO_REPLICA_LEFT = (FailoverKind.OFFLINE, FailoverKind.UNCLEAN_ELECTION)
"""The changes of a leader after which no replica in sync is left."""


@dataclass(frozen=True)
class StoryRows:
    """The rows of a window that prove links. Each names its incident, but for changes of an ISR and of controllers."""

    incidents: Sequence[Incident]
    outages: Sequence[BrokerOutage] = ()
    failovers: Sequence[Failover] = ()
    isr_changes: Sequence[IsrChange] = ()
    controllers: Sequence[ControllerChange] = ()
    truncations: Sequence[Truncation] = ()
    jumps: Sequence[OffsetJump] = ()


class StoryLink(NamedTuple):
    """One incident that led to another. `so` is what followed, in a clause; `proof` are lines of both."""

    cause_id: str
    effect_id: str
    rule: str
    so: str
    proof: Sequence[Quote]


@dataclass(frozen=True)
class StoryRule:
    """A rule that joins two incidents. `proves`: the fact in rows that shows it; `source`: why it follows in Kafka."""

    code: str
    proves: str
    source: str
    links: Callable[[StoryRows], Iterator[StoryLink]]


def _replica_missing(rows: StoryRows) -> Iterator[StoryLink]:
    """A replica that an earlier absence had taken out of the ISR was not there to take over."""
    shrinks = grouped((c for c in rows.isr_changes if c.change == IsrChangeKind.SHRINK and c.outage_id), _place)
    outages = {o.outage_id: o for o in rows.outages}
    for failover in rows.failovers:
        if failover.kind not in _NO_REPLICA_LEFT or not failover.incident_id:
            continue
        for shrink in shrinks.get(_place(failover), ()):
            outage = outages.get(shrink.outage_id or "")
            is_missing = _is_out(shrink, failover.happened_at) and shrink.broker not in (failover.isr_before or ())
            if outage and outage.incident_id and is_missing and outage.incident_id != failover.incident_id:
                so = f"broker {shrink.broker} was not in sync to take over {failover.topic}-{failover.partition}"
                proof = [*shrink.evidence[:1], *failover.evidence[:1]]
                yield StoryLink(outage.incident_id, failover.incident_id, "replica_missing", so, proof)


def _is_out(shrink: IsrChange, at: datetime) -> bool:
    """Whether a broker that had left an ISR was still out at an instant."""
    until = shrink.out_of_sync_until or shrink.observed_until
    return shrink.happened_at < at and (until is None or at <= until)


def _no_majority(rows: StoryRows) -> Iterator[StoryLink]:
    """The controllers had no majority, by their own lines, while nodes that are controllers were away."""
    controllers = {node for c in rows.controllers for node in (c.controller_from, c.controller_to)}
    for incident in rows.incidents:
        if incident.kind != IncidentKind.QUORUM_LOST:
            continue
        since, until = incident.started_at, incident.ended_at
        losses = [
            c
            for c in rows.controllers
            if c.cause.is_majority_lost and since <= c.happened_at <= (until or c.happened_at)
        ]
        away = [o for o in rows.outages if o.incident_id and _is_away(o, since)]
        numbers = sorted({o.broker for o in away})
        own_controllers = [number for number in numbers if number in controllers]
        if losses and len(numbers) > 1 and own_controllers:
            noun = words.verb(len(own_controllers), "broker", "brokers")
            on = f"{noun} {words.listed([*map(str, own_controllers)])}"
            so = f"brokers {words.listed([*map(str, numbers)])} were away together, with the controllers on {on}"
            for outage in away:
                proof = [*outage.evidence[:1], *losses[0].evidence[:1]]
                yield StoryLink(str(outage.incident_id), incident.incident_id, "no_majority", so, proof)


def _is_away(outage: BrokerOutage, at: datetime) -> bool:
    return outage.down_at <= at and (outage.up_at is None or at <= outage.up_at)


def _log_cut(rows: StoryRows) -> Iterator[StoryLink]:
    """A group went on elsewhere as the log that it read had been cut, or had got a leader without its last records."""
    cuts: Iterable[tuple[Place, datetime, str | None, Sequence[Quote]]] = chain(
        ((_place(t), t.happened_at, t.incident_id, t.evidence) for t in rows.truncations),
        ((_place(f), f.happened_at, f.incident_id, f.evidence) for f in rows.failovers if can_lose(f)),
    )
    by_place = grouped(cuts, lambda cut: cut[0])
    for jump in rows.jumps:
        if not jump.cause.noun.is_cut or not jump.incident_id:
            continue
        for place, at, incident_id, evidence in by_place.get(_place(jump), ()):
            if incident_id and incident_id != jump.incident_id and at <= (jump.resumed_at or jump.jumped_at):
                so = f"the log of {place[0]}-{place[1]} ended below what group {jump.group_id} had read"
                proof = [*evidence[:1], *jump.evidence[:1]]
                yield StoryLink(incident_id, jump.incident_id, "log_cut", so, proof)


def _place(row: IsrChange | Failover | Truncation | OffsetJump) -> Place:
    return row.topic, row.partition


STORY_RULES: tuple[StoryRule, ...] = (
    StoryRule(
        "replica_missing",
        proves="gold.isr_changes: the absence took the broker out of the ISR of that very partition, and it was still"
        " out when the partition lost its leader (gold.failovers.isr_before)",
        source="PartitionChangeBuilder.electLeader: a clean election takes a replica of the ISR alone",
        links=_replica_missing,
    ),
    StoryRule(
        "no_majority",
        proves="gold.controller_changes: a line of the controllers says that they had no majority; gold.broker_outages:"
        " two brokers or more were away at that time, one of which is a controller too",
        source="KafkaRaftClient: a leader resigns that a majority of the voters does not fetch from",
        links=_no_majority,
    ),
    StoryRule(
        "log_cut",
        proves="gold.offset_jumps: the log of that very partition ended below what the group had read, and"
        " gold.truncations or gold.failovers have the cut before it",
        source="KIP-320; SubscriptionState.maybeCompleteValidation",
        links=_log_cut,
    ),
)
"""The rules, in the order of a story."""


def story_links(rows: StoryRows) -> list[StoryLink]:
    """The links between incidents of a window: one for each cause, effect and rule."""
    ids = {i.incident_id for i in rows.incidents}
    links = [link for rule in STORY_RULES for link in rule.links(rows)]
    first = {(link.cause_id, link.effect_id, link.rule): link for link in reversed(links)}
    return [link for link in reversed(first.values()) if {link.cause_id, link.effect_id} <= ids]


@dataclass(frozen=True)
class Story:
    """Incidents that led to one another, in order of time."""

    incidents: Sequence[Incident]
    links: Sequence[StoryLink]

    @property
    def roots(self) -> Sequence[Incident]:
        """The incidents that began it, in order of time."""
        effects = {link.effect_id for link in self.links}
        return [i for i in self.incidents if i.incident_id not in effects]

    def before(self, incident_id: str) -> Sequence[StoryLink]:
        """The links that led to one of its incidents, over as few others as lie between it and the first one."""
        effects = {incident_id}
        path: list[StoryLink] = []
        while links := [link for link in self.links if link.effect_id in effects and link not in path]:
            path = [*links, *path]
            effects = {link.cause_id for link in links}
            if effects.intersection(i.incident_id for i in self.roots):
                break
        return path


def stories_of(incidents: Sequence[Incident], links: Sequence[StoryLink]) -> list[Story]:
    """The stories of a window, the earliest first; an incident without a link is in none."""
    story_of: dict[str, int] = {}
    for number, link in enumerate(links):
        joined = {story_of.setdefault(i, number) for i in (link.cause_id, link.effect_id)}
        for i in [i for i, story in story_of.items() if story in joined]:
            story_of[i] = number
    by_story = grouped((i for i in incidents if i.incident_id in story_of), lambda i: story_of[i.incident_id])
    stories = [
        Story(
            sorted(rows, key=lambda i: (i.started_at, i.incident_id)),
            [link for link in links if story_of[link.effect_id] == number],
        )
        for number, rows in by_story.items()
    ]
    return sorted(stories, key=lambda s: (s.incidents[0].started_at, s.incidents[0].incident_id))
