"""The night in one paragraph: what happened, what caused it, and whether all of it was seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.report import coverage, plain, vocabulary, words
from spark_jobs.report.page import Tile, Verdict
from spark_jobs.report.page_rows import Night, Row, outage_at, who
from spark_jobs.report.verdict_cluster import cluster_sentences

# Events and causes that a sentence can hold, and the part of all rebalances below which an event is not named.
EVENTS_NAMED = 4
CAUSES_NAMED = 4
WORTH_NAMING = 0.02


@dataclass(frozen=True)
class _Event:
    """What several rebalances are owed to, in words, and the outage behind it where there is one."""

    outage_id: str
    what: str


def verdict(night: Night) -> Verdict:
    """The verdict, with the numbers that a reader looks for first."""
    events, alone = _events(night)
    named = _named(events, len(night.rebalances))
    causes_first = _brokers_caused_it(night, events)
    groups = (
        _rebalances(night, events, named, alone),
        _accounting(night, events),
        _alone(night, alone),
        _certainty(night),
        _longest(night),
    )
    brokers = cluster_sentences(night, set() if causes_first else {event.outage_id for event in named})
    sight = (
        _findings(night),
        coverage.generations_sentence(night),
        coverage.leaders_sentence(night),
        coverage.unread_sentence(night),
    )
    paragraphs = (*((brokers, groups) if causes_first else (groups, brokers)), sight)
    said = (tuple(words.sentence(s) for s in paragraph if s) for paragraph in paragraphs)
    return Verdict(tuple(paragraph for paragraph in said if paragraph), refusal(night), _tiles(night))


def refusal(night: Night) -> tuple[str, ...]:
    """Why these tables were not published; empty where they were."""
    broken = coverage.broken_expectations(night, "critical")
    if not broken:
        return ()
    count = words.counted(len(broken), "critical expectation")
    return (
        f"This run was not published: {count} did not hold. "
        "What follows is what had been published before, if anything had.",
        *(f"{r['table']}: {r['expectation']}. {' '.join(r['sentences'] or ())}".strip() for r in broken[:6]),
    )


def _brokers_caused_it(night: Night, events: Counter[_Event]) -> bool:
    """Whether most rebalances are owed to outages: then the brokers' night is told before that of the groups."""
    return 2 * sum(count for event, count in events.items() if event.outage_id) > len(night.rebalances)


def _events(night: Night) -> tuple[Counter[_Event], list[Row]]:
    """Rebalances counted by the event behind them, and those that stand alone."""
    events: Counter[_Event] = Counter()
    alone = []
    for row in night.rebalances:
        incident = night.incidents.get(row["incident_id"] or "")
        outage = night.outages.get(incident.get("outage_id") or "") if incident else None
        if outage:
            events[_Event(outage["outage_id"], outage_at(night, outage))] += 1
        elif incident and incident["kind"] not in ("single", "cooperative_pair"):
            events[_Event("", _event(night, incident))] += 1
        else:
            alone.append(row)
    return events, alone


def _event(night: Night, incident: Row) -> str:
    at = words.minute(incident["started_at"], night.day)
    groups = incident["group_ids"]
    whom = f"group {plain.shortened(groups[0], 48)}" if len(groups) == 1 else words.counted(len(groups), "group")
    match incident["kind"]:
        case "broker_outage":
            return f"a broker outage at {at}"
        case "host_silent":
            return f"a host that fell silent at {at}"
        case "coordinator_move":
            return f"a move of coordinators at {at}"
        case "rolling_restart":
            return f"a {'planned ' if incident['planned'] else ''}rolling restart of {whom} at {at}"
    cause = vocabulary.HEDGES[incident["confidence"]] + vocabulary.CAUSE_LABELS[incident["cause"]]
    return f"a storm in {whom} from {at} on ({cause})"


def _named(events: Counter[_Event], total: int) -> list[_Event]:
    worth = [e for e, count in events.items() if e.outage_id or count >= WORTH_NAMING * total]
    return sorted(worth, key=lambda e: (-events[e], e.what))[:EVENTS_NAMED]


def _rebalances(night: Night, events: Counter[_Event], named: Sequence[_Event], alone: Sequence[Row]) -> str:
    """How many rebalances, and to what they are owed."""
    total = len(night.rebalances)
    if not total:
        return "No consumer group rebalanced." if coverage.totals(night)["lines_in"] else ""
    groups = len({row["group_id"] for row in night.rebalances})
    counted = f"{words.counted(total, 'rebalance')} in {words.counted(groups, 'group')}"
    if not events:
        return f"{counted}, each with an origin of its own." if total > 1 else f"{counted}."
    clauses = [f"{words.number(events[e])} to {f'an outage ({e.what})' if e.outage_id else e.what}" for e in named]
    most = named and events[named[0]] > total / 2
    if most:
        clauses[0] = f"{words.number(events[named[0]])} of them owed to one event: {named[0].what}"
    elif named:
        clauses[0] = clauses[0].replace(" to ", " owed to ", 1)
    lesser = len(events) - len(named)
    if lesser:
        owed = sum(events.values()) - sum(events[e] for e in named)
        clauses.append(f"{words.number(owed)} to {words.counted(lesser, 'lesser event')}")
    if alone:
        clauses.append(f"the other {words.number(len(alone))} {words.verb(len(alone), 'stands', 'stand')} alone")
    return f"{counted}{',' if most else ':'} {'; '.join(clauses)}."


