"""Check this machine and the parts of set-up, as JSON for `hindsight doctor`.

Standard library only: it runs where set-up has not run yet.
"""

from __future__ import annotations

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator

from kafka_hindsight.doctor.doctor_checks import CheckWords
from setup import build, needs


def checks() -> Iterator[CheckWords]:
    """Python, space on the disk, and each part of set-up."""
    yield _required("Python", needs.require_python, f"{platform.python_version()} ({sys.executable})")
    yield _required("space", needs.require_space, f"{shutil.disk_usage(needs.HOME).free / 1e9:.1f} GB free")
    spark = next(part for part in build.PARTS if part.name == "spark")
    for part in build.PARTS:
        current = build.is_current(part) or (part.name == "local" and build.is_current(spark))
        says = "built" if current else f"`make setup` builds it: {part.says}"
        yield "good" if current else "later", part.name, says


def _required(what: str, require: Callable[[], None], text: str) -> CheckWords:
    try:
        require()
    except needs.CannotBuild as problem:
        return "missing", what, str(problem)
    return "good", what, text


if __name__ == "__main__":
    print(json.dumps([*checks()]))
