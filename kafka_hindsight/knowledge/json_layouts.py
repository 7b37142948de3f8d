"""Records as objects of JSON: which fields hold the instant, the level, the logger, the message and the stack trace."""

from __future__ import annotations

from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import JsonLayout

JSON_LAYOUTS = (
    JsonLayout(
        name="ecs",
        logger="log.logger",
        level="log.level",
        at="@timestamp",
        trace="error.stack_trace",
        source="ecs-logging-java; log4j2 JsonTemplateLayout, EcsLayout.json",
    ),
    JsonLayout(
        name="logstash",
        logger="logger_name",
        at="@timestamp",
        trace="stack_trace",
        source="logstash-logback-encoder; log4j2 JsonTemplateLayout, LogstashJsonEventLayoutV1.json",
    ),
    JsonLayout(
        name="log4j2-json",
        logger="loggerName",
        at="instant",
        trace="thrown.extendedStackTrace",
        source="log4j2 JsonLayout",
    ),
    JsonLayout(
        name="log4j2-millis",
        logger="loggerName",
        at="timeMillis",
        trace="thrown.extendedStackTrace",
        source="log4j2 JsonLayout until 2.10 and with includeTimeMillis",
    ),
    JsonLayout(
        name="quarkus-json",
        logger="loggerName",
        at="timestamp",
        trace="stackTrace",
        source="Quarkus' and WildFly's formatter of JSON",
    ),
    JsonLayout(
        name="gelf-logger",
        logger="_logger",
        message="short_message",
        level="_level",
        at="timestamp",
        trace="full_message",
        source="log4j2 JsonTemplateLayout, GelfLayout.json: the trace, where there is one, is in full_message",
    ),
    JsonLayout(
        name="kafkajs",
        logger="logger",
        at="timestamp",
        trace="stack",
        program="node.kafkajs",
        only="kafkajs",
        beside=(),
        source="kafkajs 1.5 and later: src/loggers/console.js",
    ),
    JsonLayout(
        name="logger",
        logger="logger",
        at="timestamp",
        trace="exception",
        source="log4j2 JsonTemplateLayout and logback's JsonLayout with plain names of fields",
    ),
    JsonLayout(
        name="python-json",
        logger="name",
        level="levelname",
        at="asctime",
        trace="exc_info",
        program=PROGRAM,
        source="python-json-logger: %(asctime)s %(levelname)s %(name)s %(message)s",
    ),
    JsonLayout(
        name="zap",
        logger="",
        message="msg",
        at="ts",
        trace="stacktrace",
        program=PROGRAM,
        beside=("caller", "logger", "resource", "otelcol.component.id", "otelcol.component.kind", "otelcol.signal"),
        source="go.uber.org/zap NewProduction; OpenTelemetry's Collector with `encoding: json`",
    ),
    JsonLayout(
        name="slog",
        logger="",
        message="msg",
        at="time",
        trace="stack",
        program=PROGRAM,
        beside=("source", "func", "file"),
        source="Go's log/slog NewJSONHandler and NewTextHandler; logrus JSONFormatter, TextFormatter without colours",
    ),
)
"""An object belongs to the first of these layouts whose logger, message and time it has."""

OF_CLASSES = tuple(layout for layout in JSON_LAYOUTS if not layout.program)
"""The layouts whose records name a class as their logger, as Kafka's own do."""
