"""Count the lines in bodies of functions, room by room: `python -m tools.count_code`. It never fails.

A line counts if it lies between the first statement and the end of a function or a method, and is not blank.
Docstrings, signatures, imports, declarations of classes and data of modules do not count; comments do. A function
inside another one counts once.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PRODUCT = ("kafka_hindsight", "spark_jobs")


def room_of(path: Path) -> str:
    """The room of a file: a folder of the library, or a top folder."""
    return "/".join(path.parts[: 2 if path.parts[0] == "kafka_hindsight" and len(path.parts) > 2 else 1])


def count_bodies(checkout: Path) -> Counter[str]:
    """The lines in bodies of functions of the library and the jobs, by room.

    Args:
        checkout: The project's folder.
    """
    counts: Counter[str] = Counter()
    for folder in PRODUCT:
        for path in sorted((checkout / folder).rglob("*.py")):
            counts[room_of(path.relative_to(checkout))] += lines_in_bodies(path.read_text(encoding="utf-8"))
    return counts


def lines_in_bodies(code: str) -> int:
    """The lines in bodies of the functions of a module."""
    functions = [n for n in ast.walk(ast.parse(code)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    inside = {number for function in functions for statement in function.body for number in _numbers(statement)}
    docstrings = {number for function in functions for number in _docstring(function)}
    texts = code.splitlines()
    return sum(bool(texts[number - 1].strip()) for number in inside - docstrings)


def _docstring(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[int]:
    if ast.get_docstring(function, clean=False) is not None:
        yield from _numbers(function.body[0])


def _numbers(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def main(checkout: Path = Path()) -> int:
    """Print the lines of each room, and their sum."""
    counts = count_bodies(checkout)
    for room, lines in sorted(counts.items()):
        print(f"{room:<32}{lines:>8,}")
    print(f"{'bodies of functions in all':<32}{counts.total():>8,}  (without blank lines and docstrings)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
