"""Patterns of log4j, log4j2 and logback as regexes: they find a record's beginning, instant, logger and message.

A pattern is a line of conversion words, as in `[%d] %p %m (%c)%n`. Source: the manuals of log4j 1.2 PatternLayout,
log4j2 Pattern Layout and logback's PatternLayout, Spring Boot's defaults.xml, JBoss LogManager's PatternFormatter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from kafka_hindsight.knowledge.model import LoggerAndMessage

WORD_REACH = 120
"""The most characters of a thread's name, or of a program's own text in a head: the search stays cheap."""

TAIL_REACH = 600
"""The part of a pattern after the message is looked for within so many last characters of a line."""

_ANYTHING = rf"[^\n]{{0,{WORD_REACH}}}?"
LEVEL = "(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE|NOTICE|CONFIG)"
_LOGGER = r"(?P<logger>[\w$./\[\]-]{1,300})"
_CONNECTOR = r"(?:\[[^\]|\n]{0,120}\|[^\]\n]{0,60}\] ?)?"
"""The prefix of Kafka Connect before the messages of a connector or a task. Source: KIP-449."""

_CLASSES, _CLASS = ("C", "class"), r"[\w$.?-]*"
_WORDS = {
    **dict.fromkeys(("p", "le", "level"), LEVEL),
    **dict.fromkeys(("t", "tn", "thread", "threadName"), _ANYTHING),
    **dict.fromkeys(("c", "lo", "logger"), _LOGGER),
    **dict.fromkeys(_CLASSES, _CLASS),
    **dict.fromkeys(("L", "line"), r"(?:\d+|\?)"),
    **dict.fromkeys(("M", "method"), r"[\w$<>?]*"),
    **dict.fromkeys(("F", "file"), r"[\w$.?-]*"),
    **dict.fromkeys(("x", "NDC", "X", "mdc", "MDC", "marker", "markerSimpleName", "property", "kvp", "K"), _ANYTHING),
    **dict.fromkeys(("r", "relative", "sn", "sequenceNumber", "N", "nano", "T", "tid", "threadId"), r"\d{1,20}"),
    **dict.fromkeys(("tp", "threadPriority", "i"), r"\d{1,20}"),
    **dict.fromkeys(("pid", "processId", "h", "H", "hostName", "contextName", "cn", "u", "uuid"), r"\S{0,120}"),
    "connector": _CONNECTOR,
}
"""The regex of the text that each conversion word stands for."""

_CLOCKS = ("d", "date")
_MESSAGES = ("m", "msg", "message", "s")
_ENDS = ("n", "ex", "exception", "throwable", "xEx", "xException", "xThrowable", "rEx", "rException", "wEx", "wex", "e")
_OPTIONAL = ("notEmpty", "varsNotEmpty", "variablesNotEmpty")
_AROUND = (*_OPTIONAL, "highlight", "style", "maxLen", "maxLength", "enc", "encode")
_SAME = {**dict.fromkeys(("p", "le", "level"), "level"), **dict.fromkeys(("c", "lo", "logger"), "logger")}
_EVERY_WORD = {*_WORDS, *_CLOCKS, *_MESSAGES, *_ENDS, *_AROUND} - {"connector"}
_NAMES = sorted(_EVERY_WORD, key=lambda name: (-len(name), name))

_CONVERSION = re.compile(rf"%(?P<least>-?\d+)?(?:[.]-?\d+)?(?P<word>{'|'.join(_NAMES)})")
_NO_GROUP = "|".join(sorted(_EVERY_WORD - {*_AROUND}))
_GROUP = re.compile(rf"%(?P<least>-?\d+)?(?:[.]-?\d+)?(?!(?:{_NO_GROUP})[(])[A-Za-z]*(?=[(])")
"""A group of logback, such as a colour. A parenthesis behind a conversion word of log4j is a literal."""
_VARIABLE = re.compile(r"\$\{(?P<name>[^{}:]*)(?::-(?P<default>[^{}]*))?\}")

_FULL = "yyyy-MM-dd HH:mm:ss,SSS"
_FORMATS = {
    **dict.fromkeys(("DEFAULT", "DEFAULT_PERIOD", "DEFAULT_MICROS", "DEFAULT_NANOS"), _FULL),
    **dict.fromkeys(("ISO8601", "ISO8601_PERIOD"), _FULL),
    **dict.fromkeys((f"ISO8601_OFFSET_DATE_TIME_{zone}" for zone in ("HH", "HHMM", "HHCMM")), f"{_FULL}X"),
    "ISO8601_BASIC": "yyyyMMdd HHmmss,SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "ABSOLUTE": "HH:mm:ss,SSS",
}
"""Dates that log4j and logback know by a name; those that count from the epoch are in _EPOCHS."""

_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_PARTS = {
    **dict.fromkeys("yu", r"(?P<year>\d{4})"),
    "yy": r"(?P<year>\d\d)",
    "M": r"(?P<month>\d\d)",
    "MMM": rf"(?P<month>{'|'.join(_MONTHS)})",
    "d": r"(?P<day>\d\d)",
    "H": r"(?P<hour>\d\d)",
    "m": r"(?P<minute>\d\d)",
    "s": r"(?P<second>\d\d)",
    **dict.fromkeys("Sn", r"(?P<fraction>\d{1,9})"),
    **dict.fromkeys("XxZ", r"(?P<zone>Z|[+-]\d\d(?::?\d\d)?)"),
    "E": "[A-Za-z]{2,9}",
    "z": "[A-Z]{1,5}",
}
_EPOCHS = {"UNIX": r"(?P<epoch>\d{9,11})(?P<fraction>)", "UNIX_MILLIS": r"(?P<epoch>\d{9,11})(?P<fraction>\d{3})"}
_DATE_TOKEN = re.compile(r"'(?P<quoted>[^']*)'|(?P<letters>([A-Za-z])\3*)|(?P<other>.)")
_AS_DEFAULT = re.compile(r"(?:,|\\[.])(?=\(\?P<fraction>)")
_FRACTION = f"[.,]{_PARTS['S']}"
_UTC = ("UTC", "GMT", "Z", "GMT+0", "Etc/UTC")

_TRACE = re.compile(
    r"\r?\n(?:\s{1,200}+(?:at |[.]{3} \d)|Caused by: |(?:[\w$]+[.]){2,}[A-Z][\w$]*(?::|\r?$|\r?\n))", re.ASCII
)
"""Where a stack trace follows a message: a frame, a cause, or a class with its package at the beginning of a line."""


class NotAPattern(ValueError):
    """No record can be read by this pattern: the text says why."""


@dataclass(frozen=True)
class CompiledPattern:
    """A pattern as regexes: what stands before a message, and what stands after it in its line.

    `head` has the groups of a clock; `is_utc` where the pattern itself says that this clock runs in UTC. `words` are
    the conversion words and the literals of the head, each with its regex.
    """

    head: re.Pattern[str]
    tail: re.Pattern[str] | None
    is_utc: bool
    words: tuple[tuple[str, str], ...]

    def fits_until(self, line: str) -> tuple[int, str]:
        """The number of characters of a line that fit the head, and the conversion word or literal that is missing."""
        reached = 0
        for count, (word, regex) in enumerate(self.words, 1):
            match = re.match(_named_once(list(self.words[:count])), line, re.ASCII)
            if match is None:
                return reached, f"%{word}" if word else re.sub(r"\\(.)", r"\1", regex)
            reached = match.end()
        return reached, ""

    def cut(self, text: str) -> LoggerAndMessage:
        """The logger and the message of a record with such a head."""
        head = self.head.match(text)
        start = head.end() if head else 0
        if self.tail is None:
            trace = _TRACE.search(text, start)
            message = text[start : trace.start() if trace else None].lstrip().rstrip("\r")
            return (head["logger"] if head and "logger" in self.head.groupindex else None), message
        first = text.find("\n", start)
        for end in (len(text) if first < 0 else first, len(text)):
            reach = max(start, end - TAIL_REACH)
            if tail := self.tail.fullmatch(text[reach:end].rstrip("\r")):
                groups = {**(head.groupdict() if head else {}), **tail.groupdict()}
                return groups.get("logger"), text[start : reach + tail.start("tail")]
        return None, text[start:].rstrip("\r")


@cache
def compile_pattern(pattern: str) -> CompiledPattern:
    """Compile a pattern to regexes.

    Raises:
        NotAPattern: The pattern has no date, no message, or an unknown conversion word.
    """
    tokens = _with_logger(list(_tokens(_without_variables(pattern))))
    words = [word for word, _ in tokens]
    clock, at = _first(words, _CLOCKS), _first(words, _MESSAGES)
    if clock is None and not {"level", "logger" if words[:1] != [""] else "level"} <= {_SAME.get(w) for w in words}:
        raise NotAPattern(f"{pattern!r} holds no date. Needed: %d, or %p and %c, or %p in brackets.")
    if at is None:
        raise NotAPattern(f"{pattern!r} holds no message. Needed: %m.")
    clock = clock or 0
    if clock > at:
        raise NotAPattern(f"{pattern!r} shows its date after its message. Needed: the date before it.")
    before, after = _named_once(tokens[:at]), _named_once(tokens[at + 1 :])
    tail = re.compile(f"(?s:.*)(?P<tail>{after})", re.ASCII) if after.strip() else None
    return CompiledPattern(re.compile(before, re.ASCII), tail, "UTC" in words[clock : clock + 2], tuple(tokens[:at]))


def _with_logger(tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The tokens, with the class that logs as the logger where no word shows that: Kafka names loggers by classes.

    Source: LogContext.logger(Class) in clients and Connect. Brokers log through kafka.utils.Logging, which %C shows.
    """
    if any(_SAME.get(word) == "logger" for word, _ in tokens):
        return tokens
    return [(word, regex.replace(_CLASS, _LOGGER) if word in _CLASSES else regex) for word, regex in tokens]


