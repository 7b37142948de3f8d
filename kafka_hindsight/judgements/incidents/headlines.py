"""An incident in one line: what happened, to what, for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kafka_hindsight.catalog.codes import NOBODY, Confidence, FailoverKind, Harm, IncidentKind, OutOfSyncKind
from kafka_hindsight.catalog.rows import BrokerOutage, Incident, OutOfSyncPeriod
from kafka_hindsight.judgements.incidents.happenings import Happening, Impact, Place, uncontrolled_since
from kafka_hindsight.knowledge.harms import OUTAGE_VERBS
from kafka_hindsight.shared import words
from kafka_hindsight.shared.absences import away, starts_exactly
from kafka_hindsight.shared.unavailability import Unused, lasted

_NAMED = 3
_HEDGES = {Confidence.LIKELY: "probably ", Confidence.POSSIBLE: "possibly "}
_OUT_OF_SYNC = {
    OutOfSyncKind.SLOW: "it was alive and fetched too late",
    OutOfSyncKind.DISK: "a log directory failed",
    OutOfSyncKind.UNKNOWN: "no line shows why",
}


def headline_of(impact: Impact) -> str:
    """What happened, to what and for how long: one sentence without its full stop."""
    origin = _ORIGINS.get(impact.of.kind, _groups)(impact.of)
    effect = _EFFECTS[impact.harm](impact) if impact.harm in _EFFECTS else ""
    if impact.harm == Harm.RECORDS_LOST and impact.offline.still:
        effect = f"{effect}, and {_offline(impact)}"
    if impact.harm == Harm.CONSUMERS_STOPPED and impact.idle.still:
        origin = f"{origin}, and none consumed at the end"
    return f"{words.sentence(effect)}: {origin}" if effect else words.sentence(origin)


def partitions_of(places: Sequence[Place]) -> str:
    """Partitions in words, none of them cut off: by name where they are few, else by their number and their topics."""
    topics = list(dict.fromkeys(topic for topic, _ in places))
    if len(places) == 1:
        return f"{places[0][0]}-{places[0][1]}"
    count = words.counted(len(places), "partition")
    return f"{count} of {words.counted(len(topics), 'topic')}" if len(topics) > 1 else f"{count} of {topics[0]}"


def _lost(impact: Impact) -> str:
    low, high = impact.lost or (0, None)
    chosen = (f for f in impact.of.failovers if f.kind == FailoverKind.UNCLEAN_ELECTION)
    at = [f.happened_at for f in chosen if (f.topic, f.partition) in impact.losses]
    election = f" (unclean election at {min(at):%H:%M:%S})" if at and impact.of.outages else ""
    where = f"{partitions_of(list(impact.losses))}{election}"
    if not low:
        most = f"up to {words.counted(high, 'committed record')}" if high else "committed records"
        return f"{most} may have been lost in {where}"
    least = "at least " if high is None else "" if low == high else f"{words.number(low)} to "
    return f"{least}{words.counted(low if high is None else high, 'committed record')} were lost in {where}"


def _offline(impact: Impact) -> str:
    return _unused(impact.offline, "had no leader")


def _unused(unused: Unused, what: str) -> str:
    """Partitions, what they suffered, and how long the longest of them could not be used."""
    is_one = len(unused.subjects) == 1
    length = ""
    if unused.still:
        few = f" for {len(unused.still)} of them" if len(unused.still) < len(unused.subjects) else ""
        length = f", not over{few} when the logs end"
    elif unused.longest:
        length = f"{'' if is_one else ', the longest'} for {lasted(unused.longest)}"
    return f"{'partition ' if is_one else ''}{partitions_of(unused.subjects)} {what}{length}"


_EFFECTS: Mapping[Harm, Callable[[Impact], str]] = {
    Harm.RECORDS_LOST: _lost,
    Harm.PARTITIONS_OFFLINE: _offline,
    Harm.WRITES_REFUSED: lambda impact: _unused(impact.refusing, "took no writes with acks=all"),
}


def fate(outage: BrokerOutage) -> str:
    """What became of a broker, after its name. Where only its last sign of life is known, for how long is bounded."""
    verb = f"{_HEDGES.get(outage.confidence, '')}{OUTAGE_VERBS[outage.kind]}"
    at = f"{'at' if starts_exactly(outage) else 'about'} {outage.down_at:%H:%M:%S}"
    gone = away(outage)
    return f"{verb} {at}{f', away for {gone}' if gone else ' and had not come back by the end'}"


def _away(happening: Happening) -> str:
    rows = happening.outages
    if len(rows) == 1:
        return f"broker {rows[0].broker} {fate(rows[0])}"
    names = sorted({o.broker for o in rows})
    brokers = words.listed([str(b) for b in names], 8)
    if happening.kind == IncidentKind.CLUSTER_RESTART:
        return f"brokers {brokers} were restarted one after another from {rows[0].down_at:%H:%M:%S} on"
    is_back = [o.up_at is not None for o in rows]
    absent = "" if all(is_back) else f", and {'not all' if any(is_back) else 'none'} came back"
    return f"brokers {brokers} were shut down at {rows[0].down_at:%H:%M:%S}{absent}"


def _out_of_sync(happening: Happening) -> str:
    period: OutOfSyncPeriod = happening.periods[0]
    gone = words.elapsed_ms(period.started_at, period.ended_at)
    lasted = "and was not over by the end" if gone is None else f"for {words.duration(gone)}"
    count = words.counted(period.partitions, "partition")
    why = _OUT_OF_SYNC.get(period.kind, "no line shows why")
    return f"broker {period.broker} was out of sync in {count} {lasted}: {why}"


def _leaders_lost(happening: Happening) -> str:
    brokers = sorted({f.leader_from for f in happening.failovers if f.leader_from is not None} - {NOBODY})
    led = _named("broker", brokers) if brokers else "the former leader"
    clauses = {
        FailoverKind.LOG_DIR_FAILED: f"a log directory of {led} failed",
        FailoverKind.OFFLINE: f"no replica could take over from {led}",
        FailoverKind.UNCLEAN_ELECTION: "a replica out of sync became the leader",
    }
    kinds = {f.kind for f in happening.failovers}
    events = [clause for kind, clause in clauses.items() if kind in kinds]
    return words.listed(events) if events else f"the leader moved from {led}, and no line shows why"


def _behind(happening: Happening) -> str:
    places = [(v.topic, v.partition) for v in happening.lag]
    most = max((v.lag_max or 0 for v in happening.lag), default=0)
    grown = f", at worst by {words.counted(most, 'record')}" if most else ""
    return f"group {happening.lag[0].group_id} fell behind in {partitions_of(places)}{grown}"


def _without_controller(happening: Happening) -> str:
    first, last = happening.controllers[0], happening.controllers[-1]
    is_open = last.controller_to == NOBODY
    least, most = last.uncontrolled_low_ms, last.uncontrolled_high_ms
    lasted = f" for {words.duration(most)} at most" if most and not is_open else ""
    if least:
        lasted = f" for {words.duration(least)}{' at least' if is_open else ''}"
    if first is not last:
        took = words.duration(last.happened_at - uncontrolled_since(first))
        lasted = f" {words.times(len(happening.controllers))} within {took}"
    if is_open:
        lasted += ", and no line shows a controller afterwards"
    return f"the controllers had no majority{lasted}: no leader could be elected, and no topic changed"


def _named(noun: str, ids: Iterable[int]) -> str:
    names = [str(i) for i in ids]
    return f"{words.verb(len(names), noun, f'{noun}s')} {words.listed(names, 8)}"


_GROUP_VERBS = {
    IncidentKind.ROLLING_RESTART: "restarted its members one after another, in {}",
    IncidentKind.HOST_SILENT: "lost all members on one host, in {}",
}
"""What groups went through, and in how many rebalances."""
_GROUP_NOTES = {IncidentKind.STORM: ", in a storm", IncidentKind.BROKER_OUTAGE: ", because a broker was away"}


def _groups(happening: Happening) -> str:
    incident: Incident = happening.of_groups[0]
    groups = [f"group {g}" for g in incident.group_ids]
    who = groups[0] if len(groups) == 1 else words.counted(len(groups), "group")
    count, gone = incident.rebalance_count, words.elapsed_ms(incident.started_at, incident.ended_at)
    often = f"rebalanced{f' {words.times(count)}' if count > 1 else ''}"
    verb = _GROUP_VERBS.get(incident.kind, often).format(words.counted(count, "rebalance"))
    lasted = f" {'within' if count > 1 else 'for'} {words.duration(gone)}" if gone else ""
    cause = None if incident.kind == IncidentKind.ROLLING_RESTART else incident.cause
    why = "" if cause is None else f": {cause.label}"
    return f"{who} {verb}{lasted}{_GROUP_NOTES.get(incident.kind, '')}{why}"


_ORIGINS: Mapping[IncidentKind, Callable[[Happening], str]] = {
    IncidentKind.CLUSTER_RESTART: _away,
    IncidentKind.REPLICAS_OUT: _out_of_sync,
    IncidentKind.LEADERS_LOST: _leaders_lost,
    IncidentKind.LOG_CUT: lambda h: f"{_named('broker', sorted({t.broker for t in h.truncations}))} cut its log",
    IncidentKind.LAG: _behind,
    IncidentKind.QUORUM_LOST: _without_controller,
    IncidentKind.WRITES_STOPPED: lambda _: "no line shows which broker was missing",
    IncidentKind.BROKER_OUTAGE: lambda h: _away(h) if h.outages else _groups(h),
}
