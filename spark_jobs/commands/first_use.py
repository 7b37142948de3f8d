"""What set-up does for a checkout, done at the first use where pip installed us."""

from __future__ import annotations

import sys
from pathlib import Path

from spark_jobs.shared import java, launch, maven
from spark_jobs.shared.exits import BadInput


def prepare_spark() -> None:
    """Looks for Spark and a Java, and fetches Delta's jars where they are missing.

    Edge case: a folder that HINDSIGHT_JARS names is the user's own: nothing is fetched into it.
    Raises: BadInput where one of them is not to be had.
    """
    if not launch.IS_INSTALLED:
        return
    if missing := launch.missing_environment() or java.problem():
        raise BadInput(missing)
    folder = launch.jars()
    if folder.parent == launch.KEPT:
        _fetch(folder)
    elif not folder.exists():
        raise BadInput(f"HINDSIGHT_JARS names {folder}, and nothing is there. Needed: Delta's jars. Check the path.")


def _fetch(folder: Path) -> None:
    try:
        with maven.alone(folder):
            if not folder.exists():
                print(f"Fetching Delta's jars into {folder}: this is done once.", file=sys.stderr, flush=True)
                maven.fetch_delta(folder, launch.KEPT / "ivy")
    except maven.CannotFetch as problem:
        raise BadInput(str(problem)) from None
