"""The verbs that ask a lake in SQL."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kafka_hindsight.cli.options import AsJson, Lake
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.sql import answers, named_queries
from kafka_hindsight.sql import prompt as opened

Format = Annotated[
    str,
    typer.Option(
        "--format",
        help=f"how answers are printed: {', '.join(answers.FORMATS)}",
        autocompletion=lambda: answers.FORMATS,
    ),
]


def _named() -> list[str]:
    return sorted(path.stem for path in named_queries.FOLDER.glob("*.sql"))


def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            help="one query, or the name of one in queries/; without it a prompt opens", autocompletion=_named
        ),
    ] = None,
    lake: Lake = str(LAKE),
    form: Format = "table",
    as_json: AsJson = False,
) -> int:
    """Answers one query, or opens the prompt."""
    asked = query or os.environ.get("Q", "").strip() or None
    return opened.main(lake, asked, "json" if as_json else form)


def tables(lake: Lake = str(LAKE), form: Format = "table", as_json: AsJson = False) -> int:
    """Prints the tables of a lake."""
    return opened.main(lake, ".tables", "json" if as_json else form)
