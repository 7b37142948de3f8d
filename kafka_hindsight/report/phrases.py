"""Phrases that several sections say of a row."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import Confidence, Intent, Origin
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Contributor,
    ControllerChange,
    Coverage,
    Delay,
    Incident,
    Rebalance,
)
from kafka_hindsight.knowledge.harms import outage_verb
from kafka_hindsight.knowledge.layouts import folder_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

_HEDGES = {Confidence.LIKELY: "probably ", Confidence.POSSIBLE: "possibly "}
"""How a claim begins that is not certain. One whose reason is unknown claims nothing to hedge."""

WORTH_A_SENTENCE = 10
"""One line of so many must be unread before most of a broker's lines can be."""

NAMED = 5


def outage_words(outage: BrokerOutage) -> str:
    """What became of a broker, as sure as that is: `broker 2 was cut off`, `broker 3 probably crashed`."""
    return f"broker {outage.broker} {_HEDGES.get(outage.confidence, '')}{outage_verb(outage)}"


def incident_headline(incident: Incident) -> str:
    """An incident in one line. Edge case: rows of an earlier version have no headline."""
    return plain.shortened(incident.headline or incident.explanation.rstrip("."), 220)


def declared(row: Incident) -> str:
    """The label of what was declared, after its headline; empty for anything else."""
    return " (declared)" if row.intent == Intent.DECLARED else ""


def who(member: Rebalance | Contributor | Delay) -> str:
    """A member as a person knows it: its client id, its instance id, else its member id."""
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
    if low == high:
        return words.counted(high, "record")
    return (
        f"{words.number(low)} to {words.counted(high, 'record')}" if low else f"up to {words.counted(high, 'record')}"
    )


def change(before: object, after: object) -> str:
    """A value before and after: `3 → 4`, with `?` for what is not known."""
    return f"{'?' if before is None else before} → {'?' if after is None else after}"


def controller_anchor(row: ControllerChange) -> str:
    """The address of a change of the controller."""
    return plain.anchor("controller", f"epoch {row.epoch} {row.happened_at}")


def _mostly_unread(page: PageRows) -> list[tuple[str, int, int]]:
    """The folders of brokers in which more lines are unread than say something, the one with the most first.

    Gives: folder, lines that could not be read, all lines.
    """
    brokers = [row for row in page.of(Coverage) if row.origin == "broker"]
    unread = []
    for folder, rows in grouped(brokers, lambda row: folder_of(row.source) or row.source).items():
        lost, lines = sum(r.unparsed + r.quarantined for r in rows), sum(r.lines_in for r in rows)
        if lost > sum(r.events for r in rows) and lost * WORTH_A_SENTENCE > lines:
            unread.append((folder, lost, lines))
    return sorted(unread, key=lambda u: (-u[1], u[0]))


def unread_first(page: PageRows) -> str:
    """What a verdict says before anything else where a broker's lines are mostly unread; else empty."""
    folders = _mostly_unread(page)
    if not folders:
        return ""
    named = words.listed([plain.shortened(folder) for folder, _, _ in folders[:NAMED]])
    others = f" and {words.number(len(folders) - NAMED)} others" if len(folders) > NAMED else ""
    lost, lines = sum(lost for _, lost, _ in folders), sum(lines for _, _, lines in folders)
    return (
        f"Most of what matters in the logs of {named}{others} could not be read"
        f" ({words.counted(lost, 'line')} of {words.number(lines)}): what is not listed here may have happened."
    )


def absence(page: PageRows, observed: str, nothing: str) -> str:
    """What is said where nothing is there: `observed` where all was read, else that no line that was read says it.

    Takes: the sentence, and what it denies, as in `No rebalance`.
    """
    has_brokers = any(row.origin == Origin.BROKER for row in page.of(Coverage))
    return observed if has_brokers and not _mostly_unread(page) else f"{nothing} in what could be read."
