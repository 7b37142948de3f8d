"""Which log statements of Kafka are read, by its released jars: `python -m lab.statements OLD NEW`, or `--page FILE`.

OLD and NEW are versions that a drill can start, or folders of jars named after their version. The tool lists what NEW
logs and OLD does not, and no pattern reads: statements of INFO and above in the classes that have patterns. A statement
is read where a known sample can be a line of it, or where a line of it with plausible values is an event or noise.
docs/versions.md is written by it. It needs javap, which a JDK has.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path
from types import MappingProxyType

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.knowledge.layouts import class_of
from kafka_hindsight.knowledge.patterns import RELEVANT_CLASSES
from lab.drill.jars import VERSIONS, libs
from tools.pages.markdown import as_table, code, page
from tools.pages.samples import captured
from tools.plain_reader import read_line

STATE_CHANGES = "state.change.logger"

LOGS_AS = {
    "AbstractCoordinator": "ConsumerCoordinator",
    "AbstractFetcherThread": "ReplicaFetcherThread",
    "AbstractHeartbeatRequestManager": "ConsumerHeartbeatRequestManager",
    "AbstractMembershipManager": "ConsumerMembershipManager",
    "Kafka": "Kafka$",
    "ShutdownableThread": "ReplicaFetcherThread",
}
"""Classes whose lines another class writes, unless they name themselves: one that extends them, or a Scala object."""

_CLASS = re.compile(r"(?:org/apache/)?kafka/.*\.class")
_UTF8, _SIZES = (
    1,
    {7: 2, 8: 2, 15: 3, 16: 2, 19: 2, 20: 2, 5: 8, 6: 8} | dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
)
"""The bytes of each constant of a class file behind its tag. Source: JVMS 4.4."""

_INSTRUCTION = re.compile(r"^ +\d+: \w+ .*?// (\w+) (.*)$", re.MULTILINE)
_BOOTSTRAP = re.compile(
    r"^  (?P<index>\d+): #\d+ REF_.*\n    Method arguments:\n"
    r"(?:.*Object;\n(?=.*REF_))?      #\d+ (?:REF_\w+ )?(?P<first>.*)",
    re.MULTILINE,
)
_LOGGER = re.compile(r".*(?:/|L)(?:Logger|StateChangeLogger);")
_CALL = re.compile(r"(?:(?P<of>\S+)\.)?(?P<level>info|warn|error|fatal|debug|trace):\((?P<takes>\S*)\)V")
_LAMBDA = "Lscala/Function0;"
_VALUE = re.compile(r"\x01+|\{\}|%(?:\d+\$)?[-.\d]*[a-z]")
_HEAD = re.compile(r"\[[^\]]*\]:? ")
_HOLE = "\0"
_FEWEST_LETTERS = 4
"""A statement with fewer letters of its own says only what its values say."""

_FEWEST_TO_FIT = 12
"""Letters that a statement with values needs, so that a line that fits it is its own."""

_MOST_RENDERED = 2_000
_CONSUMER = "[Consumer clientId=c-1, groupId=g] "
_VALUES = (
    "5",
    "some words",
    "orders-3",
    "[sink-a-0]",
    "i-1",
    "c-1-0f8fad5b-d9cb-469f-a165-70867728950e",
    "1,2",
    "127.0.0.1:9092 (id: 2 rack: null)",
    "ConsumerGroupHeartbeatRequest",
    "UnregisterBrokerRecord(brokerId=2, brokerEpoch=5)",
    "Failed to compute a new target assignment for epoch 5: no member",
    "STARTING",
)
"""Plausible values."""


@dataclass(frozen=True)
class LogStatement:
    """One log statement: the class that writes it, and its text with NUL for each value."""

    name: str
    text: str

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
        """Possible messages of the statement."""
        pieces = self.text.strip().split(_HOLE)
        for values in islice(product(_VALUES, repeat=len(pieces) - 1), _MOST_RENDERED):
            yield "".join(map("".join, zip(pieces, (*values, ""), strict=True)))


def statements_of(place: str) -> Set[LogStatement]:
    """The log statements of INFO and above of a Kafka, without those that have hardly any words."""
    jars = sorted((libs(place) if place in VERSIONS else Path(place)).glob("*.jar"))
    blanks = dict(found for jar in jars for found in _classes_in(jar))
    names = sorted(path.replace("/", ".") for path in blanks)
    command = ["javap", "-p", "-c", "-v", "-cp", ":".join(map(str, jars)), *names]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = (LogStatement(*s) for of_class in printed.split("\nClassfile ") for s in logged_in(of_class, blanks))
    return {s for s in found if s.name in RELEVANT_CLASSES and s.letters >= _FEWEST_LETTERS}


def _classes_in(jar: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The classes of a jar that have patterns or may log state changes, each with the blanks that end its texts."""
    with zipfile.ZipFile(jar) as archive:
        for path in filter(_CLASS.fullmatch, archive.namelist()):
            name, data = _simple(path.removesuffix(".class")), archive.read(path)
            if name in RELEVANT_CLASSES or name in LOGS_AS or b"StateChangeLogger" in data:
                texts = (text for text in texts_in(data) if text.endswith(" "))
                yield path.removesuffix(".class"), {t.rstrip(" "): " " * (len(t) - len(t.rstrip(" "))) for t in texts}


