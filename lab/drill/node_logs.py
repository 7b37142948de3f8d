"""How the nodes of a drill log: what the distribution writes, into the files that it writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lab.drill.jars import uses_log4j2

_FILES = {
    "kafka.controller": "controller",
    "org.apache.kafka.controller": "controller",
    "state.change.logger": "state-change",
    "kafka.authorizer.logger": "kafka-authorizer",
}
"""Loggers with a file of their own in Kafka's distribution; every other one writes into server.log."""


def logging_of(folder: Path, version: str) -> str:
    """A logging configuration that writes what the distribution's own writes, in its layout."""
    controller = "TRACE" if version.startswith("2.") else "INFO"
    levels = {logger: controller if logger == "kafka.controller" else "INFO" for logger in _FILES}
    return (_log4j2 if uses_log4j2(version) else _log4j1)(folder, levels)


def _log4j1(folder: Path, levels: Mapping[str, str]) -> str:
    lines = ["log4j.rootLogger=INFO, server"]
    for file in ("server", *dict.fromkeys(_FILES.values())):
        lines += [
            f"log4j.appender.{file}=org.apache.log4j.FileAppender",
            f"log4j.appender.{file}.File={folder}/{file}.log",
            f"log4j.appender.{file}.layout=org.apache.log4j.PatternLayout",
            f"log4j.appender.{file}.layout.ConversionPattern=[%d] %p %m (%c)%n",
        ]
    for logger, file in _FILES.items():
        lines += [f"log4j.logger.{logger}={levels[logger]}, {file}", f"log4j.additivity.{logger}=false"]
    return "\n".join(lines) + "\n"


def _log4j2(folder: Path, levels: Mapping[str, str]) -> str:
    lines = ["status=error", "name=drill"]
    for file in ("server", *dict.fromkeys(_FILES.values())):
        lines += [
            f"appender.{file}.type=File",
            f"appender.{file}.name={file}",
            f"appender.{file}.fileName={folder}/{file}.log",
            f"appender.{file}.layout.type=PatternLayout",
            f"appender.{file}.layout.pattern=[%d] %p %m (%c)%n",
        ]
    for number, (logger, file) in enumerate(_FILES.items()):
        lines += [
            f"logger.l{number}.name={logger}",
            f"logger.l{number}.level={levels[logger]}",
            f"logger.l{number}.additivity=false",
            f"logger.l{number}.appenderRef.own.ref={file}",
        ]
    return "\n".join([*lines, "rootLogger.level=INFO", "rootLogger.appenderRef.own.ref=server"]) + "\n"
