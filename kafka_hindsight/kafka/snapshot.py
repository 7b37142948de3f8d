"""One reading of a cluster, put together from what a child process hands over."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from types import TracebackType
from typing import Any, Self

from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.settings.home import HOME, PYTHON_PATH
from kafka_hindsight.shared.exits import BadInput

Reading = dict[str, Any]

AT_ONCE = 500
"""Groups, or topics, in one question: a coordinator can bear as many open requests."""

_MOST_DEATHS = 6
_GRACE = 3.0
"""Beyond a question's time-out, before a child that says nothing is given up."""

_READER = "kafka_hindsight.kafka.cluster_reader"
_HIDDEN_FROM_CHILD = ("AIRFLOW_CONN_", "AIRFLOW__")


class Unreachable(RuntimeError):
    """No broker answered. The text says what was tried; a retry may succeed."""


@dataclass
class Answer:
    """What one question brought: answers, and why others are not there."""

    tells: list[Any] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


class ReaderDied(RuntimeError):
    """The child ended, or was silent for too long. `answer` is what it had sent."""

    def __init__(self, why: str, answer: Answer) -> None:
        super().__init__(why)
        self.answer = answer


class Reader:
    """The child process, started again where it died. Secrets go through its stdin alone."""

    def __init__(self, connection: Connection, module: str = _READER) -> None:
        self.connection = connection
        self.module = module
        self.deaths = 0
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def ask(self, question: str, of: Any, timeout: float) -> Answer:
        """Asks one question.

        Raises: ReaderDied with what was answered before; BadInput where the settings are refused.
        """
        if self.process is None:
            self._start()
        answer = Answer()
        try:
            self._send(json.dumps({"ask": question, "of": of, "timeout": timeout}))
            for line in self._lines(time.monotonic() + timeout + _GRACE):
                if "tell" in line:
                    answer.tells.append(line["tell"])
                elif "missing" in line:
                    answer.missing.append(line["missing"])
                elif "refused" in line:
                    raise BadInput(
                        f"{self.connection.name} was refused: {line['refused']}. Needed: settings that librdkafka and "
                        "the brokers accept. Correct them; a retry would find the same."
                    )
                else:
                    return answer
        except (EOFError, OSError, TimeoutError) as end:
            why = str(end) if isinstance(end, TimeoutError) else self._last_words()
            self.deaths += 1
            self._end()
            raise ReaderDied(why, answer) from None
        raise AssertionError("lines end with an error or a return")

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_HIDDEN_FROM_CHILD)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**environment, "PYTHONPATH": PYTHON_PATH},
            cwd=HOME,
        )
        self._rest = b""
        with suppress(OSError):
            self._send(self.connection.to_json())

    def _send(self, line: str) -> None:
        assert self.process and self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def _lines(self, until: float) -> Iterator[dict[str, Any]]:
        """What the child says, line by line. Raises: EOFError where it ended, TimeoutError where it says nothing."""
        assert self.process and self.process.stdout
        pipe = self.process.stdout.fileno()
        while True:
            *whole, self._rest = self._rest.split(b"\n")
            yield from map(json.loads, whole)
            if not select.select([pipe], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the reader said nothing in time and was ended")
            read = os.read(pipe, 1 << 20)
            if not read:
                raise EOFError
            self._rest += read

    def _last_words(self) -> str:
        assert self.process
        code = self.process.wait()
        ended = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return self.connection.masked(": ".join([f"the reader ended {ended}", *words]))

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout):
                with suppress(OSError):
                    stream and stream.close()
            self.process.wait()
            self._errors.close()
            self.process = None


def take(connection: Connection, cluster: str | None = None, say: Callable[[str], None] = lambda _: None) -> Reading:
    """One reading of a cluster, as docs/design.md section 7 has it. What did not answer is under `missing`, with why.

    Takes: the name of the cluster in the lake, where it is known; who shows the progress.
    Raises: Unreachable where no broker answers; BadInput where the settings are refused.
    """
    with Reader(connection) as reader:
        return _Taking(reader, connection.timeout_ms / 1000, cluster, say).reading()


