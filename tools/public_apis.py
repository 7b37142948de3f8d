"""Find private names of other packages in our code: `python -m tools.public_apis`. They begin with one underscore.

A name that our own code defines is ours. Any other belongs to another package, whose next version may drop it.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

from kafka_hindsight.settings.home import HOME

SCOPE = ("dags", "expectations", "kafka_hindsight", "lab", "plugins", "setup", "spark_jobs", "tests", "tools")

_AROUND = ("lab/", "tests/")
"""Code around the product: a name that only this code defines does not count as ours in the product."""

DOCUMENTED = frozenset({"_exit", "_asdict", "_fields", "_make", "_replace", "_value_", "_name_"})
"""Names that Python's own documentation has."""

PY4J = frozenset({"_jvm", "_jsc", "_jdf", "_jsparkSession", "_gateway"})
"""Attributes of PySpark that lead to Java."""

ERRORS = frozenset(
    {
        "_ALL_BROKERS_DOWN",
        "_AUTHENTICATION",
        "_INVALID_ARG",
        "_PARTITION_EOF",
        "_SSL",
        "_UNKNOWN_PARTITION",
        "_UNKNOWN_TOPIC",
    }
)
"""Codes of librdkafka, as the documentation of its client has them."""

ALLOWED: Mapping[str, frozenset[str]] = {
    "kafka_hindsight/kafka/*.py": ERRORS,
    "plugins/hindsight_operator.py": frozenset({"_yarn_application_id"}),
    "plugins/hindsight_trigger.py": frozenset({"_kill_yarn_application"}),
    "lab/drill/canary.py": ERRORS,
    "spark_jobs/session.py": PY4J | {"_ensure_initialized"},
    "tests/live/test_drill_ends.py": frozenset({"_jvm"}),
    "tests/spark/*.py": PY4J,
    "tests/s3/*.py": PY4J,
    "tests/store/*.py": PY4J,
    "tests/support/one_spark.py": PY4J | {"_ensure_initialized"},
    "tests/support/pumping.py": frozenset({"_constants", "_parser"}),
    "tests/unit/docs/test_docs_examples.py": frozenset({"_actions"}),
}
"""Private names that a file may use.

The hook of Airflow's provider for Spark gives an application of YARN to its own operator only, by its private names.
"""


def main() -> int:
    """Print each private name of another package, and each entry of ALLOWED without a file. Return 1 for any."""
    trees = {str(path.relative_to(HOME)): _tree(path) for name in SCOPE for path in sorted((HOME / name).rglob("*.py"))}
    of_product = _count_names(tree for file, tree in trees.items() if not file.startswith(_AROUND))
    of_all = _count_names(trees.values())
    lines = [f"{pattern} names no file. Remove it from ALLOWED." for pattern in ALLOWED if not list(HOME.glob(pattern))]
    for file, tree in trees.items():
        lines += foreign(file, tree, of_all if file.startswith(_AROUND) else of_product)
    print(*lines, sep="\n", end="\n" if lines else "")
    return min(len(lines), 1)


def _count_names(trees: Iterable[ast.Module]) -> Counter[str]:
    return Counter(name for tree in trees for name in defined(tree))


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def defined(tree: ast.Module) -> Iterator[str]:
    """The names that a file defines: functions, classes, variables, and attributes of its own objects."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


def foreign(file: str, tree: ast.Module, ours: Counter[str]) -> Iterator[str]:
    """A line for each private name that a file uses of another package.

    `ours` counts how often our own code defines a name. A method that only this use defines overrides none of ours.
    """
    allowed = {name for pattern, names in ALLOWED.items() if fnmatch(file, pattern) for name in names}
    for line, name, overridden in _uses(tree):
        is_ours = name not in PY4J and ours[name] > overridden
        if _is_private(name) and not is_ours and name not in allowed:
            yield f"{file}:{line}: {name} is private to another package. Use its public interface."


def _uses(tree: ast.Module) -> Iterator[tuple[int, str, int]]:
    """The names that a file uses of objects and modules: line, name, and how often this use itself defines it."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                yield node.lineno, name, 1
            case ast.Attribute(attr=name):
                yield node.lineno, name, 0
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]):
                yield node.lineno, name, 0
            case ast.ImportFrom(module=str(module), names=imported):
                yield from ((node.lineno, name, 0) for name in (*module.split("."), *(each.name for each in imported)))
            case ast.Import(names=imported):
                yield from ((node.lineno, name, 0) for each in imported for name in each.name.split("."))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED


if __name__ == "__main__":
    sys.exit(main())
