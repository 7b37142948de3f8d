"""The kinds of knowledge about Kafka: layouts, envelopes, patterns, noise and rules, each with its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kafka_hindsight.catalog.codes import Harm, WitnessKind
from kafka_hindsight.catalog.kinds import Kind

LoggerAndMessage = tuple[str | None, str]
"""The logger of a record, None where it names none, and its message."""


@dataclass(frozen=True)
class Layout:
    """How a program lays out its log lines.

    `begins` are the characters at fixed places with which each head begins, 0 for any digit: a search covers all lines
    at once. Where `has_clock` is set, their digits are a whole clock, from the year to the millisecond without a zone,
    and a level follows: a word in capitals and a space.
    `head` is a regex that matches the beginning of a record's first physical line and nothing else; its one group is
    the clock. Where `is_epoch` is set, it counts the seconds of the epoch.
    `cut` takes the text of a record with such a head and gives its logger and its message.
    """

    name: str
    begins: str
    head: str
    cut: Callable[[str], LoggerAndMessage]
    is_epoch: bool
    source: str

    @property
    def has_clock(self) -> bool:
        """Whether the characters at fixed places hold the whole clock."""
        return self.begins.count("0") == len("yyyymmddhhmmssmmm")


@dataclass(frozen=True)
class PatternLayout:
    """A layout as a pattern of conversion words."""

    name: str
    pattern: str
    source: str


@dataclass(frozen=True)
class PrefixEnvelope:
    """A prefix that a transport puts before a line.

    `regex` has the group `line`, and may have `at` (the time of an instant), `namespace`, `host`, `from` and `labels`
    (who wrote the line), and `part` (P where the line goes on in the next one).
    """

    name: str
    regex: str
    source: str


@dataclass(frozen=True)
class JsonEnvelope:
    """An object of JSON around a line: fields are paths with dots.

    `line` is the field of the object that holds the line (else `otherwise`), `has` are others by which it is known,
    `at` those that may hold the time: the first that is there is taken. `has_origin`: it may say who wrote the line.
    `is_around_objects`: what it holds is an object, and no text.
    """

    name: str
    line: str
    source: str
    has: tuple[str, ...] = ()
    at: tuple[str, ...] = ("@timestamp", "timestamp", "time", "ts", "date", "__REALTIME_TIMESTAMP")
    otherwise: str | None = None
    has_origin: bool = True
    is_around_objects: bool = False


@dataclass(frozen=True)
class JsonLayout:
    """A record as an object of JSON: fields are paths with dots. `logger`, `message` and `at` must be there.

    `program` is the logger of records whose field `logger` names no class; `only` is what that field has to hold.
    Where `beside` is set, the values of a message have fields of their own. All fields except those in `beside` are
    appended to the message: `joining group; group: g, member_id: m`.
    """

    name: str
    logger: str
    at: str
    trace: str
    source: str
    message: str = "message"
    level: str = "level"
    program: str = ""
    only: str = ""
    beside: tuple[str, ...] | None = None

    @cached_property
    def placed(self) -> frozenset[str]:
        """The fields that do not follow the message."""
        return frozenset((self.logger, self.message, self.level, self.at, self.trace, *(self.beside or ())))


_ESCAPED = 0xE000
"""Where the letters begin that stand for escaped ones: a private area, which no regex holds."""

_SET = re.compile(r"\[[^]]*\]")
_INNERMOST = re.compile(r"\((?P<kind>\?P<\w+>|\?:|\?>|\?<?[=!])(?P<inside>[^()]*)\)(?=(?P<count>[?*{]?))")
_VARYING = re.compile(r"(?:\\\w|.)(?:[?*]|\{[\d,]+\})|\\\w|[.^$+?*\0]")


def longest_literal(regex: str) -> str:
    """The longest text that is in every match of a regex. Alternatives and optional parts do not count."""
    text = _SET.sub("\0", re.sub(r"\\(\W)", lambda escape: chr(_ESCAPED + ord(escape[1])), regex))
    while (outer := _INNERMOST.sub(_unwrapped, text)) != text:
        text = outer
    longest = max(_VARYING.split(text), key=len)
    return "".join(chr(ord(c) - _ESCAPED) if ord(c) >= _ESCAPED else c for c in longest)


def _unwrapped(group: re.Match[str]) -> str:
    is_there_once = not group["count"] and "|" not in group["inside"] and group["kind"][-1] not in "=!"
    return f"\0{group['inside']}\0" if is_there_once else "\0"


@dataclass(frozen=True)
class Pattern:
    """One shape of log line: which event it is, and which fields it names.

    `head` and `regex` behind it are anchored at both ends; each named group is a column of silver.events
    (catalog/silver.py EVENT_FIELDS) and every other group is non-capturing. Groups whose names end with a number,
    detail_1 and detail_2, are pieces of one column, a line each.
    They are matched against the message (the record without head and logger, all its lines); where `reads_trace` is
    set, with what stands below the record's first line, the exception.
    `constants` are fields the line implies without naming them. `plain`: of fields that clients print in different
    words regexes, and what replaces the matches of each.
    Records that it reads and records that it must not match are compulsory: they lie in samples/, by version.
    """

    pattern_id: str
    kind: Kind
    loggers: tuple[str, ...]
    regex: str
    versions: str
    source: str
    head: str = ""
    constants: Mapping[str, str] = field(default_factory=dict)
    plain: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reads_trace: bool = False

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The regex as Python runs it."""
        return re.compile(self.head + self.regex, re.DOTALL | re.ASCII)

    @cached_property
    def contains(self) -> str:
        """A text that the message must hold after its head: a cheap test before the regex."""
        return longest_literal(self.regex)

    @cached_property
    def pieces(self) -> Mapping[str, tuple[int, ...]]:
        """The regex's groups by the columns they fill, in the order of the groups."""
        numbers: dict[str, tuple[int, ...]] = {}
        for name, number in sorted(self.compiled.groupindex.items(), key=lambda group: group[1]):
            field_name = re.sub(r"_\d+$", "", name)
            numbers[field_name] = (*numbers.get(field_name, ()), number)
        return numbers

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that the regex's groups fill."""
        return tuple(self.pieces)


@dataclass(frozen=True)
class Noise:
    """Lines of loggers that matter which are known to carry nothing we use: a row of a file in noise/.

    A record is noise when its logger is one of `loggers` and its message holds `contains`.
    """

    loggers: tuple[str, ...]
    contains: str
    why: str


@dataclass(frozen=True, eq=False)
class Rule:
    """The condition of a finding: its thresholds with their source, the sentence and the advice.

    `severity` decides whether it pages (FindingSeverity). `harm`: the harm that happened or could; None for missing
    input. `is_standing`: the rule is about settings, not about events. `is_ongoing`: it is about what an incident
    of an earlier window began, and what is not over when the logs end. `went_on`: the kind of event that had begun
    before the window and went on in it, so that the window has no zero of it.
    """

    rule_id: str
    severity: str
    harm: Harm | None
    subject_kind: str
    says: str
    advice: str
    source: str
    thresholds: Mapping[str, float] = field(default_factory=dict)
    is_standing: bool = False
    is_ongoing: bool = False
    went_on: WitnessKind | None = None