class _Taking:
    """One reading as it grows."""

    def __init__(self, reader: Reader, timeout: float, cluster: str | None, say: Callable[[str], None]) -> None:
        self.reader, self.timeout, self.say = reader, timeout, say
        self.found: Reading = {"at": datetime.now(UTC).isoformat(timespec="milliseconds")}
        if cluster:
            self.found["cluster"] = cluster
        self.missing: list[dict[str, str]] = []

    def reading(self) -> Reading:
        """Asks part by part; what a later part needs of an earlier one that did not answer is not asked."""
        self._reach()
        for tell in self._whole("brokers"):
            self.found |= tell
        topics = self.found["topics"]
        led = [(t["topic"], p["partition"]) for t in topics for p in t["partitions"] if p["leader"] >= 0]
        if offsets := self._whole("end_offsets", led):
            self.found["end_offsets"] = offsets[0]
        if listed := self._whole("groups"):
            self.found["groups"] = self._groups(listed[0])
        if configs := self._configs():
            self.found["configs"] = configs
        if self.missing:
            self.found["missing"] = self.missing
        return self.found

    def _configs(self) -> list[Any]:
        """The settings of brokers and topics, as far as they answered."""
        answers = self._whole("broker_configs", [b["id"] for b in self.found["brokers"]], part="configs")
        for some in _cut([t["topic"] for t in self.found["topics"]], AT_ONCE):
            answers += self._whole("topic_configs", some, part="configs")
        return list(chain.from_iterable(answers))

    def _reach(self) -> None:
        told = self._whole("topics")
        if not told:
            tried = "; ".join(m["reason"] for m in self.missing)
            raise Unreachable(
                f"No broker of {self.reader.connection.name} answered within {self.timeout:g} s. Tried: {tried}. "
                "Needed: one broker that answers. Check the address, the security protocol, and that they run."
            )
        self.found |= told[0]
        partitions = sum(len(t["partitions"]) for t in told[0]["topics"])
        self.say(f"{len(told[0]['brokers'])} brokers, {len(told[0]['topics'])} topics, {partitions:,} partitions")

    def _whole(self, question: str, of: Any = None, part: str | None = None) -> list[Any]:
        """The answers to a question that is put as a whole, twice where the reader dies of it the first time."""
        why = ""
        for _ in range(2):
            if self.reader.deaths > _MOST_DEATHS:
                break
            try:
                answer = self.reader.ask(question, of, self.timeout)
            except ReaderDied as death:
                why = str(death)
                self.say(f"{part or question}: {why}")
                continue
            self._lack(part or question, answer.missing)
            return answer.tells
        self._lack(part or question, [why or f"not asked: the reader died {self.reader.deaths} times"])
        return []

    def _groups(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Every group with its members and committed offsets; one that ended the reader has an error."""
        self.say(f"{len(names):,} groups")
        described, died = self._each("members", names)
        described |= {name: {"group": name, "error": why} for name, why in died.items()}
        committed, died = self._each("committed", names)
        self._lack("committed", [f"{name}: {why}" for name, why in died.items()])
        return [{**described.get(n, {"group": n, "error": "not answered"}), **committed.get(n, {})} for n in names]

    def _each(self, question: str, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
        """The description of each group. Gives: answers by group; those that ended the reader, with why.

        A question of which the reader dies is put again in ever smaller pieces, until one group alone is to blame.
        """
        told: dict[str, Any] = {}
        died: dict[str, str] = {}
        waiting = list(_cut(names, AT_ONCE))
        while waiting:
            some = waiting.pop(0)
            if self.reader.deaths > _MOST_DEATHS:
                died |= dict.fromkeys(some, f"not asked: the reader died {self.reader.deaths} times")
                continue
            try:
                answer = self.reader.ask(question, some, self.timeout)
            except ReaderDied as death:
                answer = death.answer
                left = [n for n in some if n not in {t["group"] for t in answer.tells}]
                self.say(f"{question}: {death}; {len(left)} groups are asked again")
                if len(left) == 1:
                    died[left[0]] = str(death)
                else:
                    waiting[:0] = _cut(left, max(1, len(left) // 5))
            told |= {t["group"]: t for t in answer.tells}
            self._lack(question, answer.missing)
        return told, died

    def _lack(self, part: str, reasons: Sequence[str]) -> None:
        self.missing += [{"part": part, "reason": reason} for reason in reasons]


def _cut(things: Sequence[Any], size: int) -> Iterator[list[Any]]:
    return (list(things[n : n + size]) for n in range(0, len(things), size))


def summary(reading: Mapping[str, Any]) -> list[str]:
    """A reading for people, a sentence each."""
    partitions = [p for t in reading.get("topics", ()) for p in t["partitions"]]
    groups = reading.get("groups", ())
    silent = [g["group"] for g in groups if "error" in g]
    counts = (
        f"{len(reading.get('brokers', ()))} brokers",
        f"{len(reading.get('topics', ())):,} topics",
        f"{len(partitions):,} partitions",
        f"{len(groups):,} groups",
        f"{sum(len(g.get('members', ())) for g in groups):,} members",
    )
    said = [
        f"Cluster {reading.get('cluster_id') or 'unknown'} at {reading['at']}: {', '.join(counts)}",
        f"Without a leader: {sum(p['leader'] < 0 for p in partitions)}. "
        f"Under-replicated: {sum(len(p['isr']) < len(p['replicas']) for p in partitions)}",
    ]
    said += [f"Missing, {m['part']}: {m['reason']}" for m in reading.get("missing", ())]
    if silent:
        said.append(f"Groups that did not answer: {len(silent)} ({', '.join(silent[:3])})")
    return said
