"""A step in a container: the operators of Airflow's own providers, with a command that becomes the step."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from airflow.exceptions import AirflowSkipException
from airflow.sdk import BaseOperator
from hindsight_child import CONTAINER
from hindsight_lineage import lineage
from hindsight_links import ReportLink
from hindsight_step import failed, of_step, settings_of

from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.shared.exits import BAD_INPUT, NEVER_RETRIED, BadInput, ends_line


@dataclass(frozen=True)
class Kind:
    """An operator of a provider, the argument that takes its command, what it is given unless a user says otherwise,
    and what it is given always."""

    module: str
    name: str
    command: str
    usually: Mapping[str, Any]
    always: Mapping[str, Any]


_ENDS = {"skip_on_exit_code": sorted(NEVER_RETRIED)}
"""How an operator treats these codes apart from all others: it skips, which becomes a failure for good."""

KINDS = {
    "kubernetes": Kind(
        "airflow.providers.cncf.kubernetes.operators.pod",
        "KubernetesPodOperator",
        command="cmds",
        usually={},
        always={**_ENDS, "deferrable": False},
    ),
    "docker": Kind(
        "airflow.providers.docker.operators.docker",
        "DockerOperator",
        command="command",
        usually={"auto_remove": "force", "mount_tmp_dir": False},
        always={**_ENDS, "do_xcom_push": False},
    ),
}


def contained() -> type[BaseOperator] | None:
    """The operator that runs a step in the container which the variable describes; None where it describes none.

    Raises: BadInput where the variable cannot be used.
    """
    text = os.environ.get(CONTAINER, "").strip()
    return _operator(*_described(text)) if text else None


def _described(text: str) -> tuple[Kind, dict[str, Any]]:
    """What the variable says. Edge case: it may hold a secret, so no sentence quotes it."""
    try:
        ((name, given),) = json.loads(text).items()
        return KINDS[name], {**KINDS[name].usually, **given, **KINDS[name].always}
    except (ValueError, AttributeError, KeyError, TypeError):
        raise BadInput(
            f'{CONTAINER} cannot be used. Needed: JSON such as {{"docker": {{"image": "hindsight:0.2.0"}}}}, with one'
            f" of {', '.join(KINDS)} and what its operator takes. Mend it."
        ) from None


def _operator(kind: Kind, given: Mapping[str, Any]) -> type[BaseOperator]:
    try:
        base: Any = getattr(importlib.import_module(kind.module), kind.name)
    except ModuleNotFoundError as missing:
        raise BadInput(f"{CONTAINER} needs {kind.name}: {missing}. Install its provider beside Airflow.") from None

    class ContainedStepOperator(base):  # type: ignore[misc]
        """Runs one step in a container. Exit codes 2 and 42 fail the task for good."""

        operator_extra_links = (ReportLink(),)

        def __init__(
            self, *, step: Step, cluster: Cluster, window: dict[str, str] | None = None, **kwargs: Any
        ) -> None:
            super().__init__(**{**of_step(step, cluster), **given, **kwargs})
            self.step = step
            self.cluster = cluster
            self.window = window
            self.given: dict[str, Any] = {}

        def execute(self, context: Any) -> None:
            """Runs the container and waits for it."""
            self.given = settings_of(context, self.window)
            setattr(self, kind.command, ["hindsight", "step", self.step.name, "--settings", json.dumps(self.given)])
            try:
                super().execute(context)
            except AirflowSkipException as ended:
                said = [str(line).strip() for line in getattr(ended, "logs", None) or ()]
                raise failed(self.step.name, _code(self.step.name, str(ended), said), said) from ended

        def get_openlineage_facets_on_start(self) -> Any:
            """The tables that it reads and writes, for OpenLineage's provider."""
            return lineage(self.step, self.cluster)

    return ContainedStepOperator


def _code(step: str, message: str, said: list[str]) -> int:
    """Which of the codes that are never retried it was: the message names it, or the step's last lines do."""
    return next((c for c in NEVER_RETRIED if f"exit code {c}." in message or ends_line(step, c) in said), BAD_INPUT)
