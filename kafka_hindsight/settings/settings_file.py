"""The settings file, hindsight.toml."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from kafka_hindsight.settings.home import WORK
from kafka_hindsight.shared.exits import BadInput

FILE_VARIABLE = "HINDSIGHT_CONFIG"
"""The variable that names the file; default: `hindsight.toml` in the project's folder, or in the working folder if pip
installed us."""


def file_path() -> Path | None:
    """The settings file in force; None if there is none."""
    location = os.environ.get(FILE_VARIABLE, "").strip()
    if location:
        return Path(location).expanduser().absolute()
    usual = WORK / "hindsight.toml"
    return usual if usual.exists() else None


def read_toml(path: Path) -> dict[str, Any]:
    """The raw values of a file. Raises: BadInput where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BadInput(
            f"{path} cannot be read: {problem}. Needed: a TOML file with [[clusters]], [alerts], or both. Correct it, "
            f"or unset {FILE_VARIABLE}."
        ) from None
