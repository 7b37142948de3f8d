"""Which log statements of Kafka's source are read: `python -m tools.kafka_statements PLACE... [--list] [--page FILE]`.

A place is REPOSITORY@TAG, a tag of a clone of Kafka, or a folder with Kafka's sources that its version names. The tool
takes every statement of INFO and above in the classes that have patterns. A statement is read where a known sample can
be a line of it, or where a line of it with plausible values is an event or noise. docs/versions.md is written by it.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, product
from pathlib import Path, PurePosixPath

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.layouts import class_of
from kafka_hindsight.knowledge.patterns import RELEVANT_CLASSES
from kafka_hindsight.logs.plain_reader import read_line
from tools.pages.markdown import as_table, code, page
from tools.pages.samples import captured

STATE_CHANGES = "state.change.logger"

LOGS_AS = {
    "AbstractCoordinator": "ConsumerCoordinator",
    "AbstractFetcherThread": "ReplicaFetcherThread",
    "AbstractHeartbeatRequestManager": "ConsumerHeartbeatRequestManager",
    "AbstractMembershipManager": "ConsumerMembershipManager",
    "Kafka": "Kafka$",
    "ShutdownableThread": "ReplicaFetcherThread",
}
"""Sources whose lines another class writes, unless they name themselves: one that extends them, or a Scala object."""

_MODULES = "core|clients|metadata|raft|server|server-common|storage|group-coordinator|coordinator-common"
_SOURCE = re.compile(rf"(?:(?:{_MODULES})/(?:\w+/)?src/main/(?:java|scala)/)?(?:org/apache/)?kafka/.*\.(?:java|scala)")
_CALL = re.compile(
    r"(?<![\w.])(?<!def )(?P<logger>(?:this\.)?(?:log|logger|LOG|LOGGER)\.|"
    r"\w*tateChangeLog\w*(?:\.with\w+\([^()]*\))?\.|)(?:info|warn|error|fatal)\("
)
_BRACES = r"\$\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
_TOKEN = re.compile(
    rf'(?P<literal>[sf]?(?:"""(?:.*?)"""|"(?:{_BRACES}|[^"\\]|\\.)*"))'
    r"|'(?:[^'\\]|\\.)'|//[^\n]*|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)",
    re.DOTALL,
)
_GLUE = re.compile(r"[\s+.]*(?:stripMargin|format)?[\s.+]*")
_FORMAT = re.compile(r"\s*String\.format\(")
_VALUE = re.compile(rf"({_BRACES}|\$\w+)|\{{\}}|%(?:\d+\$)?[-.\d]*[a-z]")
_HEAD = re.compile(r"\[[^\]]*\]:? ")
_HOLE = "\0"
_FEWEST_LETTERS = 4
"""A statement with fewer letters of its own says only what its values say."""

_FEWEST_TO_FIT = 12
"""Letters that a statement with values needs, so that a line that fits it is its own."""

_MOST_RENDERED = 400
_CONSUMER = "[Consumer clientId=c-1, groupId=g] "
_VALUES = (
    (r"member", "c-1-0f8fad5b-d9cb-469f-a165-70867728950e"),
    (r"instance", "i-1"),
    (r"partition|\btp\b|assign", "orders-3"),
    (r"isr|replicas|brokers", "1,2"),
    (r"coordinator|node|endpoint", "127.0.0.1:9092 (id: 2 rack: null)"),
    (r"heartbeatRequestName", "ConsumerGroupHeartbeatRequest"),
    (r"^\s*record$", "UnregisterBrokerRecord(brokerId=2, brokerEpoch=5)"),
    (r"^\s*msg$", "Failed to compute a new target assignment for epoch 5: no member"),
    (r"state", "STARTING"),
    (r"topic", "orders"),
    (r"", "5"),
    (r"", "some words"),
)
"""Plausible values, each with what the name of a value must hold."""


@dataclass(frozen=True)
class Statement:
    """One log statement: the class that writes it, its text with NUL for each value, and the names of the values."""

    name: str
    text: str
    values: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """The text, with <> for each value."""
        return self.text.replace(_HOLE, "<>")

    @property
    def letters(self) -> int:
        """The number of letters outside of values."""
        return sum(c.isalpha() for c in self.text)

    @property
    def line(self) -> re.Pattern[str]:
        """A pattern that matches each message of the statement, with or without a head in brackets."""
        pieces = (r"\s+".join(map(re.escape, re.split(r"\s+", piece))) for piece in self.text.strip().split(_HOLE))
        return re.compile(rf"(?:{_HEAD.pattern})?" + ".*".join(pieces), re.DOTALL)

    def rendered(self) -> Iterator[str]:
        """Possible messages of the statement, some hundreds at most."""
        pieces = self.text.strip().split(_HOLE)
        for values in islice(product(*map(_values_of, self.values)), _MOST_RENDERED):
            yield "".join(map("".join, zip(pieces, (*values, ""), strict=True)))


@cache
def _values_of(name: str) -> tuple[str, ...]:
    return tuple(value for words, value in _VALUES if re.search(words, name, re.IGNORECASE))[:4]


def statements_of(name: str, source: str) -> Iterator[Statement]:
    """The log statements of INFO and above in the source of a class, without those that have hardly any words."""
    extending = name if f"({name}.class)" in source else LOGS_AS.get(name, name)
    for call in _CALL.finditer(source):
        writer = STATE_CHANGES if "tateChange" in call["logger"] else extending
        if writer in RELEVANT_CLASSES:
            pieces = list(_pieces(_arguments(source, call.end())))
            text = "".join(_HOLE if is_value else piece for piece, is_value in pieces)
            statement = Statement(writer, text, tuple(piece for piece, is_value in pieces if is_value))
            if statement.letters >= _FEWEST_LETTERS:
                yield statement


def _arguments(source: str, start: int) -> list[str]:
    """The arguments of a call that starts after its opening parenthesis."""
    depth, arguments, begin = 0, [], start
    for token in _TOKEN.finditer(source, start):
        if (token["comma"] or token["close"]) and depth == 0:
            arguments.append(source[begin : token.start()])
            begin = token.end()
        if token["close"] and depth == 0:
            break
        depth += bool(token["open"]) - bool(token["close"])
    return arguments


def _pieces(arguments: list[str]) -> Iterator[tuple[str, bool]]:
    """The parts of a message: words (False) and names of values (True), never two values in a row."""
    if call := _FORMAT.match(arguments[0]):
        arguments = _arguments(arguments[0], call.end())
    after_value = False
    for piece, is_value in _all_pieces(arguments[0], arguments[1:]):
        if piece and not (is_value and after_value):
            yield piece, is_value
        after_value = is_value if piece else after_value


def _all_pieces(message: str, names: list[str]) -> Iterator[tuple[str, bool]]:
    depth = at = 0
    for token in _TOKEN.finditer(message):
        between, at = message[at : token.start()], token.end()
        if depth == 0 and not _GLUE.fullmatch(between):
            yield between, True
        if depth == 0 and token["literal"]:
            yield from _of_literal(token["literal"], names)
        elif depth == 0 and token["open"] and "format" not in between:
            yield "(", True
        depth += bool(token["open"]) - bool(token["close"])
    if not _GLUE.fullmatch(message, at):
        yield message[at:], True


def _of_literal(literal: str, names: list[str]) -> Iterator[tuple[str, bool]]:
    """The words of a literal and the names of its values; an unnamed value takes the next of `names`."""
    words = re.sub(r"\n\s*\|?", " ", literal.lstrip("sf").strip('"')).replace('\\"', '"')
    words, at = re.sub(r"\\[nt]", " ", words), 0
    for value in _VALUE.finditer(words):
        if literal[0] in "sf" or not value[1]:
            yield words[at : value.start()], False
            yield value[1] or (names.pop(0) if names else "?"), True
            at = value.end()
    yield words[at:], False


@cache
def _messages_by_class() -> Mapping[str, Sequence[str]]:
    """The messages of the samples, by the class that logs them."""
    messages = defaultdict[str, list[str]](list)
    for record in map(read_line, (c.record for c in captured() if c.shows)):
        messages[class_of(record.logger or "").removesuffix("$")].append(record.message)
    return messages


def is_read(statement: Statement) -> bool:
    """Whether a line of the statement is an event or noise."""
    messages = _messages_by_class().get(statement.name.removesuffix("$"), ())
    is_telling = not statement.values or statement.letters >= _FEWEST_TO_FIT
    if is_telling and any(map(statement.line.fullmatch, messages)):
        return True
    heads = {"", _CONSUMER, *(m[0] for m in map(_HEAD.match, messages) if m)}
    logger = statement.name if statement.name == STATE_CHANGES else f"kafka.{statement.name}"
    lines = (f"{head}{message} ({logger})" for message in statement.rendered() for head in sorted(heads))
    fates = (read_line(f"[2026-11-22 10:00:00,000] INFO {line}").reading.fate for line in lines)
    return any(fate in (LineFate.EVENT, LineFate.IGNORED) for fate in fates)


def sources_of(place: str) -> Iterator[tuple[str, str]]:
    """The name and the source of each of Kafka's classes, at a tag or in a folder."""
    repository, at, tag = place.rpartition("@")
    if not at:
        for path in sorted(Path(place).rglob("*")):
            if _SOURCE.fullmatch(path.relative_to(place).as_posix()):
                yield path.stem, path.read_text(encoding="utf-8")
        return
    command = ["git", "-C", repository, "archive", "--format=tar", tag]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            if _SOURCE.fullmatch(member.name) and (file := archive.extractfile(member)):
                yield PurePosixPath(member.name).stem, file.read().decode()


