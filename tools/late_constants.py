"""Constants below their first use: `python -m tools.late_constants` names each, and fails if there is one.

A reader meets a name before its use. A table that names functions or classes of its module stands below them, because
Python needs it there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

FOLDERS = (
    "dags",
    "docker",
    "expectations",
    "kafka_hindsight",
    "lab",
    "plugins",
    "setup",
    "spark_jobs",
    "tests",
    "tools",
)


def late_constants(checkout: Path) -> Iterator[str]:
    """A sentence for each constant that stands below its first use.

    Args:
        checkout: The project's folder.
    """
    for folder in FOLDERS:
        for path in sorted((checkout / folder).rglob("*.py")):
            for name, line, use in late_in(path.read_text(encoding="utf-8")):
                yield (
                    f"{path.relative_to(checkout)}:{line}: found the constant {name} below its first use in line {use}."
                    " Needed: constants above their first use. Move it to the top of the file."
                )


def late_in(code: str) -> Iterator[tuple[str, int, int]]:
    """Each late constant of a module, with its line and that of its first use."""
    module = ast.parse(code)
    below = {s.name for s in module.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    uses: dict[str, int] = {}
    for statement in module.body:
        needs = _names_in(statement)
        for name in _constants_of(statement):
            if below & needs.keys():
                below.add(name)
            elif name in uses:
                yield name, statement.lineno, uses[name]
        for name, line in needs.items():
            uses.setdefault(name, line)


def _constants_of(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module sets."""
    match statement:
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(name)):
            yield name


def _names_in(statement: ast.stmt) -> Mapping[str, int]:
    """The names that a statement reads, with the first line of each."""
    names = [n for node in (statement, *_aliased(statement)) for n in ast.walk(node) if isinstance(n, ast.Name)]
    lines = sorted((n.lineno, n.id) for n in names if isinstance(n.ctx, ast.Load))
    return {name: line for line, name in reversed(lines)}


def _aliased(statement: ast.stmt) -> Iterator[ast.AST]:
    """The code in the text of a type alias, which names what stands below it."""
    match statement:
        case ast.AnnAssign(annotation=ast.Name("TypeAlias"), value=ast.Constant(str(text))):
            yield ast.parse(text)


def main(checkout: Path = Path()) -> int:
    """Print each late constant. Return 0, or 1 if there is one."""
    sentences = list(late_constants(checkout))
    print("\n".join(sentences), end="\n" * bool(sentences))
    return 1 if sentences else 0


if __name__ == "__main__":
    raise SystemExit(main())
