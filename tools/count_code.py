"""How much of the code is wired by hand: `python -m tools.count_code [CHECKOUT ...]`, a column for each checkout.

It reads the sources alone and imports none of them, so the checkout of any commit can be counted. `--list` names each
verdict outside a table of rulings, each function with too many branches and each long file. `--check` prints those
alone, with what to do.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOMS = ("kafka_hindsight/judgements", "kafka_hindsight/logs", "kafka_hindsight/report")
JUDGING = (*ROOMS[:-1], "kafka_hindsight/knowledge")
PACKAGE = ("kafka_hindsight", "spark_jobs")
PROGRAMS = ("kafka_hindsight", "spark_jobs", "dags", "plugins", "lab", "expectations", "setup", "tools")
CODE = (*PROGRAMS, "tests")

VERDICT_TYPES = ("Verdict", "Judged", "_Why", "_Owed")
"""The classes of a verdict at commit 28d0312, and the one that replaces them."""

RULINGS = "rulings"
"""A module is a table of rulings where its name, or that of a folder it lies in, begins or ends with it."""

DECLARED = (*VERDICT_TYPES, "Ruling")
"""What declares a verdict: its code, confidence, sentence, proof, source and cases."""

SAMPLES = ("sample", "samples", "counter_samples", "decides", "looks_alike")
"""Arguments that quote captured lines, or name the case that shows them."""

MOST_BRANCHES = 12
MOST_LINES = 400

_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.ExceptHandler, ast.match_case)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


@dataclass(frozen=True)
class Source:
    """One Python file: its path in the checkout, and its text."""

    path: Path
    text: str

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of its syntax tree."""
        return list(ast.walk(ast.parse(self.text)))


def string_subscripts(source: Source) -> list[int]:
    """Look-ups by a text written on the spot, `row["cause"]`. Gives: the line of each."""
    return [
        n.lineno
        for n in source.nodes
        if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant) and isinstance(n.slice.value, str)
    ]


def verdict_sites(source: Source) -> list[int]:
    """Verdicts made outside of a table of rulings. Gives: the line of each."""
    if any(p.startswith(RULINGS) or p.removesuffix(".py").endswith(f"_{RULINGS}") for p in source.path.parts):
        return []
    return [n.lineno for n in source.nodes if isinstance(n, ast.Call) and _called(n) in VERDICT_TYPES]


def branched_functions(source: Source, measure: Callable[[ast.AST], int]) -> list[int]:
    """Functions above MOST_BRANCHES by a measure, with the functions inside them. Gives: the line of each."""
    return [n.lineno for n in source.nodes if isinstance(n, _FUNCTIONS) and measure(n) > MOST_BRANCHES]


def branches(function: ast.AST) -> int:
    """Each if, conditional expression, loop, comprehension, condition of one, except and case; each `and` and `or`."""
    return sum(
        isinstance(n, _BRANCHES)
        + (len(n.ifs) if isinstance(n, ast.comprehension) else 0)
        + (len(n.values) - 1 if isinstance(n, ast.BoolOp) else 0)
        for n in ast.walk(function)
    )


def branches_as_reviewed(function: ast.AST) -> int:
    """As the review of 28d0312 counted: returns too, operands for operators, no condition of a comprehension."""
    return sum(
        isinstance(n, (*_BRANCHES, ast.Return)) + (len(n.values) if isinstance(n, ast.BoolOp) else 0)
        for n in ast.walk(function)
    )


def lines_of_logic(source: Source) -> list[int]:
    """The lines that hold code, not blank ones, comments, docstrings and captured samples."""
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    code = {i for t in tokens if t.type not in _NO_CODE for i in range(t.start[0], t.end[0] + 1)}
    blank = {i for i, line in enumerate(source.text.splitlines(), 1) if not line.strip()}
    return sorted(code - blank - {i for n in source.nodes if _is_prose(n) for i in _lines(n)})


def lines_without_verdicts(source: Source) -> list[int]:
    """The lines of logic outside of what declares a verdict: sentences, sources and cases are data, as samples are."""
    declared = (n for n in source.nodes if isinstance(n, ast.Call) and _called(n) in DECLARED)
    return sorted(set(lines_of_logic(source)) - {i for n in declared for i in _lines(n)})


