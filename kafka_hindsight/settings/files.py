"""The file of settings as it is written, hindsight.toml."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from kafka_hindsight.settings.home import WORK
from kafka_hindsight.shared.exits import BadInput

FILE_VARIABLE = "HINDSIGHT_CONFIG"
"""Names the file; without it `hindsight.toml` where we work: in the project's folder, or where pip installed us, in the
user's."""


def file_path() -> Path | None:
    """The file that is in force, if any."""
    named = os.environ.get(FILE_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser().absolute()
    usual = WORK / "hindsight.toml"
    return usual if usual.exists() else None


def read_toml(path: Path) -> dict[str, Any]:
    """The raw values of a file. Raises: BadInput where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BadInput(
            f"{path} cannot be read: {problem}. Needed: a TOML file with [[clusters]], [alerts], or both. Mend it, or "
            f"unset {FILE_VARIABLE}."
        ) from None
