"""What the names and the commits in a table's `_delta_log` say. No engine is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

FOLDER = "_delta_log"

DELETES = "deletes"
"""The parameter of a commit of delta-rs that takes rows away for good, and adds none. Spark has an operation for it."""

_COMMIT = re.compile(r"(\d{20})[.](?:json|checkpoint[.][^#]+)")


def newest_version(names: Iterable[str]) -> int | None:
    """The newest version that a log names; None where it holds no commit: such a table counts as not created."""
    return max((int(named[1]) for name in names if (named := _COMMIT.fullmatch(name))), default=None)


def user_metadata(commit: str) -> dict[str, Any]:
    """What the writer of a commit said in it as a JSON object; nothing where it said none."""
    actions = (json.loads(line) for line in commit.splitlines())
    said = next((a["commitInfo"].get("userMetadata") for a in actions if "commitInfo" in a), None)
    try:
        told = json.loads(said or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def is_temporary(name: str) -> bool:
    """Whether a file was being written when its writer ended; no commit names it.

    Edge case: Delta makes `_delta_log`, writes commit 0 as `.*.tmp` there, and renames it. A kill may leave each of
    the two. delta-rs writes it as `*.json#1`. Source: object_store, LocalFileSystem, staged_upload_path.
    """
    return name.startswith(".") or "#" in name


def commit_name(version: int) -> str:
    """The file of a commit."""
    return f"{version:020d}.json"


def is_cut(commit: str) -> bool:
    """Whether the text of a commit is not whole. Source: Delta's protocol, a commit is JSON values, one a line."""
    lines = commit.splitlines()
    return not lines or not all(map(_is_action, lines))


def info(commit: str) -> Mapping[str, Any]:
    """What a commit says of itself, as far as that can be read."""
    actions = [json.loads(line) for line in commit.splitlines() if _is_action(line)]
    return next((a["commitInfo"] for a in actions if a.get("commitInfo")), {})


def _is_action(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
