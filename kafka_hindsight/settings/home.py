"""The folders of the product, beside the library in a checkout, in its `_home` if pip installed it; hindsight.toml."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from kafka_hindsight.shared.exits import BadInput

PACKAGE = Path(__file__).resolve().parent.parent
"""The library itself."""

_INSIDE = PACKAGE / "_home"

IS_INSTALLED = _INSIDE.is_dir()

HOME = _INSIDE if IS_INSTALLED else PACKAGE.parent
"""The folder that holds `spark_jobs`, `expectations`, `queries`, `locks`, for Airflow `dags`: the project, or a part of
the wheel."""

PYTHON_PATH = os.pathsep.join(dict.fromkeys((str(PACKAGE.parent), str(HOME))))
"""PYTHONPATH of the processes that we start: the library and the packages beside it."""

WORK = Path.cwd() if IS_INSTALLED else HOME
"""The default folder of lakes, runs and settings. The folder into which pip installed us is never written to."""

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
KEPT = _CACHE / "kafka-hindsight" if IS_INSTALLED else HOME / ".build"
"""Files that are fetched or built once, and can be fetched or built again."""

RUNS = WORK / (".hindsight" if IS_INSTALLED else ".airflow") / "runs"
"""The logs and progress files of runs."""

LAKE = WORK / "lake"


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
