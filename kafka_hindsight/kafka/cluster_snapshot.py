"""One reading of a cluster, assembled from the answers of a child process."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
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
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start.python_child import command_of, variables

RawReading = dict[str, Any]

AT_ONCE = 500
"""Groups, or topics, in one question: a coordinator can take as many open requests."""

_MOST_DEATHS = 6
_GRACE = 3.0
"""Seconds after a question's time-out before a silent child is ended."""

_READER = "kafka_hindsight.kafka.cluster_reader"
_HIDDEN_FROM_CHILD = ("AIRFLOW_CONN_", "AIRFLOW__")


class Unreachable(RuntimeError):
    """No broker answered. The text lists the errors; a retry may succeed."""


@dataclass
class Reply:
    """The answers to one question, and the reasons for missing ones."""

    answers: list[Any] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


class ReaderDied(RuntimeError):
    """The child ended, or was silent for too long. `reply` is the part that it had sent."""

    def __init__(self, why: str, reply: Reply) -> None:
        super().__init__(why)
        self.reply = reply


class Reader:
    """The child process, which is started again if it dies. It gets secrets only through its stdin."""

    def __init__(self, connection: Connection, module: str = _READER) -> None:
        self.connection = connection
        self.module = module
        self.deaths = 0
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def ask(self, question: str, of: Any, timeout: float) -> Reply:
        """Ask one question.

        Raises:
            ReaderDied: The child ended or was silent; with the answers before that.
            BadInput: The settings are refused.
        """
        if self.process is None:
            self._start()
        reply = Reply()
        try:
            self._send(json.dumps({"ask": question, "of": of, "timeout": timeout}))
            for line in self._lines(time.monotonic() + timeout + _GRACE):
                if "answer" in line:
                    reply.answers.append(line["answer"])
                elif "missing" in line:
                    reply.missing.append(line["missing"])
                elif "refused" in line:
                    raise BadInput(
                        f"{self.connection.name} was refused: {line['refused']}. Needed: settings that librdkafka and "
                        "the brokers accept. Correct them; a retry would find the same."
                    )
                else:
                    return reply
        except (EOFError, OSError, TimeoutError) as end:
            why = str(end) if isinstance(end, TimeoutError) else self._last_words()
            self.deaths += 1
            self._end()
            raise ReaderDied(why, reply) from None
        raise AssertionError("lines end with an error or a return")

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the child
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_HIDDEN_FROM_CHILD)}
        self.process = subprocess.Popen(
            command_of(self.module),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**environment, **variables()},
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
        """The child's lines. Raises: EOFError if it ended, TimeoutError if it is silent."""
        assert self.process and self.process.stdout
        pipe = self.process.stdout.fileno()
        while True:
            *lines, self._rest = self._rest.split(b"\n")
            yield from map(json.loads, lines)
            if not select.select([pipe], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the reader said nothing in time and was ended")
            chunk = os.read(pipe, 1 << 20)
            if not chunk:
                raise EOFError
            self._rest += chunk

    def _last_words(self) -> str:
        assert self.process
        code = self.process.wait()
        ending = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
        return self.connection.masked(": ".join([f"the reader ended {ending}", *words]))

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout):
                with suppress(OSError):
                    stream and stream.close()
            self.process.wait()
            self._errors.close()
            self.process = None


def take(connection: Connection, cluster: str | None = None, say: Callable[[str], None] = lambda _: None) -> RawReading:
    """Take one reading of a cluster, in the form of docs/design.md, section 7. `missing` says what did not answer.

    Args:
        connection: The cluster.
        cluster: Its name in the lake, if known.
        say: Shows a sentence of progress.

    Raises:
        Unreachable: No broker answers.
        BadInput: The settings are refused.
    """
    with Reader(connection) as reader:
        return _ReadingBuilder(reader, connection.timeout_ms / 1000, cluster, say).build()


