"""Layouts that are patterns: those of images, operators and frameworks."""

from __future__ import annotations

from kafka_hindsight.knowledge.model import PatternLayout

_DOTNET = "%p{TRACE=trce, DEBUG=dbug, INFO=info, WARN=warn, ERROR=fail, FATAL=crit}: %c[%L]%m%n"

PATTERN_LAYOUTS = (
    PatternLayout(
        "apache-line",
        "[%d] %p %X{connector.context}%m (%c:%L)%n",
        "config/connect-log4j.properties 2.3-3.9: [%d] %p %X{connector.context}%m (%c:%L)%n",
    ),
    PatternLayout(
        "apache-connector",
        "[%d] %p %X{connector.context}%m (%c)%n",
        "the image of Confluent's Kafka Connect: [%d] %p %X{connector.context}%m (%c)%n",
    ),
    PatternLayout(
        "debezium",
        "%d{ISO8601} %-5p  %X{dbz.connectorType}|%X{dbz.connectorName}|%X{dbz.connectorContext}  %m   [%c]%n",
        "the image of Debezium's Kafka Connect: log4j.properties of debezium/container-images; before a connector's"
        " context is set the three names are empty: ||",
    ),
    PatternLayout(
        "debezium-kafka",
        "%d{ISO8601} - %-5p [%t:%c{1}@%L] - %m%n",
        "the image of Debezium's Kafka: log4j.properties of debezium/container-images",
    ),
    PatternLayout(
        "msk",
        "[%d] %p %m (%c),%d%n",
        "Amazon MSK's delivery of broker logs: Apache's layout, a comma, and the time of delivery",
    ),
    PatternLayout(
        "apache-thread",
        "[%d] %p [%t] %m (%c)%n",
        "common in log4j.properties of clusters run by hand: Apache's layout with the thread",
    ),
    PatternLayout(
        "strimzi", "%d{ISO8601} %p %m (%c) [%t]%n", "Strimzi, Kafka until 3.9: KafkaCluster.log4j1.properties"
    ),
    PatternLayout("strimzi-4", "%d{ISO8601} %-5p [%t] %c{1}:%L - %m%n", "Strimzi, Kafka 4: KafkaCluster.properties"),
    PatternLayout(
        "line-alone", "%d{ISO8601} %-5p %c{1}:%L - %m%n", "the pattern of log4j 1.2's manual and of many programs"
    ),
    PatternLayout("apache-bare", "%d{ISO8601} %p %m (%c)%n", "Apache's layout without brackets"),
    PatternLayout(
        "cloudera-thread",
        "%d{ISO8601} %-5p %c: [%t]: %m%n",
        "Cloudera Runtime 7: log4j.properties of the role KAFKA_BROKER",
    ),
    PatternLayout(
        "cloudera",
        "%d{ISO8601} %-5p %c: %m%n",
        "Cloudera CDK: log4j.properties of the role KAFKA_BROKER; the same in Python's logging:"
        " %(asctime)s %(levelname)s %(name)s: %(message)s",
    ),
    PatternLayout(
        "spring-boot",
        "%d{ISO8601} %5p %pid --- [%t] %-40.40logger{39} : %m%n",
        "Spring Boot 2 and 3: logging/logback/defaults.xml, CONSOLE_LOG_PATTERN without colours",
    ),
    PatternLayout(
        "thread-first",
        "%d{ISO8601} [%t] %-5p %c - %m%n",
        "logback's and log4j2's manuals: %d [%thread] %-5level %logger{36} - %msg%n",
    ),
    PatternLayout("level-first", "%d{ISO8601} %-5p [%t] %c - %m%n", "log4j 1.2's manual: %d %-5p [%t] %c - %m%n"),
    PatternLayout(
        "level-colon",
        "%d{ISO8601} %-5p [%t] %c : %m%n",
        "common in Spring Boot programs: logging.pattern.file, %d %-5level [%thread] %logger : %msg%n",
    ),
    PatternLayout(
        "file-line",
        "%d{ISO8601} %-5p %c [%F:%L] %m%n",
        "common in log4j2 configurations: %d %-5p %c{1} [%F:%L] %m%n",
    ),
    PatternLayout("flink", "%d{ISO8601} %-5p %-60c %x - %m%n", "Flink 1.11 and later: conf/log4j-console.properties"),
    PatternLayout(
        "quarkus",
        "%d{ISO8601} %-5p [%c] (%t) %m%n",
        "Quarkus: quarkus.log.console.format, %d{yyyy-MM-dd HH:mm:ss,SSS} %-5p [%c{3.}] (%t) %s%e%n",
    ),
    PatternLayout(
        "python-dashes",
        "%d{ISO8601} - %c - %p - %m%n",
        "the manual of Python's logging: %(asctime)s - %(name)s - %(levelname)s - %(message)s",
    ),
    PatternLayout(
        "python-blanks",
        "%d{ISO8601} %p %c %m%n",
        "common in logging.basicConfig: %(asctime)s %(levelname)s %(name)s %(message)s",
    ),
    PatternLayout(
        "python-colons",
        "%d{ISO8601}:%p:%c:%m%n",
        "the how-to of Python's logging: %(asctime)s:%(levelname)s:%(name)s:%(message)s",
    ),
    PatternLayout(
        "python-brackets",
        "%d{ISO8601} [%p] %c: %m%n",
        "common in logging.config: %(asctime)s [%(levelname)s] %(name)s: %(message)s",
    ),
    PatternLayout(
        "python-level",
        "%p - %d{ISO8601} - %c:%L - %m%n",
        "common in logging.basicConfig: %(levelname)s - %(asctime)s - %(name)s:%(lineno)d - %(message)s",
    ),
    PatternLayout(
        "go-log",
        "%x%d{yyyy/MM/dd HH:mm:ss}%x %notEmpty{%F:%L: }%notEmpty{%p: }%m%n",
        "Go's package log with LstdFlags: a prefix that the program chooses, the date, the time; Lshortfile adds the"
        " file, and programs add a level",
    ),
    PatternLayout(
        "dotnet",
        f"%d{{ISO8601}} {_DOTNET}",
        "Microsoft.Extensions.Logging.Console, SimpleConsoleFormatter: a TimestampFormat, and the message below",
    ),
    PatternLayout(
        "no-logger",
        "%d{yyyy-MM-dd HH:mm:ss.SSS} %notEmpty{- }%notEmpty{[%t] }%notEmpty{%p%notEmpty{:}%notEmpty{ -} }%m%n",
        "franz-go: kgo.BasicLogger with the time before its lines; common in Python's logging.basicConfig:"
        " %(asctime)s - %(levelname)s - %(message)s, %(asctime)s [%(threadName)s] %(levelname)s: %(message)s",
    ),
)
"""Of several layouts that fit the same lines the first is taken."""


UNDATED = (
    PatternLayout(
        "clock-alone",
        "%d{ABSOLUTE} [%t] %-5p %c - %m%n",
        "log4j2's default configuration: %d{HH:mm:ss.SSS} [%t] %level %logger{36} - %msg%n",
    ),
    PatternLayout(
        "logback-default",
        "%d{ABSOLUTE} [%t] %-5p %c -- %m%n",
        "logback 1.3 and later without a configuration: ... %-5level %logger{36} -%kvp- %msg%n",
    ),
    PatternLayout("slf4j-simple", "[%t] %p %c - %m%n", "slf4j-simple without a configuration"),
    PatternLayout("python-default", "%p:%c:%m%n", "Python's logging without a format: logging.BASIC_FORMAT"),
    PatternLayout("dotnet-default", _DOTNET, "Microsoft.Extensions.Logging.Console, SimpleConsoleFormatter"),
    PatternLayout("franz-go-default", "[%p] %m%n", "franz-go: kgo.BasicLogger without a prefix"),
)
"""Layouts without a day: read where an envelope gives the instant."""
