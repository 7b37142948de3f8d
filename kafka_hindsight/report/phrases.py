"""Phrases that several sections say of a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_hindsight.catalog.codes import Intent
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    Contributor,
    ControllerChange,
    Delay,
    Incident,
    Rebalance,
    RollingRestart,
)
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words


def outage_words(outage: BrokerOutage) -> str:
    """What became of a broker, as sure as that is: `broker 2 was cut off`, `broker 3 probably crashed`."""
    return f"broker {outage.broker} {vocabulary.HEDGES[outage.confidence]}{vocabulary.OUTAGES[outage.kind].verb}"


def outage_at(page: PageRows, outage: BrokerOutage) -> str:
    """What became of a broker, and when: `broker 2 was cut off at 02:13`."""
    return f"{outage_words(outage)} at {words.minute(outage.down_at, page.day)}"


def incident_headline(incident: Incident) -> str:
    """An incident in one line. Edge case: rows of an earlier version have no headline."""
    return plain.shortened(incident.headline or incident.explanation.rstrip("."), 220)


def declared(row: BrokerOutage | Incident | RollingRestart) -> str:
    """The label of what was declared, after its headline; empty for anything else."""
    return " (declared)" if row.intent == Intent.DECLARED else ""


def groups_named(group_ids: Sequence[str]) -> str:
    """One group by its name, several by their number."""
    if len(group_ids) == 1:
        return f"group {plain.shortened(group_ids[0], 48)}"
    return words.counted(len(group_ids), "group")


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


def brokers_named(brokers: Iterable[int], at_most: int) -> str:
    """Brokers in a sentence: `broker 1`, `brokers 1 and 3`."""
    ids = sorted(brokers)
    return f"{words.verb(len(ids), 'broker', 'brokers')} {words.listed([str(b) for b in ids], at_most)}"


def controller_anchor(row: ControllerChange) -> str:
    """The address of a change of the controller."""
    return plain.anchor("controller", f"epoch {row.epoch} {row.happened_at}")