def _first(words: Sequence[str], names: Sequence[str]) -> int | None:
    return next((n for n, word in enumerate(words) if word in names), None)


def head_instant(fields: Mapping[str, str], is_utc: bool) -> tuple[datetime, bool] | None:
    """The instant of a head's clock, to the second, by the regex's groups.

    Returns:
        The time and whether it is an instant; else it is a local time of an unknown zone. None for a clock without a
        day, or a day that does not exist.
    """
    if epoch := fields.get("epoch"):
        return datetime.fromtimestamp(int(epoch), UTC), True
    if "year" not in fields:
        return None
    month = _MONTHS.get(fields["month"]) or int(fields["month"])
    try:
        day, hour, minute, second = (int(fields[name]) for name in ("day", "hour", "minute", "second"))
        year = fields["year"]
        at = datetime(int(year if len(year) > 2 else f"20{year}"), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    zone = fields.get("zone", "Z")
    if zone == "Z":
        return at, "zone" in fields or is_utc
    minutes = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or "0")
    return at - timedelta(minutes=-minutes if zone[0] == "-" else minutes), True


def _without_variables(pattern: str) -> str:
    """The pattern with each variable replaced by the default value that the pattern itself names."""
    while variable := _VARIABLE.search(pattern):
        default = variable["default"] or ""
        value = "%pid" if "PID" in variable["name"] and not default.strip() else default
        pattern = pattern[: variable.start()] + value + pattern[variable.end() :]
    return pattern


