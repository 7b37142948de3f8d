"""`hindsight`: the verbs of the product. The module of a verb is loaded when it is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kafka_hindsight import __version__
from kafka_hindsight.cli.endings import exit_code_of
from kafka_hindsight.cli.verbs import EPILOG, PURPOSE, VERBS
from kafka_hindsight.shared import parent
from kafka_hindsight.shared.exits import DONE
from kafka_hindsight.shared.hidden_packages import hide
from kafka_hindsight.start.extras import require_extra

READERS = frozenset({"collection", "explain", "fleet", "mcp", "metrics", "report", "sql", "tables"})
"""The verbs that only read a lake, without code of users."""


class Verbs(TyperGroup):
    """The verbs, each loaded when it is used."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the verb that is used."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, _loaded(name) if name else None, rest

    def invoke(self, ctx: Any) -> None:
        """Run one verb, and end with its exit code."""
        raise typer.Exit(exit_code_of(partial(super().invoke, ctx)))


def doctor(ctx: typer.Context) -> int:
    """Run the doctor, which parses its own options: set-up may not have installed Typer yet."""
    from kafka_hindsight.cli import doctor as verb

    return verb.main(ctx.args)


def _loaded(name: str) -> Any:
    """Load the command of a verb."""
    verb = VERBS[name]
    if verb.extra:
        require_extra(verb.extra, f"`hindsight {name}`")
    function = getattr(importlib.import_module(f"kafka_hindsight.cli.{verb.module}"), verb.function)
    extra_settings = {"allow_extra_args": True, "ignore_unknown_options": True} if name == "doctor" else {}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, help=verb.says, context_settings=extra_settings, add_help_option=name != "doctor")(function)
    return typer.main.get_command(app)


def _version(is_asked: bool) -> None:
    if is_asked:
        print(f"hindsight {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help=PURPOSE,
    epilog=EPILOG,
)
for _name, _verb in VERBS.items():
    app.command(_name, short_help=_verb.says)(lambda: None)


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Options before the verb."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb. Exit codes: 0 done; 42 publication refused; 2 bad input or settings; else a fault."""
    if arguments is None and READERS.intersection(sys.argv[1:2]):  # the process is the verb's own
        hide("pandas")  # DuckDB and pyarrow load it where it is: a sixth of a short answer
    parent.watch()
    try:
        app(arguments, prog_name="hindsight")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else DONE
    return DONE


if __name__ == "__main__":
    sys.exit(main())