def long_file(source: Source) -> list[int]:
    """The file's last line where it has more than MOST_LINES."""
    count = len(source.text.splitlines())
    return [count] if count > MOST_LINES else []


@dataclass(frozen=True)
class Figure:
    """A line of the table: what is counted, below which folders. `instead`: what to do where there has to be none."""

    name: str
    folders: Sequence[str]
    count: Callable[[Source], list[int]]
    instead: str = ""


FIGURES = (
    Figure("string subscripts, judgements and report", ROOMS, string_subscripts),
    Figure("string subscripts, the product", PACKAGE, string_subscripts),
    Figure(
        "verdicts written outside tables of rulings",
        JUDGING,
        verdict_sites,
        "Write a ruling in a module whose name ends with _rulings",
    ),
    Figure(
        f"functions above {MOST_BRANCHES} branches and boolean operators",
        PROGRAMS,
        lambda source: branched_functions(source, branches),
        "Split the function by meaning",
    ),
    Figure(
        "  the same as the review measured", PROGRAMS, lambda source: branched_functions(source, branches_as_reviewed)
    ),
    Figure("lines of logic, judgements and report", ROOMS, lines_of_logic),
    Figure("  without the declarations of verdicts", ROOMS, lines_without_verdicts),
    Figure("lines of logic, the product without samples", PACKAGE, lines_of_logic),
    Figure(f"Python files above {MOST_LINES} lines", CODE, long_file, "Split the module by subject"),
)


def sources(checkout: Path) -> list[Source]:
    """The Python files of a checkout below CODE."""
    paths = sorted(path for folder in CODE for path in (checkout / folder).rglob("*.py"))
    return [Source(path.relative_to(checkout), path.read_text(encoding="utf-8")) for path in paths]


def found(figure: Figure, read: Iterable[Source]) -> Iterator[str]:
    """Where each thing that a figure counts stands: `path:line`."""
    for source in read:
        if any(source.path.is_relative_to(folder) for folder in figure.folders):
            yield from (f"{source.path}:{line}" for line in figure.count(source))


def to_mend(read: Iterable[Source]) -> Iterator[str]:
    """What should not be in a checkout: a sentence for each, with what to do."""
    of_checkout = list(read)
    for figure in FIGURES:
        if figure.instead:
            for place in found(figure, of_checkout):
                yield f"{place}: found one of: {figure.name}. Needed: none. {figure.instead}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Gives: 0; 1 where `--check` finds something; 2 for a folder that is not a checkout."""
    parser = argparse.ArgumentParser(prog="python -m tools.count_code", description="Count what is wired by hand.")
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path()], help="one or several; default: here")
    parser.add_argument("--list", action="store_true", help="name what is counted in the last checkout")
    parser.add_argument("--check", action="store_true", help="print only what has to go from the last checkout")
    options = parser.parse_args(arguments)
    if strange := [c for c in options.checkouts if not (c / "kafka_hindsight").is_dir()]:
        print(
            f"Found no kafka_hindsight in {', '.join(map(str, strange))}. Needed: checkouts of the project.",
            file=sys.stderr,
        )
        return 2
    read = [sources(checkout) for checkout in options.checkouts]
    if options.check:
        problems = list(to_mend(read[-1]))
        print("\n".join(problems), end="\n" if problems else "")
        return 1 if problems else 0
    widest = max(len(f.name) for f in FIGURES)
    print(" " * widest, *(f"{c.resolve().name:>10}" for c in options.checkouts))
    for figure in FIGURES:
        _print(figure, read, widest, options.list and bool(figure.instead))
    return 0


def _print(figure: Figure, read: Sequence[Sequence[Source]], width: int, is_listed: bool) -> None:
    places = [list(found(figure, of_checkout)) for of_checkout in read]
    print(f"{figure.name:{width}}", *(f"{len(p):>10,}" for p in places))
    if is_listed:
        print("\n".join(f"    {place}" for place in places[-1]))


def _called(call: ast.Call) -> str | None:
    return getattr(call.func, "id", None) or getattr(call.func, "attr", None)


def _is_prose(node: ast.AST) -> bool:
    """Whether a node is a text that stands alone, or an argument that quotes lines."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return isinstance(node, ast.keyword) and node.arg in SAMPLES


def _lines(node: ast.AST) -> range:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return range(first, last + 1)


if __name__ == "__main__":
    sys.exit(main())
