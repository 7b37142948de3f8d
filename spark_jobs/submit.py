"""Stands before spark-submit: hands a step to the application that the steps of its run share.

`submit.py SPARK-SUBMIT ARGUMENTS...`: a whole command that submits run.py. Its output and its exit code are the step's.
Spark reads its own defaults too, which it would leave out beside a file of properties.
A driver that runs elsewhere, and a step that runs by itself, are submitted as they are. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

if __name__ == "__main__":  # Python puts this file's folder first, where `run` would be a top-level name
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.start.application import hand_over, place_of
from kafka_hindsight.start.launch import AIRFLOWS, SERVE

_SHARING = {step.name for step in STEPS}


def main(command: Sequence[str]) -> int:
    """Runs the step that a command of spark-submit names. Gives: its exit code; below 0, a signal."""
    for name in [name for name in os.environ if name.startswith(AIRFLOWS)]:
        del os.environ[name]
    command = [command[0], "--load-spark-defaults", *command[1:]]
    *submit, step, _, settings = command
    if step in _SHARING and "cluster" not in _deploy_modes(command):
        given = json.loads(settings)
        place = place_of(submit, given["lake"], given["run_id"])
        if place is not None:
            start = [*submit, SERVE, str(place.socket), str(place.log)]
            return hand_over(place, start, step, settings, is_last=step == STEPS[-1].name)
    os.execv(command[0], command)


def _deploy_modes(command: Sequence[str]) -> set[str]:
    return {value for option, value in pairwise(command) if option == "--deploy-mode"}


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    if ended < 0:
        os.kill(os.getpid(), -ended)
    sys.exit(ended)