def page_of(by_version: Mapping[str, Set[Statement]], unread: Set[Statement]) -> str:
    """The text of docs/versions.md: what is read, by version and class, and each statement that is not.

    Args:
        by_version: The statements by Kafka version, the oldest first.
        unread: The statements that are not read.
    """
    names = sorted({s.name for statements in by_version.values() for s in statements})
    shares = [
        (version, str(len(statements)), str(len(statements & unread)), _share(statements, unread))
        for version, statements in by_version.items()
    ]
    rows = [
        (code(name), *(_cell({s for s in statements if s.name == name}, unread) for statements in by_version.values()))
        for name in names
    ]
    exceptions = [
        (
            code(s.name),
            code(str(s)),
            ", ".join(version for version, statements in by_version.items() if s in statements),
        )
        for s in _in_order(unread)
    ]
    parts = (
        "Which log statements of each Kafka version are read: those of INFO and above in the classes whose lines"
        " matter. A statement is read if its lines are events, or known to carry nothing we use"
        " ([patterns](patterns.md)).",
        as_table(("Kafka", "Statements", "Not read", "Share read"), shares),
        "## By class",
        "How many statements a class has in each version, and how many of them are read where not all are.",
        as_table(("Class", *by_version), rows),
        "## What is not read",
        as_table(("Class", "Statement", "Kafka"), exceptions) if exceptions else "Each statement is read.",
    )
    return page("Versions", "Kafka's source", parts, "python -m tools.kafka_statements")


