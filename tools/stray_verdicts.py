"""Verdicts outside of a table of rulings: `python -m tools.stray_verdicts` names each, and fails if there is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

JUDGING = ("kafka_hindsight/judgements", "kafka_hindsight/logs", "kafka_hindsight/knowledge")
RULINGS = "rulings"


def stray_verdicts(checkout: Path) -> Iterator[str]:
    """A sentence for each verdict that is made outside of a table of rulings."""
    for folder in JUDGING:
        for path in sorted((checkout / folder).rglob("*.py")):
            parts = path.relative_to(checkout).with_suffix("").parts
            if not any(part.startswith(RULINGS) or part.endswith(f"_{RULINGS}") for part in parts):
                for line in _verdicts(path.read_text(encoding="utf-8")):
                    yield (
                        f"{path.relative_to(checkout)}:{line}: found a verdict. Needed: none outside of a table of"
                        " rulings. Write a ruling in a module whose name ends with _rulings."
                    )


def _verdicts(text: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "Verdict":
                yield node.lineno


def main(checkout: Path = Path()) -> int:
    """Print each stray verdict. Return 0, or 1 if there is one."""
    sentences = list(stray_verdicts(checkout))
    print("\n".join(sentences), end="\n" * bool(sentences))
    return 1 if sentences else 0


if __name__ == "__main__":
    raise SystemExit(main())