class _ReadingBuilder:
    """One reading, part by part."""

    def __init__(self, reader: Reader, timeout: float, cluster: str | None, say: Callable[[str], None]) -> None:
        self.reader, self.timeout, self.say = reader, timeout, say
        self.reading: RawReading = {"at": datetime.now(UTC).isoformat(timespec="milliseconds")}
        if cluster:
            self.reading["cluster"] = cluster
        self.missing: list[dict[str, str]] = []

    def build(self) -> RawReading:
        """Ask for each part. A part that needs an earlier one is not asked for if that did not answer.

        Log starts and last stable offsets are asked before the committed offsets, ends after them: a committed offset
        lies between the two, unless something is wrong.
        """
        self._ask_topics()
        for tell in self._ask("brokers"):
            self.reading |= tell
        topics = self.reading["topics"]
        partitions = [(t["topic"], p["partition"]) for t in topics for p in t["partitions"] if p["leader"] >= 0]
        self._ask_offsets("begin_offsets", partitions)
        self._ask_offsets("stable_offsets", partitions)
        if groups := self._ask("groups"):
            self.reading["groups"] = self._groups(groups[0])
        self._ask_offsets("end_offsets", partitions)
        if configs := self._configs():
            self.reading["configs"] = configs
        if self.missing:
            self.reading["missing"] = self.missing
        return self.reading

    def _ask_offsets(self, question: str, partitions: Sequence[tuple[str, int]]) -> None:
        if offsets := self._ask(question, partitions):
            self.reading[question] = offsets[0]

    def _configs(self) -> list[Any]:
        """The settings of the brokers and topics that answered."""
        answers = self._ask("broker_configs", [b["id"] for b in self.reading["brokers"]], part="configs")
        for topics in _cut([t["topic"] for t in self.reading["topics"]], AT_ONCE):
            answers += self._ask("topic_configs", topics, part="configs")
        return list(chain.from_iterable(answers))

    def _ask_topics(self) -> None:
        answers = self._ask("topics")
        if not answers:
            reasons = "; ".join(m["reason"] for m in self.missing)
            raise Unreachable(
                f"No broker of {self.reader.connection.name} answered within {self.timeout:g} s. Tried: {reasons}. "
                "Needed: one broker that answers. Check the address, the security protocol, and that they run."
            )
        self.reading |= answers[0]
        partitions = sum(len(t["partitions"]) for t in answers[0]["topics"])
        self.say(f"{len(answers[0]['brokers'])} brokers, {len(answers[0]['topics'])} topics, {partitions:,} partitions")

    def _ask(self, question: str, of: Any = None, part: str | None = None) -> list[Any]:
        """The answers to a question, which is asked again if the reader dies the first time."""
        why = ""
        for _ in range(2):
            if self.reader.deaths > _MOST_DEATHS:
                break
            try:
                reply = self.reader.ask(question, of, self.timeout)
            except ReaderDied as death:
                why = str(death)
                self.say(f"{part or question}: {why}")
                continue
            self._add_missing(part or question, reply.missing)
            return reply.answers
        self._add_missing(part or question, [why or f"not asked: the reader died {self.reader.deaths} times"])
        return []

    def _groups(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Every group with its members and committed offsets; a group that ended the reader has an error."""
        self.say(f"{len(names):,} groups")
        described, died = self._ask_in_pieces("members", names)
        described |= {name: {"group": name, "error": why} for name, why in died.items()}
        committed, died = self._ask_in_pieces("committed", names)
        self._add_missing("committed", [f"{name}: {why}" for name, why in died.items()])
        return [{**described.get(n, {"group": n, "error": "not answered"}), **committed.get(n, {})} for n in names]

    def _ask_in_pieces(self, question: str, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
        """Ask about groups, in ever smaller pieces if the reader dies, until one group alone is to blame.

        Returns:
            Answers by group, and the errors of the groups that ended the reader.
        """
        answers: dict[str, Any] = {}
        died: dict[str, str] = {}
        waiting = list(_cut(names, AT_ONCE))
        while waiting:
            batch = waiting.pop(0)
            if self.reader.deaths > _MOST_DEATHS:
                died |= dict.fromkeys(batch, f"not asked: the reader died {self.reader.deaths} times")
                continue
            try:
                reply = self.reader.ask(question, batch, self.timeout)
            except ReaderDied as death:
                reply = death.reply
                unanswered = [n for n in batch if n not in {t["group"] for t in reply.answers}]
                self.say(f"{question}: {death}; {len(unanswered)} groups are asked again")
                if len(unanswered) == 1:
                    died[unanswered[0]] = str(death)
                else:
                    waiting[:0] = _cut(unanswered, max(1, len(unanswered) // 5))
            answers |= {t["group"]: t for t in reply.answers}
            self._add_missing(question, reply.missing)
        return answers, died

    def _add_missing(self, part: str, reasons: Sequence[str]) -> None:
        self.missing += [{"part": part, "reason": reason} for reason in reasons]


def _cut(things: Sequence[Any], size: int) -> Iterator[list[Any]]:
    return (list(things[n : n + size]) for n in range(0, len(things), size))


def summary(reading: Mapping[str, Any]) -> list[str]:
    """A summary of a reading, in sentences."""
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
    sentences = [
        f"Cluster {reading.get('cluster_id') or 'unknown'} at {reading['at']}: {', '.join(counts)}",
        f"Without a leader: {sum(p['leader'] < 0 for p in partitions)}. "
        f"Under-replicated: {sum(len(p['isr']) < len(p['replicas']) for p in partitions)}",
    ]
    sentences += [f"Missing, {m['part']}: {m['reason']}" for m in reading.get("missing", ())]
    if silent:
        sentences.append(f"Groups that did not answer: {len(silent)} ({', '.join(silent[:3])})")
    return sentences
