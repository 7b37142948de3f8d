"""Records as objects of JSON: which fields hold the instant, the level, the logger, the message and the stack trace."""

from __future__ import annotations

from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import JsonLayout

_MESSAGE = "[KafkaServer id=1] started"

JSON_LAYOUTS = (
    JsonLayout(
        name="ecs",
        logger="log.logger",
        message="message",
        level="log.level",
        at="@timestamp",
        trace="error.stack_trace",
        source="ecs-logging-java; log4j2 JsonTemplateLayout, EcsLayout.json",
        samples=(
            '{"@timestamp":"2026-11-21T01:44:29.117Z","log.level":"INFO","message":"%s","log.logger":'
            '"kafka.server.KafkaServer","process.thread.name":"main"}' % _MESSAGE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonLayout(
        name="logstash",
        logger="logger_name",
        message="message",
        level="level",
        at="@timestamp",
        trace="stack_trace",
        source="logstash-logback-encoder; log4j2 JsonTemplateLayout, LogstashJsonEventLayoutV1.json",
        samples=(
            '{"@timestamp":"2026-11-21T01:44:29.117Z","@version":"1","message":"%s","logger_name":'
            '"kafka.server.KafkaServer","thread_name":"main","level":"INFO"}' % _MESSAGE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonLayout(
        name="log4j2-json",
        logger="loggerName",
        message="message",
        level="level",
        at="instant",
        trace="thrown.extendedStackTrace",
        source="log4j2 JsonLayout",
        samples=(
            '{"instant":{"epochSecond":1795225469,"nanoOfSecond":117000000},"thread":"main","level":"INFO",'
            '"loggerName":"kafka.server.KafkaServer","message":"%s"}' % _MESSAGE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonLayout(
        name="log4j2-millis",
        logger="loggerName",
        message="message",
        level="level",
        at="timeMillis",
        trace="thrown.extendedStackTrace",
        source="log4j2 JsonLayout until 2.10 and with includeTimeMillis",
        samples=(
            '{"timeMillis":1795225469117,"thread":"main","level":"INFO","loggerName":"kafka.server.KafkaServer",'
            '"message":"%s"}' % _MESSAGE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonLayout(
        name="quarkus-json",
        logger="loggerName",
        message="message",
        level="level",
        at="timestamp",
        trace="stackTrace",
        source="Quarkus' and WildFly's formatter of JSON",
        samples=(
            '{"timestamp":"2026-11-21T01:44:29.117Z","loggerName":"kafka.server.KafkaServer","level":"INFO",'
            '"message":"%s"}' % _MESSAGE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonLayout(
        name="gelf-logger",
        logger="_logger",
        message="short_message",
        level="_level",
        at="timestamp",
        trace="full_message",
        source="log4j2 JsonTemplateLayout, GelfLayout.json: the trace, where there is one, is in full_message",
        samples=(
            '{"version":"1.1","host":"h","short_message":"%s","timestamp":1795225469.117,"level":6,'
            '"_logger":"kafka.server.KafkaServer","_thread":"main"}' % _MESSAGE,
        ),
        counter_samples=('{"version":"1.1","host":"h","short_message":"x","timestamp":1795225469.117}',),
    ),
    JsonLayout(
        name="kafkajs",
        logger="logger",
        message="message",
        level="level",
        at="timestamp",
        trace="stack",
        program="node.kafkajs",
        only="kafkajs",
        beside=(),
        source="kafkajs 1.5 and later: src/loggers/console.js",
        samples=(
            '{"level":"INFO","timestamp":"2026-11-22T14:44:07.910Z","logger":"kafkajs","message":"[Consumer] Starting",'
            '"groupId":"lab-kjs"}',
        ),
        counter_samples=('{"level":"INFO","timestamp":"2026-11-22T14:44:07.910Z","logger":"kafkajs"}',),
    ),
    JsonLayout(
        name="logger",
        logger="logger",
        message="message",
        level="level",
        at="timestamp",
        trace="exception",
        source="log4j2 JsonTemplateLayout and logback's JsonLayout with plain names of fields",
        samples=(
            '{"timestamp":"2026-11-21T01:44:29.117Z","level":"INFO","logger":"kafka.server.KafkaServer",'
            '"message":"%s"}' % _MESSAGE,
        ),
        counter_samples=('{"message":"x"}',),
    ),
    JsonLayout(
        name="python-json",
        logger="name",
        message="message",
        level="levelname",
        at="asctime",
        trace="exc_info",
        program=PROGRAM,
        source="python-json-logger: %(asctime)s %(levelname)s %(name)s %(message)s",
        samples=(
            '{"asctime": "2026-11-22 14:44:07,860", "levelname": "INFO", "name": "aiokafka.consumer.group_coordinator",'
            ' "message": "(Re-)joining group lab-aiot"}',
        ),
        counter_samples=('{"asctime": "2026-11-22 14:44:07,860", "message": "x"}',),
    ),
    JsonLayout(
        name="zap",
        logger="",
        message="msg",
        level="level",
        at="ts",
        trace="stacktrace",
        program=PROGRAM,
        beside=("caller", "logger"),
        source="go.uber.org/zap NewProduction",
        samples=(
            '{"level":"info","ts":1795358647.86,"caller":"kzap@v1.1.2/kzap.go:114","msg":"joining group","group":"g"}',
        ),
        counter_samples=('{"level":"info","msg":"joining group","group":"g"}',),
    ),
    JsonLayout(
        name="slog",
        logger="",
        message="msg",
        level="level",
        at="time",
        trace="stack",
        program=PROGRAM,
        beside=("source", "func", "file"),
        source="Go's log/slog NewJSONHandler and NewTextHandler; logrus JSONFormatter, TextFormatter without colours",
        samples=(
            '{"time":"2026-11-22T14:44:07.86Z","level":"INFO","msg":"joining group","group":"g"}',
            'time=2026-11-22T14:44:07.860Z level=INFO msg="joining group" group=g',
        ),
        counter_samples=('{"time":"2026-11-22T14:44:07.86Z","level":"INFO"}',),
    ),
)
"""Order: an object is of the first layout whose logger, message and time it has."""

OF_CLASSES = tuple(layout for layout in JSON_LAYOUTS if not layout.program)
"""The layouts whose records name a class as their logger, as Kafka's own do."""