def _accounting(night: Night, events: Counter[_Event]) -> str:
    """What the broker accounts for whose several outages cost most: each outage alone tells less than they do."""
    owed: Counter[int] = Counter()
    outages: Counter[int] = Counter()
    for event, count in events.items():
        if event.outage_id:
            broker = night.outages[event.outage_id]["broker"]
            owed[broker] += count
            outages[broker] += 1
    repeated = [broker for broker, times in outages.items() if times > 1]
    if not repeated:
        return ""
    broker = min(repeated, key=lambda b: (-owed[b], b))
    total = words.number(len(night.rebalances))
    return f"In {outages[broker]} outages, broker {broker} accounts for {words.number(owed[broker])} of the {total}."


def _alone(night: Night, rows: Sequence[Row]) -> str:
    """Why those began that stand alone."""
    if not rows:
        return ""
    counts = sorted(
        Counter(vocabulary.CAUSE_LABELS[row["cause"]] for row in rows).items(), key=lambda item: (-item[1], item[0])
    )
    said = [f"{label} {words.times(count)}" for label, count in counts[:CAUSES_NAMED]]
    rest = len(counts) - CAUSES_NAMED
    why = words.listed([*said, words.counted(rest, "further cause")] if rest > 0 else said)
    return f"{'Of those that stand alone: ' if len(rows) < len(night.rebalances) else ''}{why}."


def _certainty(night: Night) -> str:
    counts = Counter(row["confidence"] for row in night.rebalances)
    total = counts.total()
    if not total:
        return ""
    if counts["certain"] == total:
        return f"{'Its' if total == 1 else 'Every'} cause is certain."
    if counts["unknown"] == total:
        return "The evidence does not tell any cause."
    said = [f"{word} for {words.number(counts[word])}" for word in ("certain", "likely", "possible") if counts[word]]
    untold = f"; for {words.number(counts['unknown'])} the evidence does not tell it" if counts["unknown"] else ""
    return f"The cause is {words.listed(said)}{untold}."


def _longest(night: Night) -> str:
    timed = [row for row in night.rebalances if row["duration_ms"] is not None]
    if not timed:
        return ""
    row = max(timed, key=lambda r: r["duration_ms"])
    waited = [d for d in row["delayed_by"] if who(d)]
    blame = f", which waited for {words.listed([who(d) for d in waited], at_most=2)}" if waited else ""
    group = plain.shortened(row["group_id"], 48)
    return f"The longest took {words.duration(row['duration_ms'])}, in group {group}{blame}."


def _findings(night: Night) -> str:
    counts = Counter(row["severity"] for row in night.rows("gold.findings"))
    said = [
        words.counted(counts[severity], noun)
        for severity, noun in (("critical", "critical finding"), ("warning", "warning"))
        if counts[severity]
    ]
    return f"{words.listed(said)}." if said else ""


def _tiles(night: Night) -> tuple[Tile, ...]:
    total = coverage.totals(night)
    lost = total["unparsed"] + total["quarantined"]
    unplanned = sum(not row["planned"] for row in night.rows("gold.incidents"))
    outages = night.rows("gold.broker_outages")
    critical = sum(row["severity"] == "critical" for row in night.rows("gold.findings"))
    unclean = any(row["kind"] in ("unclean_election", "offline") for row in night.rows("gold.failovers"))
    return (
        Tile(
            words.number(len(night.rebalances)),
            words.verb(len(night.rebalances), "rebalance", "rebalances"),
            "plain",
            "rebalances",
        ),
        Tile(
            words.number(unplanned),
            words.verb(unplanned, "unplanned incident", "unplanned incidents"),
            "warn" if unplanned else "good",
            "incidents",
        ),
        Tile(
            words.number(len(outages)),
            words.verb(len(outages), "broker outage", "broker outages"),
            "bad" if any(not o["planned"] for o in outages) else "plain",
            "outages",
        ),
        Tile(
            words.number(len(night.rows("gold.failovers"))),
            words.verb(len(night.rows("gold.failovers")), "leader change", "leader changes"),
            "bad" if unclean else "plain",
            "failovers",
        ),
        Tile(
            words.number(critical),
            words.verb(critical, "critical finding", "critical findings"),
            "bad" if critical else "good",
            "findings",
        ),
        Tile(
            words.number(lost),
            words.verb(lost, "line not read", "lines not read"),
            "warn" if lost else "good",
            "unread",
        ),
    )
