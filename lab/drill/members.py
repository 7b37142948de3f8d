"""Members of consumer groups, one process each, so that a crash is a crash and a pause is a pause."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from kafka_hindsight.settings.home import HOME
from lab.drill import libraries, processes
from lab.drill.java import Jvm
from lab.drill.reads import READ

POLL_MS = 100
_LEAVES_WITHIN = 60
"""Java's close may wait half a minute for a last commit."""

_TELLS_WITHIN = 20

_ANSWERS_WITHIN = 300
"""Longer than any member is suspended: its own thread goes on where it was, no other thread waits for it so long."""

_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


class MemberFault(Exception):
    """A member did not do what it was asked."""


class DrillMember(Protocol):
    """A consumer in a process of its own. Nothing reaches Kafka before `join`.

    One that traces prints what it reads into a file (lab.drill.reads).
    `subscribe`: topics, or one pattern. `slow`: one record takes so long. `owned`: the partitions that it says are its
    own, such as `orders-0`. `leave` ends the process in an orderly way; `kill`, `pause` and `resume` are signals.
    """

    def join(self) -> None: ...
    def subscribe(self, topics: Sequence[str], pattern: str | None = None) -> None: ...
    def slow(self, ms: int) -> None: ...
    def enforce_rebalance(self) -> None: ...
    def owned(self) -> list[str]: ...
    def leave(self) -> None: ...
    def kill(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def end(self) -> None: ...


class InJvm:
    """The process of a member, with a Java machine of its own."""

    _jvm: Jvm

    def kill(self) -> None:
        self._jvm.end()

    def pause(self) -> None:
        self._jvm.signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._jvm.signal(signal.SIGCONT)

    def end(self) -> None:
        self.kill()


class JavaMember(InJvm):
    """Kafka's own consumer. One thread polls it and carries out what it is asked between two polls."""

    def __init__(
        self,
        libs: Path,
        version: str,
        log: Path,
        config: Mapping[str, str],
        topics: Sequence[str],
        pattern: str | None = None,
        within: Sequence[str] = (),
        trace: Path | None = None,
    ) -> None:
        self._jvm = Jvm(libs, version, log, _ANSWERS_WITHIN, within=within)
        self._config = config
        self._trace = trace
        self._pace_ms = 0
        self._requests: queue.SimpleQueue[Callable[[Any], None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=config["client.id"], daemon=True)
        self._is_leaving = False
        self._fault: str | None = None
        self.subscribe(topics, pattern)

    def join(self) -> None:
        self._thread.start()

    def subscribe(self, topics: Sequence[str], pattern: str | None = None) -> None:
        java = self._jvm.java

        def _subscribe(consumer: Any) -> None:
            subscription = java.java.util.regex.Pattern.compile(pattern) if pattern else self._jvm.list(topics)
            consumer.subscribe(subscription)

        self._requests.put(_subscribe)

    def slow(self, ms: int) -> None:
        self._requests.put(lambda _: time.sleep(ms / 1000))

    def enforce_rebalance(self) -> None:
        self._requests.put(lambda consumer: consumer.enforceRebalance())

    def owned(self) -> list[str]:
        answers = queue.SimpleQueue[list[str]]()
        self._requests.put(lambda consumer: answers.put([str(p.toString()) for p in consumer.assignment()]))
        try:
            return sorted(answers.get(timeout=_TELLS_WITHIN))
        except queue.Empty:
            raise MemberFault(
                f"{self._config['client.id']} did not say within {_TELLS_WITHIN} s what it owns."
            ) from None

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """Go on from another offset."""
        self._requests.put(lambda consumer: consumer.seek(self._partition(topic, partition), offset))

    def hold(self, topic: str, partition: int) -> None:
        """Read a partition no further, and stay its owner."""
        self._requests.put(lambda consumer: consumer.pause(self._jvm.list([self._partition(topic, partition)])))

    def let_go(self, topic: str, partition: int) -> None:
        """Read a partition on that was held."""
        self._requests.put(lambda consumer: consumer.resume(self._jvm.list([self._partition(topic, partition)])))

    def pace(self, ms: int) -> None:
        """Take so long after each poll from now on."""
        self._pace_ms = ms

    def _partition(self, topic: str, partition: int) -> Any:
        return self._jvm.java.org.apache.kafka.common.TopicPartition(topic, partition)

    def leave(self) -> None:
        self._is_leaving = True
        self._thread.join(_LEAVES_WITHIN)
        if self._thread.is_alive():
            raise MemberFault(f"{self._config['client.id']} did not leave within {_LEAVES_WITHIN} s.")
        self._jvm.exit()
        if self._fault:
            raise MemberFault(f"{self._config['client.id']} could not leave: {self._fault}")

    def kill(self) -> None:
        self._is_leaving = True
        super().kill()

    def _run(self) -> None:
        try:
            consumer = self._consumer()
            try:
                self._poll(consumer)
            finally:  # A program that ends with an exception closes its consumer, too.
                consumer.close()
        except Py4JNetworkError:
            pass  # The process is gone: it was killed.
        except Py4JJavaError as error:
            self._fault = str(error.java_exception)
        except (Py4JError, OSError) as error:
            self._fault = None if self._is_leaving else str(error)

    def _poll(self, consumer: Any) -> None:
        patience = self._jvm.java.java.time.Duration.ofMillis(POLL_MS)
        while not self._is_leaving:
            while not self._requests.empty():
                self._requests.get()(consumer)
            records = consumer.poll(patience)
            if self._trace and not records.isEmpty():
                self._print(records, self._trace)
            self._jvm.forget(records)
            time.sleep(self._pace_ms / 1000)

    def _print(self, records: Any, trace: Path) -> None:
        """Write down what a poll brought."""
        now, lines = time.time_ns() // 1_000_000, list[str]()
        for partition in records.partitions():
            batch = records.records(partition)
            count = batch.size()
            first, last = batch.get(0), batch.get(count - 1)
            lines.append(f"{now} {READ} {partition.toString()} {first.offset()} {last.offset()} {count}\n")
            for reference in (first, last, batch, partition):
                self._jvm.forget(reference)
        with trace.open("a", encoding="utf-8") as file:
            file.writelines(lines)

    def _consumer(self) -> Any:
        return self._jvm.java.org.apache.kafka.clients.consumer.KafkaConsumer(self._settings())

    def _settings(self) -> Any:
        return self._jvm.map({"key.deserializer": _BYTES, "value.deserializer": _BYTES, **self._config})


class ProgramMember:
    """A consumer of another library in a program of its own (lab.drill.libraries); its stderr is its log.

    What it reads goes to its stdout.
    """

    def __init__(
        self,
        library: str,
        log: Path,
        config: Mapping[str, str],
        topics: Sequence[str],
        pattern: str | None = None,
        within: Sequence[str] = (),
        trace: Path | None = None,
    ) -> None:
        self._library = library
        self._config = config
        self._first = {"do": "join", "config": dict(config), "topics": _matching_topics(topics, pattern)}
        with log.open("ab") as stderr, (trace or Path(os.devnull)).open("ab") as stdout:
            self._process = processes.start(
                [*within, *libraries.program_of(library)],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                cwd=HOME,
                env={**os.environ, **libraries.ENVIRONMENT},
                text=True,
            )

    def join(self) -> None:
        self._tell(self._first)

    def subscribe(self, topics: Sequence[str], pattern: str | None = None) -> None:
        self._tell({"do": "subscribe", "topics": _matching_topics(topics, pattern)})

    def slow(self, ms: int) -> None:
        self._tell({"do": "slow", "ms": ms})

    def enforce_rebalance(self) -> None:
        raise MemberFault(f"{self._library} has no call that asks for a rebalance.")

    def owned(self) -> list[str]:
        raise MemberFault(f"The program of {self._library} does not say what it owns.")

    def leave(self) -> None:
        self._tell({"do": "leave"})
        try:
            if code := self._process.wait(_LEAVES_WITHIN):
                raise MemberFault(f"{self._config['client.id']} could not leave: exit code {code}, see its log.")
        except subprocess.TimeoutExpired:
            raise MemberFault(f"{self._config['client.id']} did not leave within {_LEAVES_WITHIN} s.") from None

    def kill(self) -> None:
        processes.kill(self._process)

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self.kill()

    def _tell(self, what: Mapping[str, Any]) -> None:
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise MemberFault(f"{self._config['client.id']} is gone: it ended by itself, see its log.") from None


def _matching_topics(topics: Sequence[str], pattern: str | None) -> list[str]:
    """For librdkafka a name that begins with ^ is a pattern."""
    return [f"^{pattern}"] if pattern else list(topics)
