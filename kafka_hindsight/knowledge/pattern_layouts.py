"""Layouts that are patterns: those of images, operators and frameworks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_hindsight.knowledge.conversion import Compiled, compiled
from kafka_hindsight.knowledge.model import PatternLayout

PATTERN_LAYOUTS = (
    PatternLayout(
        name="apache-line",
        pattern="[%d] %p %X{connector.context}%m (%c:%L)%n",
        source="config/connect-log4j.properties 2.3-3.9: [%d] %p %X{connector.context}%m (%c:%L)%n",
    ),
    PatternLayout(
        name="apache-connector",
        pattern="[%d] %p %X{connector.context}%m (%c)%n",
        source="the image of Confluent's Kafka Connect: [%d] %p %X{connector.context}%m (%c)%n",
    ),
    PatternLayout(
        name="msk",
        pattern="[%d] %p %m (%c),%d%n",
        source="Amazon MSK's delivery of broker logs: Apache's layout, a comma, and the time of delivery",
    ),
    PatternLayout(
        name="apache-thread",
        pattern="[%d] %p [%t] %m (%c)%n",
        source="common in log4j.properties of clusters run by hand: Apache's layout with the thread",
    ),
    PatternLayout(
        name="strimzi",
        pattern="%d{ISO8601} %p %m (%c) [%t]%n",
        source="Strimzi, Kafka until 3.9: KafkaCluster.log4j1.properties",
    ),
    PatternLayout(
        name="strimzi-4",
        pattern="%d{ISO8601} %-5p [%t] %c{1}:%L - %m%n",
        source="Strimzi, Kafka 4: KafkaCluster.properties",
    ),
    PatternLayout(
        name="line-alone",
        pattern="%d{ISO8601} %-5p %c{1}:%L - %m%n",
        source="the pattern of log4j 1.2's manual and of many programs",
    ),
    PatternLayout(name="apache-bare", pattern="%d{ISO8601} %p %m (%c)%n", source="Apache's layout without brackets"),
    PatternLayout(
        name="cloudera-thread",
        pattern="%d{ISO8601} %-5p %c: [%t]: %m%n",
        source="Cloudera Runtime 7: log4j.properties of the role KAFKA_BROKER",
    ),
    PatternLayout(
        name="cloudera",
        pattern="%d{ISO8601} %-5p %c: %m%n",
        source="Cloudera CDK: log4j.properties of the role KAFKA_BROKER; the same in Python's logging:"
        " %(asctime)s %(levelname)s %(name)s: %(message)s",
    ),
    PatternLayout(
        name="spring-boot",
        pattern="%d{ISO8601} %5p %pid --- [%t] %-40.40logger{39} : %m%n",
        source="Spring Boot 2 and 3: logging/logback/defaults.xml, CONSOLE_LOG_PATTERN without colours",
    ),
    PatternLayout(
        name="thread-first",
        pattern="%d{ISO8601} [%t] %-5p %c - %m%n",
        source="logback's and log4j2's manuals: %d [%thread] %-5level %logger{36} - %msg%n",
    ),
    PatternLayout(
        name="level-first",
        pattern="%d{ISO8601} %-5p [%t] %c - %m%n",
        source="log4j 1.2's manual: %d %-5p [%t] %c - %m%n",
    ),
    PatternLayout(
        name="flink",
        pattern="%d{ISO8601} %-5p %-60c %x - %m%n",
        source="Flink 1.11 and later: conf/log4j-console.properties",
    ),
    PatternLayout(
        name="quarkus",
        pattern="%d{ISO8601} %-5p [%c] (%t) %m%n",
        source="Quarkus: quarkus.log.console.format, %d{yyyy-MM-dd HH:mm:ss,SSS} %-5p [%c{3.}] (%t) %s%e%n",
    ),
    PatternLayout(
        name="python-dashes",
        pattern="%d{ISO8601} - %c - %p - %m%n",
        source="the manual of Python's logging: %(asctime)s - %(name)s - %(levelname)s - %(message)s",
    ),
    PatternLayout(
        name="python-blanks",
        pattern="%d{ISO8601} %p %c %m%n",
        source="common in logging.basicConfig: %(asctime)s %(levelname)s %(name)s %(message)s",
    ),
    PatternLayout(
        name="python-colons",
        pattern="%d{ISO8601}:%p:%c:%m%n",
        source="the how-to of Python's logging: %(asctime)s:%(levelname)s:%(name)s:%(message)s",
    ),
    PatternLayout(
        name="python-brackets",
        pattern="%d{ISO8601} [%p] %c: %m%n",
        source="common in logging.config: %(asctime)s [%(levelname)s] %(name)s: %(message)s",
    ),
    PatternLayout(
        name="go-log",
        pattern="%x%d{yyyy/MM/dd HH:mm:ss}%x %m%n",
        source="Go's package log with LstdFlags: a prefix that the program chooses, the date, the time",
    ),
    PatternLayout(
        name="franz-go",
        pattern="%d{ISO8601} [%p] %m%n",
        source="franz-go: kgo.BasicLogger with the time before its lines",
    ),
)
"""Order: of layouts that read the same the first is taken."""


UNDATED = (
    PatternLayout(
        name="clock-alone",
        pattern="%d{ABSOLUTE} [%t] %-5p %c - %m%n",
        source="log4j2's default configuration: %d{HH:mm:ss.SSS} [%t] %level %logger{36} - %msg%n",
    ),
    PatternLayout(
        name="logback-default",
        pattern="%d{ABSOLUTE} [%t] %-5p %c -- %m%n",
        source="logback 1.3 and later without a configuration: ... %-5level %logger{36} -%kvp- %msg%n",
    ),
    PatternLayout(name="slf4j-simple", pattern="[%t] %p %c - %m%n", source="slf4j-simple without a configuration"),
    PatternLayout(
        name="python-default", pattern="%p:%c:%m%n", source="Python's logging without a format: logging.BASIC_FORMAT"
    ),
    PatternLayout(name="franz-go-default", pattern="[%p] %m%n", source="franz-go: kgo.BasicLogger without a prefix"),
)
"""Layouts without a day: read where an envelope gives the instant."""


_WITHIN = re.compile(r"(?:[a-z0-9-]+>)*")


def inside(envelopes: Sequence[str], layout: str) -> str:
    """How a layout is named whose lines come out of envelopes: docker>compose>strimzi."""
    return "".join(f"{name}>" for name in envelopes) + layout


def without_envelopes(name: str) -> str:
    """The layout alone of what `inside` names."""
    return _WITHIN.sub("", name, count=1)


def layout_pattern(name: str) -> Compiled:
    """The pattern of a layout by its name; any other name is a pattern that a user gave."""
    return compiled(_BY_NAME.get(name, name))


def is_without_logger(name: str) -> bool:
    """Whether it is one of these layouts and its lines name no logger."""
    pattern = layout_pattern(name)
    return name in _BY_NAME and not any(p and "logger" in p.groupindex for p in (pattern.head, pattern.tail))


_BY_NAME = {layout.name: layout.pattern for layout in (*PATTERN_LAYOUTS, *UNDATED)}
