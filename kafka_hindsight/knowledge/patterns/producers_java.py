"""Settings, failed requests and the end of a Java producer, by its log (Kafka 0.10-4.4).

The producer does not log that it gives a batch up: it answers the application alone. Its lines show each retry.
"""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import PRODUCER_HEAD, PRODUCER_NAMED, TOPIC_PARTITION
from kafka_hindsight.knowledge.producer_settings import PRODUCER_SETTINGS

_CONFIG_LOGGERS = (
    "org.apache.kafka.clients.producer.ProducerConfig",
    "org.apache.kafka.common.config.AbstractConfig",
)
_SENDER_LOGGERS = ("org.apache.kafka.clients.producer.internals.Sender",)
_TRANSACTION_LOGGERS = ("org.apache.kafka.clients.producer.internals.TransactionManager",)
_PRODUCER_LOGGERS = ("org.apache.kafka.clients.producer.KafkaProducer",)
_CALLBACK_LOGGERS = ("org.apache.kafka.clients.producer.internals.ErrorLoggingCallback",)
_PACKAGE = "clients/src/main/java/org/apache/kafka/clients/producer"
_EXCEPTION = r"(?P<error>[\w.$]{1,255})"
_line = partial(Pattern, head=PRODUCER_HEAD)

_CLIENT = "client.id"
_WANTED = "".join(
    r"(?:.*?\n\tclient[.]id = (?P<client_id>[^\r\n]{1,255})?)?"
    if name == _CLIENT
    else rf"(?:.*?\n\t(?P<detail_{i}>{name.replace('.', '[.]')} = [^\r\n]*))?"
    for i, name in enumerate(sorted((*PRODUCER_SETTINGS, _CLIENT)), 1)
)
"""One setting a line, in alphabetical order; a version that lacks one leaves its line empty."""


PATTERNS = (
    Pattern(
        pattern_id="producer.configured",
        kind=Kind.PRODUCER_CONFIGURED,
        loggers=_CONFIG_LOGGERS,
        regex=rf"^ProducerConfig values: ?{_WANTED}.*$",
        versions="0.10-4.4",
        source=f"{_PACKAGE}/ProducerConfig.java; org.apache.kafka.common.config.AbstractConfig logAll",
    ),
    _line(
        pattern_id="producer.idempotent",
        kind=Kind.PRODUCER_IDEMPOTENT,
        loggers=_PRODUCER_LOGGERS,
        regex=r"Instantiated an? (?P<state>idempotent|transactional) producer\.$",
        versions="0.11-4.4",
        source=f"{_PACKAGE}/KafkaProducer.java configureTransactionState",
    ),
    _line(
        pattern_id="producer.topic_known",
        kind=Kind.PRODUCER_TOPIC_KNOWN,
        loggers=("org.apache.kafka.clients.Metadata",),
        head=f"^{PRODUCER_NAMED}",
        regex=rf"Resetting the last seen epoch of partition {TOPIC_PARTITION} to .*$",
        versions="2.8-4.4",
        source="clients/src/main/java/org/apache/kafka/clients/Metadata.java updateLatestMetadata",
    ),
    _line(
        pattern_id="producer.retried",
        kind=Kind.PRODUCER_RETRIED,
        loggers=_SENDER_LOGGERS,
        regex=rf"Got error produce response with correlation id -?\d+ on topic-partition {TOPIC_PARTITION}, "
        r"retrying \((?P<event_count>-?\d+) attempts left\)\. Error: (?P<error>\w+)(?:\. Error Message: .*)?$",
        versions="0.10-4.4",
        source=f"{_PACKAGE}/internals/Sender.java completeBatch",
    ),
    _line(
        pattern_id="producer.redirected",
        kind=Kind.PRODUCER_REDIRECTED,
        loggers=_SENDER_LOGGERS,
        regex=rf"Received invalid metadata error in produce request on partition {TOPIC_PARTITION} due to {_EXCEPTION}"
        r"(?:: .*?)? ?Going to request metadata update now$",
        versions="1.0-4.4",
        source=f"{_PACKAGE}/internals/Sender.java completeBatch",
    ),
    _line(
        pattern_id="producer.partition_unknown",
        kind=Kind.PRODUCER_REDIRECTED,
        loggers=_SENDER_LOGGERS,
        regex=rf"Received unknown topic or partition error in produce request on partition {TOPIC_PARTITION}\. .*$",
        constants={"error": "UNKNOWN_TOPIC_OR_PARTITION"},
        versions="0.10-4.4",
        source=f"{_PACKAGE}/internals/Sender.java completeBatch",
    ),
    _line(
        pattern_id="producer.out_of_sequence",
        kind=Kind.PRODUCER_GAVE_UP,
        loggers=(*_TRANSACTION_LOGGERS, *_SENDER_LOGGERS),
        regex=rf"The broker returned {_EXCEPTION}(?:: .*?)? for topic-partition {TOPIC_PARTITION}"
        r"(?: with producerId | at offset ).*$",
        versions="1.0-4.4",
        source=f"{_PACKAGE}/internals/TransactionManager.java handleFailedBatch; Sender.java failBatch (until 2.3)",
    ),
    _line(
        pattern_id="producer.failed",
        kind=Kind.PRODUCER_FAILED,
        loggers=_TRANSACTION_LOGGERS,
        regex=rf"Transiting to (?P<state>abortable|fatal) error state due to {_EXCEPTION}(?:: .*)?$",
        versions="2.7-4.4",
        source=f"{_PACKAGE}/internals/TransactionManager.java transitionToFatalError, transitionToAbortableError",
    ),
    _line(
        pattern_id="producer.aborted",
        kind=Kind.PRODUCER_FAILED,
        loggers=_SENDER_LOGGERS,
        regex=rf"Aborting producer batches due to fatal error(?:\r?\n{_EXCEPTION}.*)?$",
        constants={"state": "fatal"},
        reads_trace=True,
        versions="0.11-4.4",
        source=f"{_PACKAGE}/internals/Sender.java maybeAbortBatches",
    ),
    Pattern(
        pattern_id="producer.record_given_up",
        kind=Kind.PRODUCER_GAVE_UP,
        loggers=_CALLBACK_LOGGERS,
        regex=r"^Error when sending message to topic (?P<topic>[\w.-]+) with key: .*? with error:(?: ?\r?\n"
        rf"{_EXCEPTION}(?:: (?P<reason>Expiring) \d+ record\(s\) for [\w.-]+-(?P<partition>\d+):)?.*)?$",
        reads_trace=True,
        versions="0.10-4.4",
        source=f"{_PACKAGE}/internals/ErrorLoggingCallback.java onCompletion",
    ),
    Pattern(
        pattern_id="producer.closed",
        kind=Kind.PRODUCER_CLOSED,
        loggers=("org.apache.kafka.common.utils.AppInfoParser",),
        regex=r"^App info kafka\.producer for (?P<client_id>.{1,255}) unregistered$",
        versions="2.5-4.4",
        source="clients/src/main/java/org/apache/kafka/common/utils/AppInfoParser.java unregisterAppInfo",
    ),
    _line(
        pattern_id="producer.closed_by_force",
        kind=Kind.PRODUCER_FORCED,
        loggers=_PRODUCER_LOGGERS,
        regex=r"Proceeding to force close the producer since pending requests could not be completed"
        r" within timeout (?P<took_ms>\d+) ms\.$",
        versions="0.10-4.4",
        source=f"{_PACKAGE}/KafkaProducer.java close",
    ),
)