def _tokens(pattern: str) -> Iterator[tuple[str, str]]:
    """The conversion words and the literals of a pattern, each with its regex; a literal has an empty name."""
    at = 0
    while at < len(pattern):
        if pattern.startswith("%%", at):
            yield "", "%"
            at += 2
        elif group := _GROUP.match(pattern, at):
            inner, at = _enclosed(pattern, group.end(), "()")
            _, at = _options(pattern, at)
            yield from _padded(_tokens(inner), group["least"])
        elif word := _CONVERSION.match(pattern, at):
            options, at = _options(pattern, word.end())
            yield from _padded(_converted(word["word"], options), word["least"])
        else:
            literal = _literal(pattern, at)
            yield "", re.escape(literal.replace(r"\t", "\t"))
            at += len(literal)


def _literal(pattern: str, at: int) -> str:
    if pattern[at] == "%":
        raise NotAPattern(f"{pattern!r} holds a word that is not known: {pattern[at:].split()[0]}.")
    return pattern[at:].partition("%")[0]


def _converted(word: str, options: list[str]) -> Iterator[tuple[str, str]]:
    option, zone = [*options, "", ""][:2]
    if word in _AROUND:
        yield from _around(word, list(_tokens(option)))
    elif word in _CLOCKS:
        yield word, _clock(option or "DEFAULT")
        yield from [("UTC", "")] if zone in _UTC else []
    elif "=" in option and _SAME.get(word) == "level":
        labels = LEVEL.lower() if option == "lowerCase=true" else "|".join(re.findall(r"=\s*(\w+)", option))
        yield word, f"(?:{LEVEL}|{labels})"
    elif option.startswith("connector.context"):
        yield word, _CONNECTOR
    else:
        yield word, _WORDS.get(word, "")


