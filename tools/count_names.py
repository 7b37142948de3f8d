"""Count names and docstrings that read badly: `python -m tools.count_names [--list] [PATH ...]`.

It prints, for the library and the programs around it: variables, parameters, attributes, functions and classes that are
bare participles, for each 1,000 that are bound; docstrings that begin with What, Of, Who or When, for each 1,000;
causes that are compared by name outside of rulings and knowledge; file names that are there twice outside of the
report's sections; lines of README.
`--list` prints the place of each.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = ("kafka_hindsight", "spark_jobs", "plugins", "dags", "expectations")

PARTICIPLE = re.compile(
    "_*(asked|begun|born|brought|called|chosen|counted|done|dropped|ended|expected|found|given|gone|grown|held|kept|known"
    "|laid|led|left|listed|lost|made|meant|named|needed|opened|passed|put|read|said|seen|sent|shown|started|stated"
    "|stopped|taken|thrown|told|tried|wanted|written)_*"
)
"""Words that say what was done instead of what a name holds; without participles that Kafka or Spark use."""

_OPENINGS = ("What ", "Of ", "Who ", "When ")
_FREE_OF_COMPARISONS = ("kafka_hindsight/knowledge", "kafka_hindsight/catalog")
"""Folders that declare causes."""

_TWICE = ("__init__", "__main__")
"""Names that many folders have. A section of the report has the name of its subject, too."""

_SECTIONS = ("kafka_hindsight/report/sections", "kafka_hindsight/catalog/nouns")


@dataclass
class NameCount:
    """A count: the total, and the places that read badly."""

    total: int = 0
    places: list[str] = field(default_factory=list)

    @property
    def per_thousand(self) -> float:
        """The places that read badly, for each 1,000."""
        return 1000 * len(self.places) / self.total if self.total else 0.0


def names_bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of everything that a module binds: variables, parameters, fields, functions and classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.arg():
                yield node.lineno, node.arg
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring of a module, a class or a function."""
    for node in ast.walk(tree):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                if text := ast.get_docstring(node):
                    yield getattr(node, "lineno", 1), text


def cause_comparisons(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the text of each comparison with the name of a cause, such as `row.cause == Cause.MEMBER_LEFT`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for part in (node.left, *node.comparators):
                if any(_is_cause(child) for child in ast.walk(part)):
                    yield node.lineno, ast.unparse(node)
                    break


def _is_cause(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id.endswith("Cause")
        and node.attr.isupper()
    )


def count(checkout: Path, paths: Iterable[Path]) -> dict[str, NameCount]:
    """The four counts over files of Python.

    Args:
        checkout: The project's folder, from which places are named.
        paths: The files.

    Returns:
        Each count by what it counts.
    """
    names, texts, causes, files = NameCount(), NameCount(), NameCount(), NameCount()
    stems = Counter[str]()
    for path in paths:
        place, tree = path.relative_to(checkout), ast.parse(path.read_text(encoding="utf-8"))
        for line, name in names_bound(tree):
            names.total += 1
            if PARTICIPLE.fullmatch(name):
                names.places.append(f"{place}:{line}: {name}")
        for line, text in docstrings(tree):
            texts.total += 1
            if text.startswith(_OPENINGS):
                texts.places.append(f"{place}:{line}: {text.splitlines()[0]}")
        if not str(place).startswith(_FREE_OF_COMPARISONS) and "rulings" not in str(place):
            causes.places += [f"{place}:{line}: {text}" for line, text in cause_comparisons(tree)]
        if path.stem not in _TWICE and not str(place).startswith(_SECTIONS):
            files.total += 1
            stems[path.stem] += 1
    files.places = sorted(f"{stem}.py: {n} times" for stem, n in stems.items() if n > 1)
    return {
        "names that are participles": names,
        "docstrings that begin with What, Of, Who or When": texts,
        "causes compared outside of rulings and knowledge": causes,
        "file names that are there twice": files,
    }


def python_files(paths: Iterable[Path]) -> list[Path]:
    """The files of Python in files and folders, by path."""
    return [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]


def main(arguments: Sequence[str] | None = None, checkout: Path = Path()) -> int:
    """Print the counts, and with `--list` each place."""
    parser = argparse.ArgumentParser(prog="python -m tools.count_names", description="How our names read.")
    parser.add_argument("path", nargs="*", type=Path, help="files or folders; default: all programs")
    parser.add_argument("--list", action="store_true", help="print where each of them stands")
    options = parser.parse_args(arguments)
    paths = [(checkout / path) for path in options.path or PROGRAMS]
    for title, result in count(checkout, python_files(paths)).items():
        if options.list:
            print("\n".join(result.places))
        rate = f", {result.per_thousand:.1f} of 1,000" if result.total else ""
        print(f"{title}: {len(result.places)}{rate}")
    print(f"lines of README.md: {len((checkout / 'README.md').read_text(encoding='utf-8').splitlines())}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
