"""A step in a container: the operators of Airflow's own providers, with a command that runs the step."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from airflow.sdk import BaseOperator
from hindsight_child import CONTAINER
from hindsight_step import StepTask, command_of

from kafka_hindsight.lake.results import forget_result
from kafka_hindsight.shared.exits import NEVER_RETRIED, BadInput


class ProviderOperator(NamedTuple):
    """An operator of a provider: the argument for its command, defaults that users may change, and fixed arguments."""

    module: str
    name: str
    command: str
    defaults: Mapping[str, Any]
    fixed: Mapping[str, Any]


KINDS = {
    "kubernetes": ProviderOperator(
        "airflow.providers.cncf.kubernetes.operators.pod", "KubernetesPodOperator", "cmds", {}, {}
    ),
    "docker": ProviderOperator(
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


def read_container(text: str) -> tuple[ProviderOperator, dict[str, Any]]:
    """Read the kind of container and its operator's arguments. The text may hold a secret: no error quotes it."""
    try:
        ((name, arguments),) = json.loads(text).items()
        return KINDS[name], {**KINDS[name].defaults, **arguments, **KINDS[name].fixed, **_ENDS}
    except (ValueError, AttributeError, KeyError, TypeError):
        raise BadInput(
            f'{CONTAINER} cannot be used. Needed: JSON such as {{"docker": {{"image": "hindsight:0.1.0"}}}}, with one'
            f" of {', '.join(KINDS)} and what its operator takes. Mend it."
        ) from None


def _operator(kind: ProviderOperator, arguments: Mapping[str, Any]) -> type[BaseOperator]:
    try:
        base: Any = getattr(importlib.import_module(kind.module), kind.name)
    except ModuleNotFoundError as missing:
        raise BadInput(f"{CONTAINER} needs {kind.name}: {missing}. Install its provider beside Airflow.") from None

    class ContainedStepOperator(StepTask, base):  # type: ignore[misc]
        """An operator that runs one step in a container."""

        template_fields = tuple(dict.fromkeys((*StepTask.template_fields, *base.template_fields)))
        operator_arguments = arguments

        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            setattr(self, kind.command, command_of)

        def execute(self, context: Any) -> None:
            """Run the container, and wait for it here or in the triggerer, as the variable says."""
            forget_result(*self.place)
            with self.ending():
                super().execute(context)

        def trigger_reentry(self, context: Any, event: Any) -> None:
            """Go on when the triggerer has seen the end of the pod."""
            with self.ending():
                super().trigger_reentry(context, event)

    return ContainedStepOperator