def _around(word: str, inner: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The tokens within a conversion word's braces. Those of `notEmpty` and the like may be missing from a line."""
    if word not in _OPTIONAL or any(w in (*_MESSAGES, *_CLOCKS) for w, _ in inner):
        return inner
    return [("", f"(?:{''.join(regex for _, regex in inner)})?")]


def _padded(tokens: Iterator[tuple[str, str]], least: str | None) -> Iterator[tuple[str, str]]:
    yield from ((w, rf" *{r}" if n == 0 and least else r) for n, (w, r) in enumerate(tokens))
    if least:
        yield "", " *"


def _clock(format_: str) -> str:
    """The regex of a date. A date in the form of ISO may have a T, a dot or a comma, and a zone."""
    date_format = _FORMATS.get(format_.strip(), format_.strip())
    if date_format in _EPOCHS:
        return _EPOCHS[date_format]
    regexes = []
    for token in _DATE_TOKEN.finditer(date_format):
        letters = token["letters"]
        if letters and letters != "T":
            part = _PARTS.get(letters if letters in ("MMM", "yy") else letters[0])
            if part is None:
                raise NotAPattern(f"{format_!r} holds {letters!r}, which no date is read by.")
            regexes.append(part)
        else:
            regexes.append(re.escape(token["quoted"] or letters or token["other"]))
    names = re.findall(r"\?P<(\w+)>", "".join(regexes))
    if len(set(names)) < len(names):
        raise NotAPattern(f"{format_!r} holds a part of a date twice.")
    regex = _AS_DEFAULT.sub("[.,]", "".join(regexes))
    if date_format == _FULL:
        regex = regex.replace(r"\ ", "[T ]").replace(_FRACTION, f"(?:{_FRACTION})?") + f"(?: ?{_PARTS['X']})?"
    return regex


def any_head(patterns: Iterable[CompiledPattern]) -> re.Pattern[str]:
    """A regex that matches the head of any of some patterns. Beginnings that several share are in it once."""
    heads = [
        [re.sub(r"\(\?P<\w+>", "(?:", regex) for word, regex in each.words if word not in _ENDS] for each in patterns
    ]
    return re.compile(_joined(heads), re.ASCII)


def _joined(heads: Iterable[Sequence[str]]) -> str:
    tails: dict[str, list[Sequence[str]]] = {}
    for first, *tail in filter(None, heads):
        tails.setdefault(first, []).append(tail)
    return "|".join(first + (f"(?:{_joined(ends)})" if all(ends) else "") for first, ends in tails.items())


def _named_once(tokens: list[tuple[str, str]]) -> str:
    """The regexes one after another, without ends of lines. Only the first clock and logger keep their named groups."""
    joined, names = "", set[str]()
    for word, regex in tokens:
        if word in _ENDS:
            continue
        for name in re.findall(r"\(\?P<(\w+)>", regex):
            if name in names:
                regex = regex.replace(f"(?P<{name}>", "(?:")
        names |= set(re.findall(r"\(\?P<(\w+)>", regex))
        joined += regex
    return joined


def _options(pattern: str, at: int) -> tuple[list[str], int]:
    options = []
    while pattern.startswith("{", at):
        option, at = _enclosed(pattern, at, "{}")
        options.append(option)
    return options, at


def _enclosed(pattern: str, at: int, pair: str) -> tuple[str, int]:
    """The text between a bracket and the one that closes it, and the place after that."""
    depth = 0
    for end in range(at, len(pattern)):
        depth += (pattern[end] == pair[0]) - (pattern[end] == pair[1])
        if depth == 0:
            return pattern[at + 1 : end], end + 1
    raise NotAPattern(f"{pattern!r} opens {pair[0]!r} and does not close it.")
