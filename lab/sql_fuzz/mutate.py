"""Statements made from others: cut, spliced, wrapped, their names swapped. Each follows from a seed and its number."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\w+|\s+|.", re.DOTALL)
_LONGEST = 2000
_CHANGES_MADE = (0, 1, 1, 1, 2, 3)

_WRAPPINGS = (
    "SELECT * FROM ({0}) AS t",
    "SELECT ({0})",
    "SELECT 1 WHERE EXISTS ({0})",
    "SELECT 1 WHERE 1 IN ({0})",
    "SELECT 1 ORDER BY ({0})",
    "SELECT 1 LIMIT ({0})",
    "WITH t AS ({0}) SELECT * FROM t",
    "WITH t AS ({0}) SELECT 1",
    "WITH t AS MATERIALIZED ({0}) FROM t",
    "SELECT 1 UNION ALL ({0})",
    "SELECT * FROM gold.rebalances AS r, LATERAL ({0}) AS t",
    "SELECT 1; {0}",
    "{0}; SELECT 1",
    "EXPLAIN {0}",
    "EXPLAIN ANALYZE {0}",
    "DESCRIBE {0}",
    "DESCRIBE QUERY {0}",
    "SUMMARIZE {0}",
    "PREPARE p AS {0}",
    "CREATE TEMPORARY VIEW v AS {0}",
    "CREATE TABLE x AS {0}",
    "CACHE TABLE x AS {0}",
    "BEGIN {0}; END",
    "SET VARIABLE x = ({0})",
    "/* {0} */ SELECT 1",
    "-- SELECT 1\n{0}",
    "FROM query('{1}')",
    "SELECT json_serialize_plan('{1}')",
    "FROM json_execute_serialized_sql(json_serialize_sql('{1}'))",
    "EXECUTE IMMEDIATE '{1}'",
    "COPY ({0}) TO 'x.csv'",
    "PRAGMA {0}",
    "CALL {0}",
)
"""`{0}` is a statement, `{1}` the same within quotation marks."""

_CALLS = (
    "SELECT {0}({1})",
    "FROM {0}({1})",
    "SELECT * FROM range(1) WHERE {0}({1}) IS NULL",
    "CALL {0}({1})",
    "PRAGMA {0}({1})",
)


@dataclass(frozen=True)
class Statements:
    """Statements of one engine.

    Takes: statements to start from; the names of the engine's functions; arguments as SQL, by which functions reach
    files and networks.
    """

    seed: int
    corpus: Sequence[str]
    functions: Sequence[str]
    arguments: Sequence[str]

    def __getitem__(self, number: int) -> str:
        """The statement with a number: the corpus comes first, then what is made from it."""
        if number < len(self.corpus):
            return self.corpus[number]
        chance = random.Random(f"{self.seed}:{number}")
        text = self._call(chance) if chance.random() < 0.3 else chance.choice(self.corpus)
        for _ in range(chance.choice(_CHANGES_MADE)):
            text = chance.choice(_CHANGES)(self, chance, text)
        return text[:_LONGEST]

    def _call(self, chance: random.Random) -> str:
        given = chance.choices(self.arguments, k=chance.randint(0, 3))
        return chance.choice(_CALLS).format(chance.choice(self.functions), ", ".join(given))

    def _wrap(self, chance: random.Random, text: str) -> str:
        return chance.choice(_WRAPPINGS).format(text, text.replace("'", "''"))

    def _cross(self, chance: random.Random, text: str) -> str:
        """The beginning of one statement and the end of another."""
        one, other = _TOKEN.findall(text), _TOKEN.findall(chance.choice(self.corpus))
        return "".join(one[: chance.randint(0, len(one))] + other[chance.randint(0, len(other)) :])

    def _nest(self, chance: random.Random, text: str) -> str:
        """Another statement, or a call, in place of a token."""
        inner = chance.choice(self.corpus) if chance.random() < 0.5 else self._call(chance)
        return _replaced(chance, text, f"({inner})")

    def _swap(self, chance: random.Random, text: str) -> str:
        """A token of another statement, a function's name or an argument in place of a token."""
        tokens = _TOKEN.findall(chance.choice(self.corpus))
        return _replaced(
            chance, text, chance.choice((*tokens, chance.choice(self.functions), chance.choice(self.arguments)))
        )

    def _drop(self, chance: random.Random, text: str) -> str:
        return _replaced(chance, text, "")

    def _disguise(self, chance: random.Random, text: str) -> str:
        """The same name otherwise: in quotation marks, in capitals, with a schema, behind a comment."""
        names = [t for t in _TOKEN.findall(text) if t.isidentifier()]
        if not names:
            return text
        name = chance.choice(names)
        forms = (
            f'"{name}"',
            f"`{name}`",
            name.upper(),
            f"main.{name}",
            f"system.main.{name}",
            f"builtin.{name}",
            f"/**/{name}/**/",
        )
        return re.sub(rf"\b{name}\b", lambda _: chance.choice(forms), text, count=1)


_CHANGES: Sequence[Callable[[Statements, random.Random, str], str]] = (
    Statements._wrap,
    Statements._wrap,
    Statements._nest,
    Statements._disguise,
    Statements._cross,
    Statements._nest,
    Statements._swap,
    Statements._drop,
    Statements._disguise,
)


def _replaced(chance: random.Random, text: str, by: str) -> str:
    tokens = _TOKEN.findall(text)
    if not tokens:
        return by
    at = chance.randrange(len(tokens))
    return "".join((*tokens[:at], by, *tokens[at + 1 :]))
