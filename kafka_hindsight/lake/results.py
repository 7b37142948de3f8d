"""How a step ended: a small file in its run's folder of the lake, from the step to the process that started it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from kafka_hindsight.lake import landing
from kafka_hindsight.shared.exits import BadInput

_OUT_OF_REACH = (OSError, BadInput, ImportError)
"""Errors of opening a lake in a process that cannot reach it."""


@dataclass(frozen=True)
class Result:
    """The exit code of a step, the sentences that say why, and Spark's id of the application that ran it."""

    exit_code: int
    sentences: Sequence[str] = ()
    application: str | None = None


def leave_result(lake: str, run_id: str, step: str, result: Result) -> None:
    """Write the result of a step. The step's end does not depend on it: a lake out of reach gets none."""
    with suppress(*_OUT_OF_REACH):
        landing.write_json(_place(lake, run_id, step), asdict(result))


def read_result(lake: str, run_id: str, step: str) -> Result | None:
    """The result that a step left; None if there is none, or this process cannot reach the lake."""
    with suppress(*_OUT_OF_REACH):
        value = landing.read_json(_place(lake, run_id, step))
        return None if value is None else Result(**value)
    return None


def forget_result(lake: str, run_id: str, step: str) -> None:
    """Remove the result of an earlier try of the step."""
    with suppress(*_OUT_OF_REACH):
        landing.remove(_place(lake, run_id, step))


def _place(lake: str, run_id: str, step: str) -> str:
    return f"{lake.rstrip('/')}/runs/{run_id}/{step}.result.json"
