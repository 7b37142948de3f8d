"""What set-up does for a checkout, done at the first use where pip installed us."""

from __future__ import annotations

import sys

from spark_jobs.shared import java, launch, maven
from spark_jobs.shared.exits import BadInput


def prepare_spark() -> None:
    """Looks for a Java, and fetches Delta's jars where they are missing. Raises: BadInput where one is not to be had.

    Edge case: a folder that HINDSIGHT_JARS names is the user's own: nothing is fetched into it.
    """
    if not launch.IS_INSTALLED:
        return
    if problem := java.problem():
        raise BadInput(problem)
    folder = launch.jars()
    if folder.exists():
        return
    if folder.parent != launch.KEPT:
        raise BadInput(f"HINDSIGHT_JARS names {folder}, and nothing is there. Needed: Delta's jars. Check the path.")
    print(f"Fetching Delta's jars into {folder}: this is done once.", file=sys.stderr, flush=True)
    try:
        maven.fetch_delta(folder, launch.KEPT / "ivy")
    except maven.CannotFetch as problem:
        raise BadInput(str(problem)) from None
