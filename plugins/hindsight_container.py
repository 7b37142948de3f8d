"""A step in a container: the operators of Airflow's own providers, with a command that runs the step."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from airflow.sdk import BaseOperator
from hindsight_child import CONTAINER
from hindsight_step import StepTask, settings_of

from kafka_hindsight.shared.exits import NEVER_RETRIED, BadInput


class Kind(NamedTuple):
    """An operator of a provider: the argument for its command, defaults that users may change, and fixed arguments."""

    module: str
    name: str
    command: str
    defaults: Mapping[str, Any]
    fixed: Mapping[str, Any]


KINDS = {
    "kubernetes": Kind(
        "airflow.providers.cncf.kubernetes.operators.pod", "KubernetesPodOperator", "cmds", {}, {"deferrable": False}
    ),
    "docker": Kind(
        "airflow.providers.docker.operators.docker",
        "DockerOperator",
        "command",
        {"auto_remove": "force", "mount_tmp_dir": False},
        {"do_xcom_push": False},
    ),
}
_ENDS = {"skip_on_exit_code": sorted(NEVER_RETRIED)}
"""Exit codes that are never retried: the operator skips its task, and the step turns that into a failure for good."""


def container_operator() -> type[BaseOperator] | None:
    """The operator that runs a step in the container that HINDSIGHT_CONTAINER describes; None where it is not set.

    Raises:
        BadInput: The variable cannot be used.
    """
    text = os.environ.get(CONTAINER, "").strip()
    return _operator(*read_container(text)) if text else None


def read_container(text: str) -> tuple[Kind, dict[str, Any]]:
    """Read the kind of container and its operator's arguments. The text may hold a secret: no error quotes it."""
    try:
        ((name, arguments),) = json.loads(text).items()
        return KINDS[name], {**KINDS[name].defaults, **arguments, **KINDS[name].fixed, **_ENDS}
    except (ValueError, AttributeError, KeyError, TypeError):
        raise BadInput(
            f'{CONTAINER} cannot be used. Needed: JSON such as {{"docker": {{"image": "hindsight:0.1.0"}}}}, with one'
            f" of {', '.join(KINDS)} and what its operator takes. Mend it."
        ) from None


def _operator(kind: Kind, arguments: Mapping[str, Any]) -> type[BaseOperator]:
    try:
        base: Any = getattr(importlib.import_module(kind.module), kind.name)
    except ModuleNotFoundError as missing:
        raise BadInput(f"{CONTAINER} needs {kind.name}: {missing}. Install its provider beside Airflow.") from None

    class ContainedStepOperator(StepTask, base):  # type: ignore[misc]
        """An operator that runs one step in a container."""

        operator_arguments = arguments

        def execute(self, context: Any) -> None:
            """Run the container and wait for it."""
            self.step_settings = settings_of(context, self.window)
            setattr(
                self, kind.command, ["hindsight", "step", self.step.name, "--settings", json.dumps(self.step_settings)]
            )
            with self.ending():
                super().execute(context)

    return ContainedStepOperator
