"""Failed batches of a producer of kafka-python (2.0-3.0), through Python's logging. 3.0 names its client."""

from __future__ import annotations

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import Pattern

_SENDER = ("kafka.producer.sender", PROGRAM)
_PARTITION = r"TopicPartition\(topic='(?P<topic>[\w.-]+)', partition=(?P<partition>\d+)\)"
_HEAD = r"^<Sender client_id=(?P<client_id>.{1,255}?) transactional_id=.{1,255}?>: "
_PRODUCER = ("kafka.producer.kafka", PROGRAM)
_PRODUCER_HEAD = r"^<KafkaProducer client_id=(?P<client_id>.{1,255}?) transactional_id=.{1,255}?>: "
_line = partial(Pattern, loggers=_SENDER, head=_HEAD, versions="kafka-python 3.0")


PATTERNS = (
    _line(
        pattern_id="kafka_python.retried",
        kind=Kind.PRODUCER_RETRIED,
        regex=rf"Got error produce response on topic-partition {_PARTITION}, retrying \((?:(?P<event_count>-?\d+)|inf) attempts left\): "
        r"(?P<error>\w+)(?:\. Error Message: .*)?$",
        source="kafka/producer/sender.py _dispatch_error",
    ),
    _line(
        pattern_id="kafka_python.retried_of_old",
        kind=Kind.PRODUCER_RETRIED,
        head="^",
        regex=rf"Got error produce response on topic-partition {_PARTITION}, retrying \((?P<event_count>-?\d+) attempts left\)\. "
        r"Error: <class 'kafka\.errors\.(?P<error>\w+)'>$",
        versions="kafka-python 2.0",
        source="kafka/producer/sender.py _complete_batch",
    ),
    _line(
        pattern_id="kafka_python.gave_up",
        kind=Kind.PRODUCER_GAVE_UP,
        loggers=("kafka.producer.producer_batch", PROGRAM),
        head="^",
        regex=rf"Failed to produce messages to topic-partition {_PARTITION} with base offset (?:-?\d+|None): (?:\[Error -?\d+\] )?(?P<error>\w+).*$",
        source="kafka/producer/producer_batch.py done",
    ),
    _line(
        pattern_id="kafka_python.producer_failed",
        kind=Kind.PRODUCER_FAILED,
        regex=r"Aborting producer batches due to fatal error: (?:\[Error -?\d+\] )?(?P<error>\w+).*$",
        constants={"state": "fatal"},
        source="kafka/producer/sender.py _maybe_abort_batches",
    ),
    _line(
        pattern_id="kafka_python.idempotent",
        kind=Kind.PRODUCER_IDEMPOTENT,
        loggers=_PRODUCER,
        head=_PRODUCER_HEAD,
        regex=r"Instantiated an? (?P<state>idempotent|transactional) producer\.$",
        source="kafka/producer/kafka.py __init__",
    ),
    _line(
        pattern_id="kafka_python.closing",
        kind=Kind.PRODUCER_CLOSED,
        loggers=_PRODUCER,
        head=_PRODUCER_HEAD,
        regex=r"Closing the Kafka producer with .{1,40} secs timeout\.$",
        source="kafka/producer/kafka.py close",
    ),
)
