"""`hindsight audit`: one audit, followed in a terminal, in one process or on Spark."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Annotated, Any

import typer

from kafka_hindsight.audit.audit_run import audit
from kafka_hindsight.audit.inputs import audit_settings, live_cluster
from kafka_hindsight.catalog.steps import STEPS, Step
from kafka_hindsight.lake.landing import read_text
from kafka_hindsight.settings.models import INPUTS, MEANINGS, Settings, variable
from kafka_hindsight.shared.exits import DONE
from kafka_hindsight.start.first_use import prepare_engine


def with_inputs(verb: Callable[..., int]) -> Callable[..., int]:
    """Give a verb an option for each input of an audit, in place of its parameter `inputs`."""

    def acts(**arguments: Any) -> int:
        inputs = {field: value for field in INPUTS if (value := arguments.pop(field))}
        return verb(inputs=inputs, **arguments)

    other_parameters = [p for name, p in inspect.signature(verb, eval_str=True).parameters.items() if name != "inputs"]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*map(_input, INPUTS), *other_parameters)]
    acts.__annotations__ = {p.name: p.annotation for p in parameters}
    acts.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return acts


def _input(field: str) -> inspect.Parameter:
    name = variable(field)
    option = typer.Option(f"--{name.lower().replace('_', '-')}", metavar=name, help=MEANINGS[field])
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field, kind, default=None, annotation=Annotated[str | None, option])


AsSummary = Annotated[
    bool, typer.Option("--json", help="print the summary of the run as JSON; progress goes to stderr")
]


@with_inputs
def command(
    inputs: Mapping[str, str],
    as_json: AsSummary = False,
    bootstrap: Annotated[
        str | None,
        typer.Option(metavar="BOOTSTRAP", help="brokers of a live cluster to read too, host:port,host:port"),
    ] = None,
) -> int:
    """Audit the inputs that options and variables name, in one process or on Spark, as the engine says."""
    environment = {**os.environ, **({"BOOTSTRAP": bootstrap} if bootstrap else {})}
    settings, live = audit_settings(environment, inputs), live_cluster(environment)
    prepare_engine(settings)
    return with_summary(as_json, settings, STEPS[-1], lambda: audit(settings, live))


def with_summary(as_json: bool, settings: Settings, step: Step, act: Callable[[], int]) -> int:
    """Run `act`. With `as_json`, stdout has only the summary that the step left in the lake."""
    if not as_json:
        return act()
    with redirect_stdout(sys.stderr):
        code = act()
    summary = json.loads(read_text(f"{settings.lake}/runs/{settings.run_id}/{step.name}.json")) if code == DONE else {}
    print(json.dumps({"exit_code": code, "run_id": settings.run_id, **summary}, indent=2))
    return code