def texts_in(data: bytes) -> Iterator[str]:
    """The texts of a class file's constant pool: javap prints them without the blanks at their ends."""
    at, index = 10, 1
    while index < int.from_bytes(data[8:10], "big"):
        tag, size = data[at], int.from_bytes(data[at + 1 : at + 3], "big")
        if tag == _UTF8:
            yield data[at + 3 : at + 3 + size].decode("utf-8", "replace")
        at += 3 + size if tag == _UTF8 else 1 + _SIZES[tag]
        index += 2 if tag in (5, 6) else 1


def _simple(path: str) -> str:
    return path.rpartition("/")[2].partition("$")[0]


def logged_in(
    printed: str, blanks: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> Iterator[tuple[str, str]]:
    """The log statements of a class as javap prints it: the name of each one's logger, and its text.

    `blanks`: by class, those that follow a text.
    """
    code_of, _, bootstraps = printed.partition("\nBootstrapMethods:\n")
    constants = {m["index"]: m["first"] for m in _BOOTSTRAP.finditer(bootstraps)}
    full = re.search(r"\n  this_class: #\d+ +// (\S+)", code_of)
    path = full[1] if full else ""
    own = blanks.get(path, {})
    methods = [_Method(m, constants, own) for m in re.split(r"\n(?=  \S.*;\n    descriptor:)", code_of)[1:]]
    returned = {m.name: m.text for m in methods}
    names_itself = f"// class {path}\n" in code_of.partition("\n{")[2]
    writer = _simple(path) if names_itself else LOGS_AS.get(_simple(path), _simple(path))
    for logger, text, of_lambda in (call for m in methods for call in m.calls):
        yield (
            STATE_CHANGES if logger.endswith("StateChangeLogger") else writer,
            returned[of_lambda] if of_lambda else text,
        )


class _Method:
    """A method as javap prints it. `calls`: logger, text and lambda of each log call; `text`: what it may return."""

    def __init__(self, printed: str, constants: Mapping[str, str], blanks: Mapping[str, str]) -> None:
        """Walk over the instructions; what lies between a logger's push and its call is the message and its values."""
        self.name = printed.partition("(")[0].rpartition(" ")[2]
        self.calls: list[tuple[str, str, str]] = []
        self.text = word = built = ""
        lambdas: list[str] = []
        for what, on in (m.groups() for m in _INSTRUCTION.finditer(printed)):
            constant = constants.get(on[1:].partition(":")[0], "") if what == "InvokeDynamic" else ""
            if what == "String":
                self._add(_plain(on, blanks))
            elif "makeConcatWithConstants:" in on:
                self._add(_plain(constant, blanks))
            elif constant and on.endswith(_LAMBDA):
                lambdas.append(constant.partition(":")[0].rpartition(".")[2])
            elif 'java/lang/StringBuilder."<init>"' in on:
                built = ""
            elif "java/lang/StringBuilder.append:" in on:
                built += word or _HOLE
                self._add(built)
            elif _LOGGER.fullmatch(on):
                self.text = ""
            elif call := _CALL.fullmatch(on):
                of_lambda = lambdas[-call["takes"].count(_LAMBDA)] if lambdas and _LAMBDA in call["takes"] else ""
                if call["level"] not in ("debug", "trace") and (self.text or of_lambda):
                    self.calls.append((call["of"] or "", self.text, of_lambda))
                self.text, lambdas = "", []
            word = _plain(on, blanks) if what == "String" else ""

    def _add(self, text: str) -> None:
        """Keep the text with values, else the one with the most words: the others are values of it."""
        letters = sum(map(str.isalpha, self.text))
        if text.startswith(self.text) or (_HOLE not in self.text and sum(map(str.isalpha, text)) > letters):
            self.text = text


def _plain(constant: str, blanks: Mapping[str, str]) -> str:
    """A string of the constant pool, as javap prints it, with NUL for each value and blanks as they are logged."""
    text = constant.encode("latin-1", "backslashreplace").decode("unicode_escape")
    text += blanks.get(text, "")
    return re.sub(rf"{_HOLE}+", _HOLE, _VALUE.sub(_HOLE, re.sub(r"\s*\n\s*\|?", " ", text)))


@cache
def _messages_by_class() -> Mapping[str, Sequence[str]]:
    """The messages of the samples, by the class that logs them."""
    messages = defaultdict[str, list[str]](list)
    for record in map(read_line, (c.record for c in captured() if c.shows)):
        messages[class_of(record.logger or "").removesuffix("$")].append(record.message)
    return messages


def is_read(statement: LogStatement) -> bool:
    """Whether a line of the statement is an event or noise."""
    messages = _messages_by_class().get(statement.name.removesuffix("$"), ())
    is_telling = _HOLE not in statement.text or statement.letters >= _FEWEST_TO_FIT
    if is_telling and any(map(statement.line.fullmatch, messages)):
        return True
    heads = {"", _CONSUMER, *(m[0] for m in map(_HEAD.match, messages) if m)}
    logger = statement.name if statement.name == STATE_CHANGES else f"kafka.{statement.name}"
    lines = (f"{head}{message} ({logger})" for message in statement.rendered() for head in sorted(heads))
    fates = (read_line(f"[2026-11-22 10:00:00,000] INFO {line}").reading.fate for line in lines)
    return any(fate in (LineFate.EVENT, LineFate.IGNORED) for fate in fates)


def page_of(by_version: Mapping[str, Set[LogStatement]], unread: Set[LogStatement]) -> str:
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
        "Until 3.9 most classes are Scala's, which joins a text from parts: some are cut here, and count as not read.",
        "The old Scala consumer (`ZookeeperConsumerConnector`, until Kafka 1.1) is not read: it keeps its groups and"
        " offsets in ZooKeeper, and brokers write no line of its rebalances.",
        as_table(("Kafka", "Statements", "Not read", "Share read"), shares),
        "## By class",
        "How many statements a class has in each version, and how many of them are read where not all are.",
        as_table(("Class", *by_version), rows),
        "## What is not read",
        as_table(("Class", "Statement", "Kafka"), exceptions) if exceptions else "Each statement is read.",
    )
    return page("Versions", "Kafka's released jars", parts, "python -m lab.statements")


