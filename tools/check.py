"""The checks of the code: `python -m tools.check` runs them all, also after one has failed, and names what failed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
PROGRAMS = Path(sys.executable).parent
"""The programs of the environment of tests and checks."""

CHECKS: Mapping[str, Sequence[str]] = {
    "format": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "types": ("mypy",),
    "import contracts": ("lint-imports",),
    "generated pages": ("python", "-m", "tools.pages.docs", "--check"),
    "English": ("python", "-m", "tools.style"),
    "public APIs": ("python", "-m", "tools.public_apis"),
    "verdicts in rulings": ("python", "-m", "tools.stray_verdicts"),
    "constants above their use": ("python", "-m", "tools.late_constants"),
    "lines in bodies, never failing": ("python", "-m", "tools.count_code"),
    "most unit tests": (
        *("python", "-m", "pytest", "-q", "-n", "auto", "--dist", "loadscope"),
        *("-m", "not hypothesis and not long", "tests/unit"),
    ),
}
"""Each check and its command, the fastest first."""


def main(checks: Mapping[str, Sequence[str]] = CHECKS) -> int:
    """Run all checks, one after another. Return 0, or 1 if one failed."""
    failed = [name for name, command in checks.items() if not _holds(name, command)]
    verdict = f"{len(failed)} of {len(checks)} checks failed: {', '.join(failed)}." if failed else "All checks passed."
    print(f"\n{verdict}")
    return 1 if failed else 0


def _holds(name: str, command: Sequence[str]) -> bool:
    print(f"\n{name}: {' '.join(command)}", flush=True)
    program, *arguments = command
    return subprocess.run([PROGRAMS / program, *arguments], cwd=HOME).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
