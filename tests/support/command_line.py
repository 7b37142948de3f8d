"""The command line, as far as it understands words before anything runs."""

from __future__ import annotations

from typing import Any

import typer

from kafka_hindsight.cli import doctor
from kafka_hindsight.cli.main import app


def understood(*words: str) -> None:
    """Reads the words of a command. Raises: what Typer, or the doctor, raises where it does not understand them."""
    top: Any = typer.main.get_command(app)
    context = top.make_context("hindsight", [*words], resilient_parsing=True)
    if words[0].startswith("-"):
        assert words[0] in {option for parameter in top.params for option in parameter.opts}
        return
    name, verb, rest = top.resolve_command(context, [*words])
    if name == "doctor":
        doctor.parser().parse_args(rest)
    verb.make_context(name, rest, parent=context)
