"""Gold: what the logs of producers show, of their settings and of requests that failed."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import ProducerFailureKind
from kafka_hindsight.catalog.row import Millis, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import HAS_EVIDENCE, ClusterName, Evidence, HowSure, JudgedBy
from kafka_hindsight.catalog.table_model import Check


@table("gold.producer_settings", key=("producer_settings_id",), time_column="first_seen_at")
class ProducerSetting(Row):
    """One producer with one set of settings, as its own log showed them at its start."""

    cluster: ClusterName
    producer_settings_id: Annotated[str, "Hash of cluster, log, client, settings and the instant it was first seen"]
    client_id: Annotated[str | None, "Client id; null where not known"] = None
    source: Annotated[str, "The log that shows them"]
    acks: Annotated[
        str | None, "acks, all where it is -1; null where not known: Kafka 3.0.0 and 3.1.0 may print another one"
    ] = None
    is_idempotent: Annotated[
        bool | None,
        "Whether the producer is idempotent. Only its own line shows that it is: Kafka 3.0.0 and 3.1.0 print"
        " enable.idempotence = true where it is off (KAFKA-13598); null where not known",
    ] = None
    transactional_id: Annotated[str | None, "transactional.id; null without transactions, or where not known"] = None
    retries: Annotated[int | None, "retries; null where not known"] = None
    delivery_timeout_ms: Annotated[Millis | None, "delivery.timeout.ms (Kafka 2.1+); null where not known"] = None
    request_timeout_ms: Annotated[Millis | None, "request.timeout.ms; null where not known"] = None
    max_in_flight: Annotated[int | None, "max.in.flight.requests.per.connection; null where not known"] = None
    topics: Annotated[
        list[str] | None, "The topics that its lines name as written to, maybe not all; null where they name none"
    ] = None
    starts: Annotated[int, "How often it started with them", Unit("starts")]
    first_seen_at: Annotated[datetime, "When it first started with them in the window"]
    last_seen_at: Annotated[datetime, "When it last did"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("seen_in_order", "last_seen_at >= first_seen_at", "a producer is not last seen before it is first seen"),
        Check("idempotent_needs_all", "NOT is_idempotent OR acks = 'all'", "an idempotent producer has acks=all"),
        HAS_EVIDENCE,
    )


@table("gold.producer_failures", key=("producer_failure_id",), time_column="started_at")
class ProducerFailure(Row):
    """One time in which requests of one producer to one partition failed, and it sent them again or gave them up."""

    cluster: ClusterName
    producer_failure_id: Annotated[str, "Hash of cluster, log, client, partition, kind and the first instant"]
    client_id: Annotated[str | None, "Client id; null where not known"] = None
    source: Annotated[str, "The log that shows it"]
    topic: Annotated[str | None, "Topic; null where the lines name none"] = None
    partition: Annotated[int | None, "Partition; null where the lines name none"] = None
    broker: Annotated[int | None, "Broker that was asked; null where the lines name none"] = None
    kind: Annotated[ProducerFailureKind, "Why they failed"]
    errors: Annotated[list[str], "The errors as the producer names them, each once"]
    started_at: Annotated[datetime, "The first line that shows it, by the producer's clock"]
    last_at: Annotated[datetime, "The last line that shows it: no line shows when it could write again"]
    retries: Annotated[int, "Batches that were sent again, each time counted", Unit("retries")]
    attempts_left: Annotated[int | None, "Retries that a batch had left at least; null where the lines name none"] = (
        None
    )
    given_up_low: Annotated[int, "Batches, or records, that the producer gave up at least: its lines show so many"]
    given_up_high: Annotated[
        int | None,
        "At most: 0 where none can have been given up, else null. A Java producer gives batches up without a line",
    ] = None
    unavailability_id: Annotated[str | None, "The interval of gold.unavailability that it witnesses; null: none"] = None
    failover_id: Annotated[str | None, "The change of leader behind it; null where none is known"] = None
    outage_id: Annotated[str | None, "The broker outage behind it; null where none is known"] = None
    incident_id: Annotated[str | None, "The incident that it belongs to; null where it belongs to none"] = None
    confidence: Annotated[HowSure, "How sure what is behind it is; unknown where nothing is known"]
    explanation: Annotated[str, "What failed, for how long, and what is behind it"]
    knowledge_version: JudgedBy = None
    evidence: Evidence

    CHECKS = (
        Check("in_order", "last_at >= started_at", "what fails ends no earlier than it begins"),
        Check("partition_has_topic", "`partition` IS NULL OR topic IS NOT NULL", "a partition is one of a topic"),
        Check("given_up_bounded", "given_up_low <= given_up_high", "a lower bound is not above the upper"),
        Check("something_failed", "retries >= 0 AND given_up_low >= 0", "no count is negative"),
        HAS_EVIDENCE,
    )
