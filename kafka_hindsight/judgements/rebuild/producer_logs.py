"""The judgement of the logs of producers, and of what was behind their failed requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.kinds import PRODUCER_KINDS
from kafka_hindsight.judgements.producers.causes_of_failures import explain_failures
from kafka_hindsight.judgements.producers.logs_of_producers import LogOfProducers, read_log
from kafka_hindsight.judgements.reasoning.evidence import unquoted
from kafka_hindsight.judgements.rebuild.aftermath import FAILOVERS
from kafka_hindsight.judgements.rebuild.incidents import INCIDENTS, LINKS, UNAVAILABILITY
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table, narrowed, where_among
from kafka_hindsight.shared.arrow_tables import among, distinct


@dataclass(frozen=True)
class FailureTopics:
    """The topics of failures, as far as lines name topics; `is_any`: whether any request of a producer failed."""

    topics: frozenset[str]
    is_any: bool


def judge_log(cluster: str, source: str, events: list[rows.Event]) -> LogOfProducers:
    """Read one log of producers."""
    return read_log(cluster, source, events)


PRODUCER_LOGS = Judgement(
    "producer_logs",
    (judge_log,),
    ("cluster", "source"),
    {"events": where_among("kind", PRODUCER_KINDS, lake_table("silver.events"))},
)


def topics_of(failures: pa.Table) -> pa.Table:
    """The topics of failures, each once; null among them where a failure names none."""
    return distinct(failures.select(["topic"]))


def find_topics(failures: pa.Table) -> FailureTopics:
    """Find the topics whose producers failed."""
    topics = failures["topic"].to_pylist()
    return FailureTopics(frozenset(t for t in topics if t is not None), bool(topics))


FAILURE_TOPICS = Judgement(
    "failure_topics",
    (find_topics,),
    (),
    {"failures": narrowed(topics_of, PRODUCER_LOGS.output("failures"), again=distinct)},
)


def of_failure_topics(of_partitions: pa.Table, failure_topics: FailureTopics) -> pa.Table:
    """Keep the rows about topics whose producers failed."""
    return of_partitions.filter(among(of_partitions["topic"], sorted(failure_topics.topics)))


def where_any_failed(all_rows: pa.Table, failure_topics: FailureTopics) -> pa.Table:
    """Keep the rows where any producer failed."""
    return all_rows if failure_topics.is_any else all_rows.slice(0, 0)


@dataclass(frozen=True)
class Producers:
    """The failed requests of producers with what was behind them."""

    failures: list[rows.ProducerFailure]


def judge_producers(
    failures: list[rows.ProducerFailure],
    settings: list[rows.ProducerSetting],
    unavailability: list[rows.Unavailability],
    failovers: list[rows.Failover],
    outages: list[rows.BrokerOutage],
    links: list[rows.IncidentLink],
) -> Producers:
    """Name what was behind the failed requests of all producers."""
    incident_of: Mapping[str, str | None] = {link.part_id: link.incident_id for link in links} | {
        o.outage_id: o.incident_id for o in outages
    }
    return Producers(explain_failures(failures, settings, unavailability, failovers, outages, incident_of))


PRODUCERS = Judgement(
    "producers",
    (judge_producers,),
    ("cluster",),
    {
        "failures": PRODUCER_LOGS.output("failures"),
        "settings": PRODUCER_LOGS.output("settings"),
        "unavailability": each(of_failure_topics, each(unquoted, UNAVAILABILITY), needs=(FAILURE_TOPICS,)),
        "failovers": each(of_failure_topics, FAILOVERS, needs=(FAILURE_TOPICS,)),
        "outages": each(where_any_failed, INCIDENTS.output("outages"), needs=(FAILURE_TOPICS,)),
        "links": each(where_any_failed, LINKS, needs=(FAILURE_TOPICS,)),
    },
    needs=(FAILURE_TOPICS,),
)
