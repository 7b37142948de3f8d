"""Producers that write all the time, one process each, so that their logs show what a fault did to them."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from py4j.protocol import Py4JError, Py4JJavaError

from lab.drill.java import Jvm
from lab.drill.libraries import JAVA, LIBRARIES, PROGRAMS
from lab.drill.librdkafka_writer import EVERY
from lab.drill.members import MemberFault
from lab.drill.producers import DONE, Program

_ANSWERS_WITHIN = 120
_COMMITS_EVERY = 10
"""Records in a transaction."""

_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"

_WRITERS: Mapping[str, Sequence[str]] = {
    "librdkafka": (sys.executable, "-m", "lab.drill.librdkafka_writer"),
    "kafka-python": (LIBRARIES["kafka-python"].program[0], str(PROGRAMS / "python" / "writer.py")),
}
"""The command that starts a producer of each library but Java's."""


class Writer(Protocol):
    """A producer in a process of its own. `close` ends it in order and returns its counts, `acked` and `failed`."""

    def close(self) -> Mapping[str, Any]: ...
    def end(self) -> None: ...


class ProgramWriter(Program):
    """A producer of librdkafka or kafka-python."""

    def __init__(self, library: str, log: Path, topic: str, config: Mapping[str, str]) -> None:
        super().__init__(_WRITERS[library], log)
        if (answer := self.ask({"topic": topic, "config": config})) != DONE:
            raise MemberFault(f"{config['client.id']} could not begin: {answer}.")

    def close(self) -> Mapping[str, Any]:
        """Closes it."""
        counts: Mapping[str, Any] = json.loads(self.ask({"do": "close"}))
        self.finish()
        return counts


class JavaWriter:
    """Kafka's own producer. `logs_failures`: Kafka's callback logs each record that is given up, as its tools do."""

    def __init__(
        self, libs: Path, version: str, log: Path, topic: str, config: Mapping[str, str], logs_failures: bool
    ) -> None:
        self._jvm = Jvm(libs, version, log, _ANSWERS_WITHIN)
        self._topic, self._logs_failures = topic, logs_failures
        serializers = {"key.serializer": _BYTES, "value.serializer": _BYTES}
        self._config = {**config, **serializers}
        self._counts = Counter[str]()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=config["client.id"], daemon=True)
        self._thread.start()

    def close(self) -> Mapping[str, Any]:
        """Closes it."""
        self._closing.set()
        self._thread.join(_ANSWERS_WITHIN)
        if self._thread.is_alive():
            raise MemberFault(f"{self._config['client.id']} did not close within {_ANSWERS_WITHIN} s.")
        self._jvm.exit()
        return {"acked": self._counts.pop("acked", 0), "failed": dict(self._counts)}

    def end(self) -> None:
        """Kills its process."""
        self._closing.set()
        self._jvm.end()

    def _run(self) -> None:
        clients = self._jvm.java.org.apache.kafka.clients.producer
        try:
            producer = clients.KafkaProducer(self._jvm.map(self._config))
            try:
                self._write(clients, producer, "transactional.id" in self._config)
            finally:
                producer.close()
        except Py4JJavaError as error:
            self._count(error)
        except Py4JError as error:
            self._counts[str(error)] += 1

    def _write(self, clients: Any, producer: Any, is_transactional: bool) -> None:
        futures, number = list[Any](), 0
        if is_transactional:
            producer.initTransactions()
        while not self._closing.wait(EVERY):
            if is_transactional and number % _COMMITS_EVERY == 0:
                producer.beginTransaction()
            value = f"record {number}".encode()
            record = clients.ProducerRecord(self._topic, 0, None, value)
            callback = clients.internals.ErrorLoggingCallback(self._topic, None, value, False)
            futures.append(producer.send(record, callback) if self._logs_failures else producer.send(record))
            number += 1
            if is_transactional and number % _COMMITS_EVERY == 0:
                producer.commitTransaction()
            futures = [future for future in futures if not self._is_answered(future)]
        if is_transactional and number % _COMMITS_EVERY:
            producer.commitTransaction()
        producer.flush()
        for future in futures:
            self._is_answered(future)

    def _is_answered(self, future: Any) -> bool:
        if not future.isDone():
            return False
        try:
            future.get()
            self._counts["acked"] += 1
        except Py4JJavaError as error:
            self._count(error)
        return True

    def _count(self, error: Py4JJavaError) -> None:
        exception = error.java_exception
        self._counts[(exception.getCause() or exception).getClass().getSimpleName()] += 1


def writer_of(
    library: str,
    libs: Path,
    version: str,
    log: Path,
    topic: str,
    config: Mapping[str, str],
    logs_failures: bool,
) -> Writer:
    """Start a producer of a library."""
    if library == JAVA:
        return JavaWriter(libs, version, log, topic, config, logs_failures)
    return ProgramWriter(library, log, topic, config)