def _share(statements: Set[Statement], unread: Set[Statement]) -> str:
    return f"{len(statements - unread) / len(statements):.1%}"


def _cell(statements: Set[Statement], unread: Set[Statement]) -> str:
    unread_count = len(statements & unread)
    return f"{len(statements) - unread_count} of {len(statements)}" if unread_count else str(len(statements) or "")


def _in_order(statements: Iterable[Statement]) -> list[Statement]:
    return sorted(statements, key=lambda s: (s.name, s.text))


def main(arguments: Sequence[str]) -> int:
    """Print the figures of each version, with `--list` what is not read; write the page with `--page`."""
    parser = argparse.ArgumentParser(prog="python -m tools.kafka_statements", description="Statements that are read.")
    parser.add_argument("places", nargs="+", metavar="PLACE", help="REPOSITORY@TAG, or a folder of sources")
    parser.add_argument("--list", action="store_true", help="name what is not read")
    parser.add_argument("--page", type=Path, help="write docs/versions.md here")
    options = parser.parse_args(arguments)
    statements = {
        re.split("[@/]", place)[-1]: {s for name, text in sources_of(place) for s in statements_of(name, text)}
        for place in options.places
    }
    unread = frozenset(s for s in set().union(*statements.values()) if not is_read(s))
    for version, of_version in statements.items():
        print(f"{version:10} {len(of_version):4} statements, {len(of_version & unread):3} not read")
    for statement in _in_order(unread) if options.list else ():
        print(f"{statement.name}: {statement}")
    if options.page:
        options.page.write_text(page_of(statements, unread), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
