"""What set-up needs of this machine and what it has built, as JSON for `hindsight doctor`.

Standard library only: it runs where set-up has not run yet.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator

from setup import build, needs

Found = tuple[str, str, str]
"""State, what was looked at, and what was found: as `hindsight doctor` prints it."""


def looked_at() -> Iterator[Found]:
    """Python, room, and each part."""
    yield _required("Python", needs.require_python, f"{platform.python_version()} ({sys.executable})")
    yield _required("room", needs.require_space, f"{shutil.disk_usage(needs.HOME).free / 1e9:.1f} GB free")
    for part in build.PARTS:
        current = build.is_current(part)
        says = "built" if current else f"`make setup` builds it: {part.sentence}"
        yield "good" if current else "later", part.name, says


def _required(what: str, require: Callable[[], None], found: str) -> Found:
    try:
        require()
    except needs.CannotBuild as problem:
        return "missing", what, str(problem)
    return "good", what, found


if __name__ == "__main__":
    print(json.dumps([*looked_at()]))
