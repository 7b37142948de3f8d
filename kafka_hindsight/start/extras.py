"""The extras of the package: what only some verbs need, and how to install what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from typing import NamedTuple

from kafka_hindsight.settings.home import IS_INSTALLED
from kafka_hindsight.shared.exits import BadInput


class Extra(NamedTuple):
    """An extra: the modules that it brings, and the command that brings them in a checkout."""

    modules: Sequence[str]
    in_checkout: str = "make setup"


EXTRAS: Mapping[str, Extra] = {
    "alerts": Extra(("apprise",)),
    "audit": Extra(("great_expectations", "numpy", "pandas")),
    "mcp": Extra(("mcp",), "make setup-check"),
    "snapshot": Extra(("confluent_kafka",)),
}
"""By name, those whose lack a verb says. Of Spark set-up says what is missing."""


def require_extra(name: str, what: str) -> None:
    """Check that the packages of an extra are there.

    Args:
        name: The extra.
        what: The verb or the function that needs it, as the refusal names it.

    Raises:
        BadInput: A package is missing. The refusal has one command that installs it.
    """
    extra = EXTRAS[name]
    if lacks := [module for module in extra.modules if find_spec(module) is None]:
        command = f"pip install {' '.join(_requirements(name))}" if IS_INSTALLED else extra.in_checkout
        raise BadInput(
            f"{what} found no {', '.join(lacks)}. Needed: the extra `{name}` of kafka-hindsight. What to do: {command}"
        )


def _requirements(name: str) -> list[str]:
    """The packages of an extra with their versions, quoted for a shell: pip finds them, wherever our wheel lies."""
    try:
        declared = [requirement.partition(";") for requirement in requires("kafka-hindsight") or ()]
    except PackageNotFoundError:  # the part for Airflow holds the same files
        declared = []
    own = [package.strip() for package, _, marker in declared if f'"{name}"' in marker.replace("'", '"')]
    return [f"'{package}'" for package in own] or [f"'kafka-hindsight[{name}]'"]
