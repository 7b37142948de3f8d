"""Check our English: `python -m tools.style [PATH ...]` finds the turns that docs/style.md does not allow.

It reads pages, SQL comments, templates, and the strings and docstrings of Python code; without a path, all of the
checkout. It prints `file:line: turn -> what to write`, and ends with 1 if it found one.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
RULES = HOME / "docs" / "style.md"
PROGRAMS = ("kafka_hindsight", "spark_jobs", "plugins", "dags", "expectations", "lab", "setup", "docker", "tools")
SCOPE = ("README.md", "CHANGELOG.md", "Makefile", "docs", "queries", *PROGRAMS)

_TABLE = "## Turns that we do not use"
_ROW = re.compile(r"^\| `(?P<turn>.+?)` \| (?P<instead>.+) \|$", re.MULTILINE)
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_COMMENT = re.compile(r"--.*$|/\*.*?\*/", re.MULTILINE | re.DOTALL)
_TAG = re.compile(r"\{[{%#].*?[#%}]\}|<[^<>]*>", re.DOTALL)
_QUOTING = ("head", "regex", "records", "loggers", "not_decided")
"""Arguments that quote Kafka or a captured case."""


@dataclass(frozen=True)
class BadTurn:
    """A turn that is not allowed, and what to write instead."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True)
class Passage:
    """A piece of text with the line at which it begins. Lines of code in it are blank."""

    line: int
    text: str


def turns(page: str) -> list[BadTurn]:
    """The turns in the table of docs/style.md."""
    table = page.partition(_TABLE)[2].partition("\n## ")[0]
    return [
        BadTurn(re.compile(row["turn"].replace(r"\|", "|"), re.IGNORECASE), row["instead"])
        for row in _ROW.finditer(table)
    ]


def check(path: Path, not_used: Sequence[BadTurn]) -> Iterator[str]:
    """A sentence for each turn in a file, by line."""
    matches = sorted(
        (line, turn.instead, words)
        for text in texts(path)
        for turn in not_used
        for line, words in _matches(text, turn.pattern)
    )
    name = path.relative_to(HOME) if path.is_relative_to(HOME) else path
    for line, instead, words in matches:
        yield f'{name}:{line}: "{words}" -> {instead}'


def texts(path: Path) -> Iterator[Passage]:
    """The texts of a file. A string without a space is a name, and a string that quotes Kafka is not ours."""
    content = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".py":
            yield from _strings(ast.parse(content))
        case ".sql":
            yield from (Passage(content.count("\n", 0, m.start()) + 1, m.group()) for m in _COMMENT.finditer(content))
        case ".md":
            yield Passage(1, _without(_CODE, content))
        case ".html":
            yield Passage(1, _without(_TAG, content))
        case _:
            yield Passage(1, content)


def _strings(tree: ast.AST) -> Iterator[Passage]:
    if isinstance(tree, ast.keyword) and tree.arg in _QUOTING:
        return
    text = _text_of(tree)
    if text is not None:
        if " " in text:
            yield Passage(tree.lineno, _without(_CODE, text))  # type: ignore[attr-defined]
        return
    for child in ast.iter_child_nodes(tree):
        yield from _strings(child)


def _text_of(node: ast.AST) -> str | None:
    """The text of a string, or of an f-string with empty braces."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _without(quoted: re.Pattern[str], text: str) -> str:
    """A text without its quotations, with the same line numbers."""
    return quoted.sub(lambda m: "`" + "\n" * m.group().count("\n"), text)


def _matches(text: Passage, turn: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    words = [(w, text.line + n) for n, line in enumerate(text.text.splitlines()) for w in line.split() if w != "--"]
    starts = []
    length = 0
    for word, _ in words:
        starts.append(length)
        length += len(word) + 1
    for match in turn.finditer(" ".join(word for word, _ in words)):
        yield words[bisect_right(starts, match.start()) - 1][1], match.group().strip()


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """The text files in files and folders, by path."""
    for path in paths:
        if path.is_file():
            yield path
        else:
            yield from sorted(p for p in path.rglob("*") if p.suffix in (".py", ".sql", ".md", ".html"))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tools.style", description="Look for turns that docs/style.md does not allow."
    )
    parser.add_argument("path", nargs="*", type=Path, help="files or folders; default: all of the checkout")
    paths = parser.parse_args(arguments).path or [HOME / p for p in SCOPE]
    not_used = turns(RULES.read_text(encoding="utf-8"))
    sentences = [sentence for path in files(paths) for sentence in check(path.resolve(), not_used)]
    print("\n".join(sentences))
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
