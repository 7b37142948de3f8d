"""The prompt's line editor: what Tab offers, and a history of whole statements. GNU readline or libedit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

MAX_HISTORY = 1000
DELIMITERS = " \t\n()[]{},;=<>+-*/|'\"!:"
"""What ends a word: neither the dot of `gold.rebalances` nor that of `.tables`."""

_OPENERS = ("SELECT", "FROM", "WITH", "DESCRIBE", "SUMMARIZE", "SET VARIABLE")
_KEYWORDS = (
    *("SELECT", "DISTINCT", "FROM", "JOIN", "LEFT JOIN", "USING", "ON", "AS", "WHERE", "AND", "OR", "NOT", "IN", "IS"),
    *("NULL", "LIKE", "BETWEEN", "GROUP BY", "ALL", "HAVING", "QUALIFY", "ORDER BY", "DESC", "LIMIT", "UNION ALL"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "FILTER", "OVER", "PARTITION BY", "count", "sum", "avg", "min", "max"),
    *("round", "coalesce", "unnest", "date_trunc", "date_diff", "list_contains", "quantile_cont", "getvariable"),
)
_NO_ALIAS = {"", *(word for keyword in _KEYWORDS for word in keyword.upper().split())}
_WANTS_TABLE = re.compile(r"\b(from|join|describe|summarize)\s+$", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:from|join)\s+(?P<table>\w+\.\w+)(?:\s+(?:as\s+)?(?P<alias>\w+))?", re.IGNORECASE)


@dataclass(frozen=True)
class Words:
    """What can be said: each command's arguments, each table's columns, each named query's variables."""

    commands: Mapping[str, Iterable[str]]
    tables: Mapping[str, Iterable[str]]
    queries: Mapping[str, Iterable[str]]


def completions(before: str, word: str, after: str, words: Words) -> list[str]:
    """The words that may stand where one is begun.

    Takes: the statement before the word, also what stands on earlier lines; the word; what follows it.
    Gives: whole words in order; keywords in small letters where the word is begun so.
    """
    fitting = {c for c in _candidates(before, word, after, words) if c.lower().startswith(word.lower())}
    return sorted(fitting)


def _candidates(before: str, word: str, after: str, words: Words) -> Iterable[str]:
    said = before.split()
    if not said:
        return words.commands if word.startswith((".", "\\")) else (*words.queries, *_keywords(_OPENERS, word))
    if said[0] == ".run" and len(said) > 1:
        said = said[1:]
    if said[0] in words.queries:
        return () if before.endswith("=") else [f"{variable}=" for variable in words.queries[said[0]]]
    if said[0].startswith((".", "\\")):
        return words.commands.get(said[0], ()) if len(said) == 1 else ()
    if before.count("'") % 2:
        return ()
    if _WANTS_TABLE.search(before):
        return words.tables
    return _of_statement(word, f"{before} {after}", words)


def _of_statement(word: str, statement: str, words: Words) -> Iterator[str]:
    """Columns of the tables that a statement names, or of all where it names none yet, under their aliases too."""
    named = [m for m in _NAMED.finditer(statement) if m["table"] in words.tables]
    for table in {m["table"] for m in named} or words.tables:
        yield from words.tables[table]
    for m in named:
        alias = m["alias"] or ""
        name = m["table"].partition(".")[2] if alias.upper() in _NO_ALIAS else alias
        yield from (f"{name}.{column}" for column in words.tables[m["table"]])
    yield from words.tables
    yield from _keywords(_KEYWORDS, word)


def _keywords(keywords: Sequence[str], word: str) -> list[str]:
    return [k.lower() for k in keywords] if word.islower() else list(keywords)


@dataclass
class Editor:
    """One person's line editor; without readline it only reads."""

    words: Words
    readline: ModuleType | None
    kept: list[str] = field(default_factory=list)
    _waiting: str = ""
    _found: Sequence[str] = ()

    def read(self, waiting: str) -> str:
        """The next line, with its end. Raises: EOFError and KeyboardInterrupt, as `input` does."""
        self._waiting = waiting
        return input("      ...> " if waiting else "hindsight> ") + "\n"

    def keep(self, statement: str) -> None:
        """Put a statement into the history, whole, unless it is the one before."""
        statement = statement.strip()
        if self.kept[-1:] != [statement]:
            self.kept.append(statement)
            if self.readline:
                self.readline.add_history(statement)

    def complete(self, word: str, number: int) -> str | None:
        """What readline asks at Tab: the first completion, the next, and so on up to None."""
        if number == 0 and self.readline:
            line, begin = self.readline.get_line_buffer(), self.readline.get_begidx()
            after = line[self.readline.get_endidx() :]
            self._found = completions(self._waiting + line[:begin], word, after, self.words)
        return self._found[number] if number < len(self._found) else None


@contextmanager
def line_editor(words: Words, history: Path) -> Iterator[Editor]:
    """An editor that knows what was said before, and keeps what is said.

    Edge case: readline's own file would tear a statement of several lines apart, so each is kept as one line of JSON.
    """
    try:
        import readline
    except ImportError:  # a Python built without it has neither completion nor history
        yield Editor(words, None)
        return
    editor = Editor(words, readline)
    for statement in read_history(history):
        editor.keep(statement)
    readline.set_auto_history(False)
    readline.set_completer_delims(DELIMITERS)
    readline.set_completer(editor.complete)
    readline.parse_and_bind(binding(readline.__doc__ or ""))
    try:
        yield editor
    finally:
        readline.set_completer(None)
        if history.parent.is_dir():
            write_history(history, editor.kept)


def binding(said: str) -> str:
    """How Tab is bound: in libedit's words where Python's readline says that it is libedit."""
    return "bind ^I rl_complete" if "libedit" in said else "tab: complete"


def read_history(path: Path) -> list[str]:
    """The statements that were kept, oldest first; a line that is none is passed over."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with suppress(ValueError):
            statement = json.loads(line)
            found += [statement] if isinstance(statement, str) else []
    return found


def write_history(path: Path, statements: Sequence[str]) -> None:
    """Keep the newest statements, one line each."""
    lines = (json.dumps(statement) + "\n" for statement in statements[-MAX_HISTORY:])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
