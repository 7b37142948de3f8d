"""The reading of one record: its fate, decided only here, and the fields of its event. Plain Python, for any reader."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import compress
from typing import Any, NamedTuple

from kafka_hindsight.catalog.codes import LineFate, Protocol
from kafka_hindsight.catalog.silver import EVENT_FIELDS
from kafka_hindsight.knowledge.layouts import (
    BROKER_FOLDER_REGEX,
    BROKER_REGEX,
    CUTS,
    KAFKAS_PACKAGES,
    MESSAGE_LIMIT,
    MOST_LINES,
    PREAMBLE,
    PROGRAM,
    TRACE_LIMIT,
    WITHIN,
    class_of,
    first_line,
)
from kafka_hindsight.knowledge.model import LoggerAndMessage, Noise, Pattern
from kafka_hindsight.knowledge.noise import NOISE
from kafka_hindsight.knowledge.patterns import PATTERNS, SAYS_LINES
from kafka_hindsight.knowledge.witness_loggers import SERVICE_LOGGER
from kafka_hindsight.logs.layout_names import is_without_logger, layout_pattern, without_envelopes

QUOTED = 2_000
"""Characters of a record's first line that a row quotes."""

_BLANK_ENDS = (" ", "\t", " \r", "\t\r")
_BLANKS_WITHIN = (" \n", "\t\n", " \r\n", "\t\r\n", "  (", "\t (")
_BLANKS_AT_ENDS = re.compile(r"(?<![ \t])[ \t]+(?=(?: \([\w.$]+\))?\r?(?:\n|\Z))", re.ASCII)
"""Blanks behind a line, or behind a message whose logger follows it."""
_BROKER = re.compile(BROKER_REGEX, re.ASCII)
_FOLDER = re.compile(BROKER_FOLDER_REGEX, re.ASCII)
_BROKER_REACH = 400
"""Longer than a topic's name with everything around it in the bracket."""

_TRIED_FIRST = 4
"""Noise among the first few is not moved to the front."""

_BITS = {"INT": 31, "BIGINT": 63}
_PROTOCOLS = frozenset(Protocol)
_NUMBERS = {c.name: (-(1 << _BITS[c.type]), (1 << _BITS[c.type]) - 1) for c in EVENT_FIELDS if c.type in _BITS}
"""The least and the greatest number of a field."""

