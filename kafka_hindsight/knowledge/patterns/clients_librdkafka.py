"""Lines of librdkafka (confluent-kafka for Python, Go, .NET; versions 1.0-2.16), on stderr or through a logger.

Python hands it to the program's own logger (`logger=`): the facility then stands before the client's name. Programs in
.NET do so with the message alone.
"""

from dataclasses import replace
from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import UNKNOWN_HOST

# A client id may hold anything: the instance's name, librdkafka's own, is what ends it.
_HEAD = r"^(?P<client_id>.{1,255}?)#consumer-\d+\| \[thrd:[^\]]*\]: "
_CLIENT_IN_LOGGER = r" \[(?P<client_id>.{1,255}?)#consumer-\d+\] "
_SOURCE = "src/rdkafka_cgrp.c"
_TRUNCATED = "Local: Partition log truncation detected"
_line = partial(Pattern, head=_HEAD, versions="librdkafka 1.0-2.15")


_ON_STDERR = (
    _line(
        pattern_id="librdkafka.poll_expired",
        kind=Kind.CLIENT_POLL_EXPIRED,
        loggers=("librdkafka.MAXPOLL",),
        regex=r"Application maximum poll interval \((?P<took_ms>\d+)ms\) exceeded by (?P<detail>\d+)ms \(.*\): leaving group$",
        source=f"{_SOURCE} rd_kafka_cgrp_max_poll_interval_check_tmr_cb",
    ),
    _line(
        pattern_id="librdkafka.session_timeout",
        kind=Kind.CLIENT_SESSION_TIMEOUT,
        loggers=("librdkafka.SESSTMOUT",),
        regex=r"Consumer group session timed out (?P<detail>\(in join-state \S+\)) after (?P<took_ms>\d+) ms "
        r"without a successful response from the group coordinator \(broker (?P<node>-?\d+), last error was (?P<error>.*?)\): .*$",
        versions="librdkafka 1.4-2.15",
        source=f"{_SOURCE} rd_kafka_cgrp_session_timeout_check",
    ),
    _line(
        pattern_id="librdkafka.commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        loggers=("librdkafka.COMMITFAIL",),
        regex=r"Offset commit \((?P<reason>.{0,255}?)\) failed for \d+/\d+ partition\(s\)(?: in join-state [\w-]+)?: "
        r"(?:(?P<error>.{1,255}?): )?(?P<detail>[\w.-]{1,249}(?:\(\S{0,255}?\))?\[\d+\].*)$",
        plain={"detail": {r"(?:\(\S{0,255}?\))?\[(\d+)\]@(\d+)(?:\([^()]*\))?": r"-\1=\2"}},
        versions="librdkafka 1.6-2.15",
        source=f"{_SOURCE} rd_kafka_cgrp_op_handle_OffsetCommit",
    ),
    *(
        _line(
            pattern_id=f"librdkafka.{name}",
            kind=kind,
            loggers=("librdkafka.OFFSET",),
            regex=r"(?P<topic>[\w.-]+) \[(?P<partition>\d+)\]: offset reset \(at (?:offset )?"
            + rf"{position}(?: \(leader epoch -?\d+\))?, broker -?\d+\) to (?:cached BEGINNING offset )?(?:offset )?"
            rf"(?:(?P<state>BEGINNING|END)|(?P<{reached}>\d+))(?: \(leader epoch -?\d+\))?: {reason}$",
            plain={"state": {"BEGINNING": "earliest", "END": "latest"}},
            versions="librdkafka 1.9-2.16",
            source="src/rdkafka_offset.c rd_kafka_offset_reset",
        )
        for name, kind, position, reached, reason in (
            (
                "out_of_range",
                Kind.CLIENT_OUT_OF_RANGE,
                r"(?P<log_offset>\d+)",
                "detail",
                ".*: Broker: Offset out of range",
            ),
            ("log_diverged", Kind.CLIENT_LOG_DIVERGED, r"(?P<log_offset>\d+)", "detail", f".*: {_TRUNCATED}"),
            (
                "position_reset",
                Kind.CLIENT_POSITION_RESET,
                r"\w+",
                "log_offset",
                rf"(?!.*: (?:Broker: Offset out of range|{_TRUNCATED})$)(?P<error>.*)",
            ),
        )
    ),
    _line(
        pattern_id="librdkafka.not_authenticated",
        kind=Kind.CLIENT_NOT_AUTHENTICATED,
        loggers=("librdkafka.FAIL",),
        regex=r"(?:GroupCoordinator: )?\S+: (?P<error>(?:SASL (?:authentication error|\S+ mechanism handshake failed)|SSL handshake failed|.*?:SSL routines:).*?)"
        r"(?: \(after \d+ms in state \w+(?:, \d+ identical error\(s\) suppressed)?\))?$",
        source="src/rdkafka_broker.c rd_kafka_broker_fail; rdkafka_sasl.c; rdkafka_ssl.c",
    ),
    _line(
        pattern_id="librdkafka.name_unknown",
        kind=Kind.CLIENT_CONNECT_FAILED,
        constants={"error": UNKNOWN_HOST},
        loggers=("librdkafka.FAIL",),
        regex=r".+?: Failed to resolve '(?P<host>[^:']+):\d+': .*$",
        source="src/rdkafka_broker.c rd_kafka_broker_resolve",
    ),
    _line(
        pattern_id="librdkafka.disconnected",
        kind=Kind.CLIENT_DISCONNECTED,
        loggers=("librdkafka.FAIL",),
        regex=r"(?P<detail>.+?: (?:Disconnected|Connect to |\d+ request\(s\) timed out: disconnect).*)$",
        source="src/rdkafka_broker.c rd_kafka_broker_set_error",
    ),
    _line(
        pattern_id="librdkafka.request_timed_out",
        kind=Kind.CLIENT_REQUEST_CANCELLED,
        loggers=("librdkafka.REQTMOUT",),
        regex=r"\S+: Timed out (?P<detail>\w+)Request in flight \(after (?P<took_ms>\d+)ms, timeout #\d+\).*$",
        source="src/rdkafka_broker.c rd_kafka_broker_bufq_timeout_scan",
    ),
)


_OF_ANY_CLIENT = (Kind.CLIENT_DISCONNECTED, Kind.CLIENT_REQUEST_CANCELLED)


def _through_logger(pattern: Pattern) -> Pattern:
    """The same words where confluent-kafka for Python hands them to a logger. Source: confluent_kafka.c log_cb.

    Programs in .NET log the message alone, without its client: LogMessage.Message. A producer loses connections too.
    """
    (logger,) = pattern.loggers
    client = f"{logger.rpartition('.')[2]}{_CLIENT_IN_LOGGER}"
    return replace(
        pattern,
        pattern_id=f"{pattern.pattern_id}_through_logger",
        loggers=(PROGRAM,),
        head=rf"^{client if pattern.kind in _OF_ANY_CLIENT else f'(?:{client})?'}\[thrd:[^\]]*\]: ",
        versions="confluent-kafka for Python 1.0-2.16, for .NET 1.0-2.16",
        source=f"{pattern.source}; confluent_kafka.c log_cb; Confluent.Kafka's SetLogHandler",
    )


# Python's wrapper takes the outcome of each commit, and librdkafka then logs none.
PATTERNS = (*_ON_STDERR, *(_through_logger(p) for p in _ON_STDERR if p.kind != Kind.CLIENT_COMMIT_FAILED))