def _share(statements: Set[LogStatement], unread: Set[LogStatement]) -> str:
    return f"{len(statements - unread) / len(statements):.1%}"


def _cell(statements: Set[LogStatement], unread: Set[LogStatement]) -> str:
    unread_count = len(statements & unread)
    return f"{len(statements) - unread_count} of {len(statements)}" if unread_count else str(len(statements) or "")


def _in_order(statements: Iterable[LogStatement]) -> list[LogStatement]:
    return sorted(statements, key=lambda s: (s.name, s.text))


def main(arguments: Sequence[str]) -> int:
    """Print what the newest place logs, no older one does and no pattern reads; write the page with `--page`."""
    parser = argparse.ArgumentParser(prog="python -m lab.statements", description="Statements that are read.")
    parser.add_argument("places", nargs="+", metavar="KAFKA", help="a version, or a folder of jars; the oldest first")
    parser.add_argument("--page", type=Path, help="write docs/versions.md here")
    options = parser.parse_args(arguments)
    statements = {Path(place).name: statements_of(place) for place in options.places}
    *older, newest = statements.values()
    unread = frozenset(s for s in set().union(*statements.values()) if not is_read(s))
    for version, of_version in statements.items():
        print(f"{version:10} {len(of_version):4} statements, {len(of_version & unread):3} not read")
    for statement in _in_order((newest & unread) - set().union(*older)):
        print(f"{statement.name}: {statement}")
    if options.page:
        options.page.write_text(page_of(statements, unread), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
