"""Where things of ours lie: beside the library in a checkout, in its `_home` where pip installed it."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
"""The library itself."""

_INSIDE = PACKAGE / "_home"

IS_INSTALLED = _INSIDE.is_dir()

HOME = _INSIDE if IS_INSTALLED else PACKAGE.parent
"""The folder that holds `spark_jobs`, `expectations`, `queries`, `locks`, for Airflow `dags`: the project, or a part of
the wheel."""

PYTHON_PATH = os.pathsep.join(dict.fromkeys((str(PACKAGE.parent), str(HOME))))
"""PYTHONPATH of a process that we start: it finds the library, and what lies beside it."""

WORK = Path.cwd() if IS_INSTALLED else HOME
"""Where lakes, runs and settings lie unless a user names another place. What pip installed is not written to."""

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
KEPT = _CACHE / "kafka-hindsight" if IS_INSTALLED else HOME / ".build"
"""What is fetched or made once, and could be again."""

RUNS = WORK / (".hindsight" if IS_INSTALLED else ".airflow") / "runs"
"""What each run said."""

LAKE = WORK / "lake"
