"""Phrases about a row that several sections share."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import Intent, WitnessKind
from kafka_hindsight.catalog.rows import (
    Backlog,
    BrokerOutage,
    Contributor,
    ControllerChange,
    Coverage,
    Delay,
    Incident,
    Rebalance,
)
from kafka_hindsight.knowledge.layouts import folder_of
from kafka_hindsight.knowledge.outage_words import hedged_verb
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

WORTH_A_SENTENCE = 10
"""One line of so many must be unread before most of a broker's lines can be."""

FOLDERS_NAMED = 5
HEADLINE = 220
"""The most characters of a headline."""


def outage_words(outage: BrokerOutage) -> str:
    """An outage in words, as sure as its verdict: `broker 2 stopped responding`, `broker 3 probably crashed`."""
    return f"broker {outage.broker} {hedged_verb(outage)}"


def incident_headline(incident: Incident) -> str:
    """An incident in one line; rows of an earlier version have no headline."""
    return plain.shortened(incident.headline or incident.explanation.rstrip("."), HEADLINE)


def origin_of(incident: Incident) -> str:
    """The origin of an incident, as its headline says it behind the harm, without its length; empty: none."""
    origin = (incident.headline or "").partition(": ")[2]
    return plain.shortened(origin.partition(", away for ")[0], HEADLINE)


def declared_label(row: Incident) -> str:
    """The label of declared work, to stand after a headline; empty for anything else."""
    return " (declared)" if row.intent == Intent.DECLARED else ""


def member_name(member: Rebalance | Contributor | Delay) -> str:
    """The name by which people know a member: its client id, its instance id, else its member id."""
    client, instance = member.client_id, None if isinstance(member, Delay) else member.instance_id
    if client and instance and client != instance:
        return f"{plain.shortened(client)} (instance {plain.shortened(instance)})"
    return plain.shortened(client or instance or member.member_id or "")


def partition_name(topic: str, partition: int) -> str:
    """A partition as Kafka's tools write it, shortened."""
    return f"{plain.shortened(topic)}-{partition}"


def lost_records(low: int | None, high: int | None) -> str:
    """How many records were lost, as far as it is known; empty where nothing can be lost."""
    if low is None and high is None:
        return ""
    if high is None:
        return f"at least {words.counted(low or 0, 'record')}"
    most = words.counted(high, "record")
    if low == high:
        return most
    return f"{words.number(low)} to {most}" if low else f"up to {most}"


def change(before: object, after: object) -> str:
    """A value before and after: `3 → 4`, with `?` for what is not known."""
    return f"{'?' if before is None else before} → {'?' if after is None else after}"


def partition_seconds(row: Rebalance) -> str:
    """The cost of a rebalance within its bounds: `2 to 14 partition-seconds`; empty if it is not known."""
    low, high = row.partition_seconds_low, row.partition_seconds
    if high is None:
        return ""
    most = words.number(high)
    if low is None:
        return f"at most {most} partition-seconds"
    least = words.number(low)
    return f"{most} partition-seconds" if least == most else f"{least} to {most} partition-seconds"


def backlog_words(row: Backlog) -> str:
    """The backlog of a group, and when it was worked off; empty where no reading shows one."""
    if not row.backlog:
        return ""
    end = f"worked off by {words.instant(row.worked_off_at)}" if row.worked_off_at else "no reading shows it worked off"
    return f"at least {words.counted(row.backlog, 'record')} more than before waited, {end}"


def controller_anchor(row: ControllerChange) -> str:
    """The address of a change of the controller."""
    return plain.anchor("controller", f"epoch {row.epoch} {row.happened_at}")


def _mostly_unread(page: PageRows) -> list[tuple[str, int, int]]:
    """The folders of brokers in which more lines are unread than became events, with how many lines of how many."""
    brokers = [row for row in page.of(Coverage) if row.origin == "broker"]
    folders = []
    for folder, rows in grouped(brokers, lambda row: folder_of(row.source) or row.source).items():
        unread, lines = sum(r.unparsed + r.quarantined for r in rows), sum(r.lines_in for r in rows)
        if unread > sum(r.events for r in rows) and unread * WORTH_A_SENTENCE > lines:
            folders.append((folder, unread, lines))
    return sorted(folders, key=lambda u: (-u[1], u[0]))


def unread_warning(page: PageRows) -> str:
    """The warning that a verdict begins with where a broker's lines are mostly unread; else empty."""
    folders = _mostly_unread(page)
    if not folders:
        return ""
    names = words.listed([plain.shortened(folder) for folder, _, _ in folders[:FOLDERS_NAMED]])
    others = f" and {words.number(len(folders) - FOLDERS_NAMED)} others" if len(folders) > FOLDERS_NAMED else ""
    unread, lines = sum(unread for _, unread, _ in folders), sum(lines for _, _, lines in folders)
    return (
        f"Most of what matters in the logs of {names}{others} could not be read"
        f" ({words.counted(unread, 'line')} of {words.number(lines)}): what is not listed here may have happened."
    )


def empty_sentence(page: PageRows, observed: str, nothing: str, *kinds: WitnessKind) -> str:
    """The sentence of a section without rows: `observed` where the logs could show these kinds of event.

    Without `kinds` it has to be all of them. Elsewhere it begins with `nothing`, as in `No rebalance`; "in what could
    be read." follows.
    """
    is_known = page.unknown_kinds.isdisjoint(kinds or WitnessKind) and not _mostly_unread(page)
    return observed if is_known else f"{nothing} in what could be read."
