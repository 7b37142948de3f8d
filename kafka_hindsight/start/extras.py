"""The extras of the package: what only some verbs need, and how to install what is missing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import NamedTuple

from kafka_hindsight.settings.home import IS_INSTALLED
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start import launch


class Extra(NamedTuple):
    """An extra: the packages that it brings, and the command that brings them in a checkout."""

    packages: Sequence[str]
    in_checkout: str = "make setup"


EXTRAS: Mapping[str, Extra] = {
    "alerts": Extra(("apprise",)),
    "audit": Extra(("great-expectations", "numpy", "pandas")),
    "mcp": Extra(("mcp",), "make setup-check"),
    "snapshot": Extra(("confluent-kafka",)),
}
"""By name, those whose lack a verb says. Of Spark set-up says what is missing."""


def require_extra(name: str, what: str) -> None:
    """Check that the packages of an extra are there, unless audits run in another environment than this one.

    Args:
        name: The extra.
        what: The verb or the function that needs it, as the refusal names it.

    Raises:
        BadInput: A package is missing. The refusal has one command that installs it.
    """
    extra = EXTRAS[name]
    if name == "audit" and launch.spark_environment().resolve() != Path(sys.prefix).resolve():
        return
    if lacks := [package for package in extra.packages if not _is_installed(package)]:
        command = f"pip install {' '.join(_requirements(name))}" if IS_INSTALLED else extra.in_checkout
        raise BadInput(
            f"{what} found no {', '.join(lacks)}. Needed: the extra `{name}` of kafka-hindsight. What to do: {command}"
        )


def _is_installed(package: str) -> bool:
    """Whether a package is there. Nothing of it is loaded."""
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _requirements(name: str) -> list[str]:
    """The packages of an extra with their versions, quoted for a shell: pip finds them, wherever our wheel lies."""
    try:
        declared = [requirement.partition(";") for requirement in requires("kafka-hindsight") or ()]
    except PackageNotFoundError:  # the part for Airflow holds the same files
        declared = []
    own = [package.strip() for package, _, marker in declared if f'"{name}"' in marker.replace("'", '"')]
    return [f"'{package}'" for package in own] or [f"'kafka-hindsight[{name}]'"]
