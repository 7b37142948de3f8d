"""A pattern for the lines of an unknown layout, derived from the lines.

A line's fields are found by what they hold: an instant, a level, a logger that is known. The text between them is
constant, or it is a field that matters to no reading, such as a thread. Several patterns may come of that: the one by
which most lines are understood is proposed, as `forms` does with the layouts that are known.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

from kafka_hindsight.logs.conversion_patterns import LEVEL, NotAPattern, compile_pattern, head_instant
from kafka_hindsight.logs.forms import Fit, fit, order_of
from kafka_hindsight.logs.reading import is_relevant

_REACH = 300
"""The fields before a message begin within so many characters."""

_SOME, _LONG = 120, 2_000
"""Lines by which patterns are compared, and from how many characters on they are too long for that."""

_MOST = 0.95
"""The share of lines that have a text in common. The message of another line may look like a field."""

_ENOUGH = 0.9
"""The share of lines with a date that a proposal reads."""

_FEW = 0.25
"""The least share of lines with a date. Lines of settings and of stack traces, which begin with a tab, do not count."""

_SHAPES = 4
_SEPARATORS = 8
_LONGEST = 6

_ORDERS = ("yyyy MM dd", "dd MM yyyy", "MM dd yyyy", "dd MMM yyyy", "yyyy MMM dd", "yy MM dd", "dd MM yy", "MM dd yy")
_DAYS = (*(order.replace(" ", mark) for order in _ORDERS for mark in "-/. "), "yyyyMMdd", "MMM dd, yyyy", "MMM dd yyyy")
_BEGINS = (
    *(f"{day}{between}HH:mm:ss" for day, between in product(_DAYS, (" ", "'T'", ", ", ":", ";", "_", "-", " @ "))),
    *(f"HH:mm:ss{fraction} {day}" for day, fraction in product(_DAYS, ("", ".SSS"))),
    "MMM dd HH:mm:ss yyyy",
)
_ENDS = tuple(f"{fraction}{zone}" for fraction, zone in product((".SSS", ":SSS", ""), ("X", " X", "")))
_ISO = tuple(f"yyyy-MM-dd HH:mm:ss{end}" for end in ("", "X", ".SSS", ".SSSX"))
_EPOCHS = ("UNIX_MILLIS", "UNIX")

_OPENING, _CLOSING = "[({<|*,;\"'", "])}>|*,;\"'"
_WORD = re.compile(r"[\w$]+(?:[.][\w$]+)*")
_NO_WORDS = re.compile(r"[^\w\n]+(?:\w+=)?")
_ANYTHING = re.compile(r".+")
_VALUE = re.compile(r"(?<!\w)\w+(?![\w=])")

_FILLED = "%-1c"
"""A logger that blanks may fill up."""


class Proposal(NamedTuple):
    """A pattern for lines. `others` differ in the order of a date's parts alone, where the lines leave it open.

    `dated` are the lines with an instant, `read` those of them that the pattern reads.
    """

    pattern: str
    others: tuple[str, ...]
    dated: int
    read: int


class Shape(NamedTuple):
    """The order of a line's fields, and the text around them. `is_behind`: the logger follows the message."""

    fields: tuple[str, ...]
    around: tuple[tuple[str, str, bool], ...]
    is_behind: bool


LineParts = tuple[str, ...]
"""The texts of a line before each of its fields, and what follows the last of them."""


