"""Fetch Delta's jars at the first use of Spark, if pip installed us."""

from __future__ import annotations

import sys

from kafka_hindsight.settings.home import IS_INSTALLED, KEPT
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start import java, launch, maven


def prepare_engine(settings: Settings) -> None:
    """Prepare Spark for a run that needs it. Raises: BadInput, see `prepare_spark`."""
    if launch.uses_spark(settings.engine, launch.is_large(settings.logs, settings.client_logs)):
        prepare_spark()


def prepare_spark() -> None:
    """Check that Spark and Java are there, and fetch missing jars.

    A folder that HINDSIGHT_JARS names belongs to the user: nothing is fetched into it.

    Raises:
        BadInput: Spark, Java or the jars are missing.
    """
    if not IS_INSTALLED:
        return
    if missing := launch.missing_environment() or java.problem():
        raise BadInput(missing)
    folder = launch.jars()
    if folder.exists():
        return
    if folder.parent != KEPT:
        raise BadInput(f"HINDSIGHT_JARS names {folder}, and nothing is there. Needed: Delta's jars. Check the path.")
    try:
        with maven.alone(folder):
            if not folder.exists():
                print(f"Fetching Delta's jars into {folder}. This happens only once.", file=sys.stderr, flush=True)
                maven.fetch_delta(folder, KEPT / "ivy")
    except maven.CannotFetch as problem:
        raise BadInput(str(problem)) from None
