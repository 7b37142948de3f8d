"""Names and commits in a table's `_delta_log`, read without an engine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

FOLDER = "_delta_log"

DELETES, COMPACTS, FENCES = "deletes", "compacts", "fences"
"""The parameters of our commits that delete rows and add none, that write the same rows into other files, and that
change nothing. Spark has operations for the first two."""

UPGRADES = "UPGRADE COLUMNS"
"""The operation of our commits that give a table of an earlier version today's columns, and keep its rows."""

WITHOUT_NEW_ROWS = frozenset({DELETES, COMPACTS, FENCES})

_COMMIT = re.compile(r"(\d{20})[.](?:json|checkpoint[.][^#]+)")


def newest_version(names: Iterable[str]) -> int | None:
    """The newest version in a log; None if it has no commit: such a table counts as not created."""
    return max((int(match[1]) for name in names if (match := _COMMIT.fullmatch(name))), default=None)


def is_temporary(name: str) -> bool:
    """Whether a file was being written when its writer ended. No commit names it.

    Delta makes `_delta_log`, writes commit 0 as `.*.tmp` there, and renames it. A kill may leave either of the two.
    delta-rs writes it as `*.json#1`. Source: object_store, LocalFileSystem, staged_upload_path.
    """
    return name.startswith(".") or "#" in name


def commit_name(version: int) -> str:
    """The name of a commit's file."""
    return f"{version:020d}.json"


def is_cut(commit: str) -> bool:
    """Whether the text of a commit is not whole. Source: Delta's protocol, a commit is JSON values, one a line."""
    lines = commit.splitlines()
    return not lines or not all(map(_is_action, lines))


def info(commit: str) -> Mapping[str, Any]:
    """The commitInfo of a commit, if that can be read; else empty."""
    actions = [json.loads(line) for line in commit.splitlines() if _is_action(line)]
    return next((a["commitInfo"] for a in actions if a.get("commitInfo")), {})


def _is_action(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
