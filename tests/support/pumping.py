"""Lines that are made to let a regex run away: a pattern's own sample, with a piece of it or of the regex repeated."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import pairwise
from re import _constants as of_regex  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_REPEATS = {of_regex.MAX_REPEAT, of_regex.MIN_REPEAT, of_regex.POSSESSIVE_REPEAT}
_OF_CLASS = {
    of_regex.CATEGORY_DIGIT: "0",
    of_regex.CATEGORY_WORD: "a",
    of_regex.CATEGORY_SPACE: " ",
    of_regex.CATEGORY_NOT_SPACE: "a",
}
_ALWAYS = ("a", "0", " ", ", ", "0, ", "a-", "[", "]", "\n\t")
_LONGEST_RUN = 6

MOST = 400
"""Where a regex has more pieces and groups, every second or third is taken, and so on."""


def looped_groups(regex: str) -> Iterator[str]:
    """The groups that a regex repeats without end and gives back one by one: Java recurses once for each repetition.

    Gives: each as the parser shows it; a repeated character or class is none of them.
    """
    yield from _looped(parser.parse(regex, re.DOTALL | re.ASCII))


def _looped(tree: Any) -> Iterator[str]:
    for kind, value in tree:
        if kind in _REPEATS:
            _, most, inner = value
            if most is of_regex.MAXREPEAT and kind is not of_regex.POSSESSIVE_REPEAT and not _is_single(inner):
                yield str(inner)
        for part in _parts(kind, value):
            yield from _looped(part)


def _is_single(tree: Any) -> bool:
    return len(tree) == 1 and tree[0][0] in {of_regex.LITERAL, of_regex.NOT_LITERAL, of_regex.IN, of_regex.ANY}


def _parts(kind: Any, value: Any) -> list[Any]:
    """The regexes inside a piece of a regex."""
    if kind in _REPEATS:
        return [value[2]]
    if kind is of_regex.SUBPATTERN:
        return [value[3]]
    if kind is of_regex.BRANCH:
        return list(value[1])
    if kind is of_regex.ATOMIC_GROUP:
        return [value]
    return [value[1]] if kind in {of_regex.ASSERT, of_regex.ASSERT_NOT} else []


def units(regex: str) -> list[str]:
    """Texts that a regex may take again and again: its literals, with one character of each class, in runs."""
    pieces = [""]
    _collect(parser.parse(regex, re.DOTALL | re.ASCII), pieces)
    found = [p for p in pieces if p]
    runs = ["".join(found[i:j]) for i in range(len(found)) for j in range(i + 1, min(i + _LONGEST_RUN, len(found)) + 1)]
    return list(dict.fromkeys((*_ALWAYS, *runs)))


def _collect(tree: Any, pieces: list[str]) -> None:
    for kind, value in tree:
        if kind is of_regex.LITERAL:
            pieces[-1] += chr(value)
        elif kind is of_regex.IN:
            pieces[-1] += _one_of(value)
        else:
            is_loop = kind in _REPEATS and value[1] > 1
            for part in _parts(kind, value):
                pieces += [""] * (is_loop or kind is of_regex.BRANCH)
                _collect(part, pieces)
            pieces += [""] * is_loop


def _one_of(characters: Any) -> str:
    kind, value = characters[0]
    if kind is of_regex.CATEGORY:
        return _OF_CLASS.get(value, "a")
    return {of_regex.LITERAL: lambda: chr(value), of_regex.RANGE: lambda: chr(value[0])}.get(kind, lambda: "b")()


def pumped(
    compiled: re.Pattern[str], message: str, size: int, wanted: Container[int] | None = None
) -> Iterator[tuple[int, str]]:
    """A message that a regex matches, cut behind each of its groups and filled up; then as it is, and with its end.

    The end is spoiled, so that a regex has to try every way before it gives up. Gives: each with its number; where some
    numbers are wanted, these alone.
    """
    matched = compiled.match(message)
    assert matched is not None
    cuts = sorted({0, len(message), *(matched.end(i) for i in range(1, compiled.groups + 1) if matched[i] is not None)})
    fillings = [(unit, cut) for unit in units(compiled.pattern) for cut in cuts]
    fillings += [(message[before:after], after) for before, after in pairwise(cuts)]
    for place, (unit, cut) in enumerate(fillings[:: len(fillings) // MOST + 1]):
        for number, end in ((2 * place, ""), (2 * place + 1, message[cut:] + "\0")):
            if wanted is None or number in wanted:
                yield number, message[:cut] + unit * (size // len(unit) + 1) + end
