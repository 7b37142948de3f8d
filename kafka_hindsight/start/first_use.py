"""Check what Spark needs before its first use, if pip installed us."""

from __future__ import annotations

from kafka_hindsight.settings.home import IS_INSTALLED
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start import java, launch


def prepare_engine(settings: Settings) -> None:
    """Prepare Spark for a run that needs it. Raises: BadInput, see `prepare_spark`."""
    if launch.uses_spark(settings.engine, launch.is_large(settings.logs, settings.client_logs)):
        prepare_spark()


def prepare_spark() -> None:
    """Check that Spark and Java are there. Raises: BadInput where one is missing."""
    if IS_INSTALLED and (missing := launch.missing_environment() or java.problem()):
        raise BadInput(missing)
