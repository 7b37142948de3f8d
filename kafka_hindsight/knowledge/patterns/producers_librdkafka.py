"""Failed requests of a producer of librdkafka (confluent-kafka for Python, Go, .NET; versions 1.0-2.16).

It logs neither its settings nor an answer of a broker that it does not like: it sends the batch again without a word,
or answers the application. It logs requests without an answer, and what ends the producer or its transaction.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import Pattern

_HEAD = r"^(?P<client_id>.{1,255}?)#producer-\d+\| \[thrd:[^\]]*\]: "
_line = partial(Pattern, head=_HEAD, versions="librdkafka 1.4-2.16")

_ON_STDERR = (
    _line(
        pattern_id="librdkafka.produce_timed_out",
        kind=Kind.PRODUCER_TIMED_OUT,
        loggers=("librdkafka.REQTMOUT",),
        regex=r"\S+/(?P<node>-?\d+): Timed out ProduceRequest in flight \(after (?P<took_ms>\d+)ms, timeout #\d+\).*$",
        constants={"error": "REQUEST_TIMED_OUT"},
        source="src/rdkafka_broker.c rd_kafka_broker_bufq_timeout_scan",
    ),
    _line(
        pattern_id="librdkafka.producer_fatal",
        kind=Kind.PRODUCER_FAILED,
        loggers=("librdkafka.TXNERR",),
        regex=r"Fatal transaction error: .* \((?P<error>\w+)\)$",
        constants={"state": "fatal"},
        source="src/rdkafka_txnmgr.c rd_kafka_txn_set_fatal_error",
    ),
    _line(
        pattern_id="librdkafka.transaction_failed",
        kind=Kind.PRODUCER_FAILED,
        loggers=("librdkafka.TXNERR",),
        regex=r"Current transaction failed in state \w+: .* \((?P<error>\w+)(?:, requires epoch bump)?\)$",
        constants={"state": "abortable"},
        source="src/rdkafka_txnmgr.c rd_kafka_txn_set_abortable_error0",
    ),
    _line(
        pattern_id="librdkafka.left_in_queue",
        kind=Kind.PRODUCER_FORCED,
        loggers=("librdkafka.TERMINATE",),
        regex=r"Producer terminating with (?P<event_count>\d+) messages? \(\d+ bytes?\) still in queue or transit: .*$",
        source="src/rdkafka.c rd_kafka_destroy_app",
    ),
)


def _through_logger(pattern: Pattern) -> Pattern:
    """The same words where confluent-kafka for Python hands them to a logger. Source: confluent_kafka.c log_cb."""
    facility = pattern.loggers[0].rpartition(".")[2]
    return replace(
        pattern,
        pattern_id=f"{pattern.pattern_id}_through_logger",
        loggers=(PROGRAM,),
        head=rf"^{facility} \[(?P<client_id>.{{1,255}}?)#producer-\d+\] \[thrd:[^\]]*\]: ",
        versions="confluent-kafka for Python 1.4-2.16",
        source=f"{pattern.source}; confluent_kafka.c log_cb",
    )


PATTERNS = (*_ON_STDERR, *map(_through_logger, _ON_STDERR))