_MASKS = tuple(
    (re.compile(regex, re.ASCII | re.IGNORECASE), mask)
    for regex, mask in (
        (r"'[^']*'|\"[^\"]*\"|`[^`]*`", "<name>"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uuid>"),
        (r"\b[A-Za-z0-9_-]{22}\b", "<id>"),
        (r"\b((?:group|topic|member|client|instance)(?:[ _]?id)?[ =:]+)[^\s,;)\]]+", r"\1<name>"),
        (r"[0-9]+", "#"),
        (r"(?<![\w.#-])(?=[\w.#-]*[a-z])(?=[\w.#-]*(?:#|[\w#][-_][\w#]))[\w.#-]*[\w#]", "<name>"),
    )
)
"""The varying parts of lines of one shape, in the order in which they are masked."""


@dataclass(slots=True)
class LoggerKnowledge:
    """Knowledge about the lines of one logger.

    Each pattern has the text that its lines contain. Noise is in any order.
    """

    patterns: tuple[tuple[str, Pattern], ...]
    noise: tuple[str, ...]

    def is_noise(self, message: str) -> bool:
        """Whether a message is noise. Logs repeat themselves, so the last match is moved to the front."""
        noise = self.noise
        for n, words in enumerate(noise):
            if words in message:
                if n > _TRIED_FIRST:
                    self.noise = (words, *noise[:n], *noise[n + 1 :])
                return True
        return False


class RecordReading(NamedTuple):
    """The reading of a record.

    Of an event, `pattern` claims it, and `groups` are the texts of the groups of the pattern's regex. `sentences` say
    why a record is quarantined. A record that is ignored has no message, and a logger only where its logger matters.
    """

    fate: LineFate
    logger: str | None = None
    message: str = ""
    pattern: Pattern | None = None
    groups: tuple[str | None, ...] = ()
    sentences: tuple[str, ...] = ()


def knowledge_of_loggers(patterns: Iterable[Pattern], noise: Iterable[Noise]) -> dict[str, LoggerKnowledge]:
    """The knowledge about each relevant logger, by its class.

    A layout that shows only the last part of a name cannot tell loggers that share it, such as state.change.logger and
    kafka.authorizer.logger: under that part lies the knowledge about all of them.
    """
    patterns, noise = list(patterns), list(noise)
    loggers_of_all = [each.loggers for each in patterns] + [each.loggers for each in noise]
    classes = {class_of(logger) for loggers in loggers_of_all for logger in loggers}

    def names_of(loggers: Iterable[str]) -> list[str]:
        last_parts = {logger.rpartition(".")[2] for logger in loggers}
        return sorted({class_of(logger) for logger in loggers} | (last_parts & classes))

    claims, empty = defaultdict[str, list[tuple[str, Pattern]]](list), defaultdict[str, list[str]](list)
    for pattern in patterns:
        for name in names_of(pattern.loggers):
            claims[name].append((pattern.contains, pattern))
    for each in noise:
        for name in names_of(each.loggers):
            empty[name].append(each.contains)
    return {name: LoggerKnowledge(tuple(gated), tuple(empty[name])) for name, gated in claims.items()}


LOGGER_KNOWLEDGE = knowledge_of_loggers(PATTERNS, NOISE)
_NAMELESS = LoggerKnowledge((), ())
_IGNORED = RecordReading(LineFate.IGNORED)
_OF_SERVICE = RecordReading(LineFate.IGNORED, SERVICE_LOGGER)
"""Lines of this logger are never events. That it writes shows that a broker coordinates no group."""

_FAULTS = (
    "It holds NUL bytes, as a crash leaves them where a file was not yet written.",
    "Its head shows a date that does not exist.",
    f"It has more than {MOST_LINES} physical lines; the first {MOST_LINES} are kept.",
    f"Its message is longer than {MESSAGE_LIMIT} characters, more than any line of Kafka that is read here.",
)


def read_record(layout: str | None, text: str, line_count: int = 1, is_dated: bool = True) -> RecordReading:
    """Give a record its one fate: event, ignored, unparsed or quarantined.

    A layout, a terminal, a viewer or a shipper may leave blanks behind messages and lines: it is read without those
    first, then with one behind each: a message may end with a blank of its own.

    A broken record is quarantined whatever its logger. Only for relevant loggers is a long message broken. Bytes that
    are not UTF-8, as a JVM on Windows writes in messages of the system, are replaced in the text and break nothing.

    Args:
        layout: The name of its layout; None for the text before a file's first head.
        text: The record, as bronze.log_records has it.
        line_count: Its physical lines.
        is_dated: Whether its head shows an instant.
    """
    if text.endswith(_BLANK_ENDS) or any(blanks in text for blanks in _BLANKS_WITHIN):
        bare = _read(layout, _BLANKS_AT_ENDS.sub("", text), line_count, is_dated)
        if bare.pattern:
            return bare
        with_one = _read(layout, _BLANKS_AT_ENDS.sub(" ", text), line_count, is_dated)
        return with_one if with_one.pattern else bare
    return _read(layout, text, line_count, is_dated)


def _read(layout: str | None, text: str, line_count: int, is_dated: bool) -> RecordReading:
    logger, message = logger_and_message(layout, text) if layout else (None, text)
    knowledge = LOGGER_KNOWLEDGE.get(_class_of(logger)) if logger else _NAMELESS
    is_endless = len(message) > MESSAGE_LIMIT and knowledge is not None and logger is not None
    if sentences := _faults(text, line_count, is_dated or layout is None, is_endless):
        return RecordReading(LineFate.QUARANTINED, logger, message, sentences=sentences)
    if knowledge is None:
        return _OF_SERVICE if logger and logger.endswith(SERVICE_LOGGER) else _IGNORED
    return _claim(knowledge, logger, message, text)


def logger_and_message(layout: str, text: str) -> LoggerAndMessage:
    """The logger and the message of a record.

    Clients' libraries write through loggers that programs name, one line at a time. Further lines are the program's.
    """
    if layout in CUTS:
        return CUTS[layout](text)
    logger, message = _cut_of(layout)(text)
    if logger and not is_relevant(logger) and not logger.endswith(SERVICE_LOGGER):
        logger = PROGRAM
    return logger, first_line(message) if logger in SAYS_LINES else message


@cache
def _cut_of(layout: str) -> Callable[[str], LoggerAndMessage]:
    name = without_envelopes(layout)
    if name in CUTS:
        return CUTS[name]
    cut = layout_pattern(name).cut
    return (lambda text: (PROGRAM, cut(text)[1])) if is_without_logger(name) else cut


def _faults(text: str, line_count: int, is_dated: bool, is_endless: bool) -> tuple[str, ...]:
    if is_dated and line_count <= MOST_LINES and not is_endless and "\0" not in text:
        return ()
    return tuple(compress(_FAULTS, ("\0" in text, not is_dated, line_count > MOST_LINES, is_endless)))


def _claim(knowledge: LoggerKnowledge, logger: str | None, message: str, text: str) -> RecordReading:
    for gate, pattern in knowledge.patterns:
        if gate not in message:
            continue
        if match := pattern.compiled.match(_with_trace(message, text) if pattern.reads_trace else message):
            return RecordReading(LineFate.EVENT, logger, message, pattern, match.groups())
    is_preamble = logger is None and PREAMBLE.fullmatch(message)
    if is_preamble or knowledge.is_noise(message) or knowledge is LOGGER_KNOWLEDGE.get(PROGRAM):
        return RecordReading(LineFate.IGNORED, logger)
    return RecordReading(LineFate.UNPARSED, logger, message)


def carries_nothing(layout: str | None, text: str) -> bool:
    """Whether a record of a relevant logger is noise."""
    logger, message = logger_and_message(layout, text) if layout else (None, text)
    knowledge = LOGGER_KNOWLEDGE.get(_class_of(logger)) if logger else None
    return knowledge is not None and knowledge.is_noise(message)


def _with_trace(message: str, text: str) -> str:
    """The message and the beginning of the exception below it. A message of several lines already contains it."""
    below = "" if "\n" in message else text.partition("\n")[2][:TRACE_LIMIT].replace("\r", "")
    return f"{message}\n{below}" if below else message


def fields_of(pattern: Pattern, groups: Sequence[tuple[str | None, ...]]) -> dict[str, list[Any]]:
    """The fields that a pattern reads in the records that it claims: a list for each field, in their order.

    Empty text is missing, and so are a number out of the field's range and an unknown protocol.
    """
    columns: dict[str, list[Any]] = {name: [value] * len(groups) for name, value in pattern.constants.items()}
    by_group = list(zip(*groups, strict=True))
    for name, numbers in pattern.pieces.items():
        pieces = [by_group[n - 1] for n in numbers]
        columns[name] = list(pieces[0]) if len(pieces) == 1 else ["\n".join(p or "" for p in t) for t in zip(*pieces)]
    for name, words in pattern.plain.items():
        for regex, text in words.items():
            columns[name] = [value and re.sub(regex, text, value) for value in columns[name]]
    return {name: _convert(name, values) for name, values in columns.items()}


_REGISTERED = re.compile(r"Registered broker (\d{1,9}) at path ", re.ASCII)


def broker_of_line(message: str) -> int | None:
    """The broker or controller that a line names as its writer in its first bracket, or None.

    A broker on ZooKeeper registers itself, and names no other one. Source: KafkaZkClient.registerBroker.
    """
    if not message.startswith("["):
        registered = _REGISTERED.match(message)
        return int(registered[1]) if registered else None
    start = message[:_BROKER_REACH]
    return _broker_in(start[: start.find("]") + 1 or _BROKER_REACH])


@lru_cache(maxsize=4096)
def broker_of_folder(source: str) -> int | None:
    """The broker that the nearest folder of a log names. In a wrapped file, the writer of the line is a folder too."""
    file, _, part = source.partition(WITHIN)
    for folder in reversed([*file.split("/")[:-1], *part.split("/")]):
        if match := _FOLDER.match(folder):
            return int(match[1])
    return None


def quotation(text: str) -> str:
    """The part of a record that a row quotes."""
    return text.partition("\n")[0][:QUOTED].rstrip("\r")


def template(message: str) -> str:
    """The shape of a line that no pattern claims: names and numbers are masked."""
    shape = quotation(message)
    for regex, mask in _MASKS:
        shape = regex.sub(mask, shape)
    return shape


def is_relevant(logger: str) -> bool:
    """Whether lines of a logger may be events."""
    return _class_of(logger) in LOGGER_KNOWLEDGE


def relevant_class(logger: str | None) -> str:
    """The class of a logger whose lines may be events, or are evidence of their own; empty for any other logger.

    Where several loggers end alike, as state.change.logger and kafka.authorizer.logger do, it is as much of the name as
    the layout shows.
    """
    if logger is None or (name := _class_of(logger)) not in LOGGER_KNOWLEDGE:
        return SERVICE_LOGGER if logger == SERVICE_LOGGER else ""
    classes = {key for _, key in _SPELT_OUT.get(name, ())}
    return logger if len(classes) > 1 else name


@lru_cache(maxsize=4096)
def _class_of(logger: str) -> str:
    """The class of a logger, also where its layout shows only the class, or abbreviates its packages."""
    name = class_of(logger)
    if name in LOGGER_KNOWLEDGE:
        return name
    *packages, last = logger.split(".")
    return next((key for full, key in _SPELT_OUT.get(last, ()) if _abbreviates(packages, full)), name)


def _abbreviates(packages: Sequence[str], full: Sequence[str]) -> bool:
    """Whether packages are missing, or abbreviate the full ones: each is a prefix of the full one."""
    return not packages or (
        len(packages) >= len(full) and all(p and f.startswith(p) for p, f in zip(packages, full, strict=False))
    )


def _spelt_out(patterns: Iterable[Pattern]) -> dict[str, list[tuple[Sequence[str], str]]]:
    """The relevant loggers by the last part of their names: their packages, and the class.

    Kafka's loggers move between its packages, so for them only the root package counts.
    """
    loggers = defaultdict[str, list[tuple[Sequence[str], str]]](list)
    for logger in sorted({logger for pattern in patterns for logger in pattern.loggers}):
        *packages, last = logger.split(".")
        key = class_of(logger)
        roots = [p.rstrip(".").split(".") for p in KAFKAS_PACKAGES] if key != logger else [packages]
        loggers[last] += [(root, key) for root in roots]
    return loggers


_SPELT_OUT = _spelt_out(PATTERNS)


@lru_cache(maxsize=4096)
def _broker_in(start: str) -> int | None:
    match = _BROKER.match(start)
    return int(match[1]) if match else None


def _convert(name: str, values: list[Any]) -> list[Any]:
    if name == "protocol":  # a client may write it in any case: ConfigDef.CaseInsensitiveValidString
        return [protocol if (protocol := (value or "").lower()) in _PROTOCOLS else None for value in values]
    if name not in _NUMBERS:
        return [value or None for value in values]
    low, high = _NUMBERS[name]
    return [n if text and low <= (n := int(text)) <= high else None for text in values]