def proposal_of(lines: Sequence[str]) -> Proposal | str:
    """The pattern by which most lines are understood; or a sentence that says what is missing."""
    lines = [line for line in lines if line.strip() and not line.startswith("\t")]
    if not (dates := _dates(lines)):
        return "No date in a known form was found in its lines."
    instant = _date_regex(dates[0])
    dated = [line for line in lines if instant.search(line, 0, _REACH)]
    known = [line for line in dated if len(line) < _LONG and any(map(_logger, _WORD.findall(line)))]
    some = known[:: max(len(known) // _SOME, 1)]
    level, word = _level(dated)
    by_shape = defaultdict[Shape, list[LineParts]](list)
    for line in some:
        for shape, parts in dict(reversed([*_splits(line, instant, level)])).items():
            by_shape[shape].append(parts)
    names = {"d": f"%d{{{dates[0]}}}", "p": word, "c": _FILLED}
    shapes = sorted(by_shape.items(), key=lambda each: -len(each[1]))[:_SHAPES]
    patterns = (pattern for shape, lines_of in shapes for pattern in _patterns(shape, lines_of, names))
    fits = {pattern: _fit(some, pattern) for pattern in patterns if pattern.isprintable()}
    best = max(fits, key=lambda pattern: (*order_of(fits[pattern]), -pattern.count("%t"), len(pattern)), default="")
    if not best or not fits[best].is_any:
        return "No pattern was found by which its lines name a logger of Kafka's."
    plainer = best.replace(_FILLED, "%c")
    best = plainer if order_of(_fit(some, plainer)) >= order_of(fits[best]) else best
    compiled = compile_pattern(best)
    read = sum(compiled.head.match(line) is not None and compiled.cut(line)[0] is not None for line in dated)
    if read < _ENOUGH * len(dated):
        return f"The pattern {best!r} reads {read:,} of its {len(dated):,} lines with a date: not enough to propose it."
    return Proposal(best, tuple(best.replace(dates[0], date) for date in dates[1:]), len(dated), read)


def _fit(lines: Sequence[str], pattern: str) -> Fit:
    try:
        compile_pattern(pattern)
    except NotAPattern:
        return Fit(0, 0, 0)
    return fit(lines, (pattern,))


@cache
def _date_regex(date: str) -> re.Pattern[str]:
    """The regex of a date. One of 12 hours cannot be read."""
    (_, regex), *_ = compile_pattern(f"%d{{{date}}}%m").words
    return re.compile(rf"(?<!\d){regex}(?!\d| ?[AaPp]\.?[Mm]\b)", re.ASCII)


def _dates(lines: Sequence[str]) -> list[str]:
    """The forms of a date that most lines hold; if several, the one by which the lines span least time is first."""
    begins = _best(lines, (*_BEGINS, *_EPOCHS))
    dates = _best(lines, [f"{begin}{end}" for begin in begins for end in (_ENDS if begin.endswith("ss") else ("",))])
    return ["ISO8601"] if any(date.replace("'T'", " ") in _ISO for date in dates) else dates


def _best(lines: Sequence[str], dates: Iterable[str]) -> list[str]:
    counts = dict[str, tuple[int, int]]()
    spans = dict[str, float]()
    beginnings = [line[:_REACH] for line in lines[:: max(len(lines) // _SOME, 1)]]
    for date in dates:
        read = [match for match in map(_date_regex(date).search, beginnings) if match]
        clocks = ({name: text for name, text in match.groupdict().items() if text} for match in read)
        instants = [instant[0] for clock in clocks if (instant := head_instant(clock, False))]
        if instants:
            counts[date] = len(instants), sum(len(match[0]) for match in read)
            spans[date] = (max(instants) - min(instants)).total_seconds()
    most = max(counts.values(), default=(0, 0))
    if most[0] < _FEW * len(beginnings):
        return []
    return sorted((date for date, count in counts.items() if count == most), key=spans.__getitem__)


def _level(lines: Sequence[str]) -> tuple[re.Pattern[str] | None, str]:
    """The regex of a level, if most lines have one, and its conversion word."""
    for flags, word in ((re.NOFLAG, "%-5p"), (re.IGNORECASE, "%-5p{lowerCase=true}")):
        level = re.compile(rf"(?<![A-Za-z]){LEVEL}(?![A-Za-z])", flags)
        if sum(level.search(line, 0, _REACH) is not None for line in lines) >= _MOST * len(lines):
            return level, word
    return None, ""


def _splits(line: str, instant: re.Pattern[str], level: re.Pattern[str] | None) -> Iterator[tuple[Shape, LineParts]]:
    """Every way to see the fields of a line: each known logger may be the field, before the message or behind it."""
    date = instant.search(line, 0, _REACH)
    word = level.search(line, 0, _REACH) if level else None
    if not date or (level and not word):
        return
    spans = [(*date.span(), "d"), *([(*word.span(), "p")] if word else [])]
    loggers = [(m.start(), logger) for m in _WORD.finditer(line) if (logger := _logger(m[0]))]
    for n, (begin, logger) in enumerate(loggers):
        fields = sorted([*spans, (begin, begin + len(logger), "c")])
        if begin < _REACH:
            yield _cut(line, fields, False)
        if n >= len(loggers) - 2 and fields[-1][2] == "c":
            yield _cut(line, fields, True)


def _logger(word: str) -> str | None:
    """The known logger that a word is, or that a method follows in it."""
    return next((name for name in (word, word.rpartition(".")[0]) if name and is_relevant(name)), None)


def _cut(line: str, fields: Sequence[tuple[int, int, str]], is_behind: bool) -> tuple[Shape, LineParts]:
    ends = [0, *(end for _, end, _ in fields)]
    parts = tuple(line[end:begin] for end, begin in zip(ends, [*(begin for begin, _, _ in fields), None], strict=True))
    gaps = (*parts[:-2], parts[-1]) if is_behind else parts[:-1]
    return Shape(tuple(name for _, _, name in fields), tuple(map(_around, gaps)), is_behind), parts


def _around(gap: str) -> tuple[str, str, bool]:
    """The constant texts at the beginning and at the end of what is between two fields, and whether that is all."""
    begin, *others = _VALUE.split(gap)
    return begin.strip(" "), others[-1].strip(" ") if others else "", not others


def _patterns(shape: Shape, lines: Sequence[LineParts], names: dict[str, str]) -> Iterator[str]:
    """The patterns of lines of one shape: their messages may begin and end in several ways."""
    fields = list(shape.fields)
    *columns, rests = map(list, zip(*lines, strict=True))
    tail, ends = "", [""]
    if shape.is_behind:
        *columns, messages = columns
        before = _common([text[::-1] for text in messages], _ANYTHING)[-1][::-1]
        tail = _literal(before) + names[fields.pop()] + _between(rests)
        rests = [text.removesuffix(before) for text in messages]
    else:
        ends = [end[::-1] for end in _common([text[::-1] for text in rests])]
    blanks = _blanks(rests, fields[-1])
    rests = [blanks + rest.lstrip(" ") for rest in rests]
    pairs = zip(columns, ["", *fields], fields, strict=False)
    head = "".join(_between(gaps, before, field) + names[field] for gaps, before, field in pairs)
    for separator, end in product(_separators(rests), ends):
        yield f"{head}{separator}%m{_literal(end)}{tail}%n"


def _between(gaps: Sequence[str], left: str = "", right: str = "") -> str:
    """The text between two fields: constant text, or constant texts around one more field."""
    begin, end, is_constant = _around(gaps[0])
    if not any(gap.strip(" ") for gap in gaps):
        return _blanks(gaps)
    last = _blanks([gap[::-1] for gap in gaps], right, _OPENING)
    return _blanks(gaps, left) + _literal(begin) + ("" if is_constant else "%t") + _literal(end) + last


def _blanks(texts: Sequence[str], field: str = "", marks: str = _CLOSING) -> str:
    """A blank, if all texts begin with one that does not fill a field up: a mark, such as a bracket, follows those."""
    is_filling = field in ("p", "c") and all(text.lstrip(" ")[:1] in marks for text in texts)
    return " " if all(text.startswith(" ") for text in texts) and not is_filling else ""


def _separators(rests: Sequence[str]) -> Iterator[str]:
    """The texts that may stand between the last field and the message; there may be two more fields."""
    for separator in reversed(_common(rests)):
        yield _literal(separator)
        for one in _frequent([rest[len(separator) :] for rest in rests]):
            yield f"{_literal(separator)}%t{_literal(one)}"
            for other in _frequent([rest[len(separator) :].partition(one)[2] for rest in rests]):
                yield f"{_literal(separator)}%t{_literal(one)}%t{_literal(other)}"


def _common(texts: Sequence[str], allowed: re.Pattern[str] = _NO_WORDS) -> list[str]:
    """The beginnings that most texts have, the shortest first; without a letter or digit if nothing else is allowed."""
    beginnings = [""]
    for length in range(1, _LONGEST + 1):
        text, count = Counter(text[:length] for text in texts).most_common(1)[0]
        if count < _MOST * len(texts) or not allowed.fullmatch(text):
            break
        beginnings.append(text)
    return beginnings


def _frequent(texts: Sequence[str]) -> list[str]:
    """The texts without a letter or digit that occur in most texts, the most frequent first."""
    counts = Counter(
        part
        for text in texts
        for part in {part for m in _NO_WORDS.finditer(text, 0, _REACH) for part in _beginnings(m[0])}
    )
    return [part for part, count in counts.most_common(_SEPARATORS) if count >= _MOST * len(texts)]


def _beginnings(text: str) -> Iterator[str]:
    """The text, and its beginnings without letters and digits."""
    yield text[:_LONGEST] if text[-1] != "=" else text
    yield from (text[:n] for n in range(1, min(_LONGEST, len(text))) if not text[n - 1].isalnum())


def _literal(text: str) -> str:
    return text.replace("%", "%%").replace("\t", r"\t")
