"""The verbs that query a lake in SQL."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kafka_hindsight.cli.options import AsJson, LakeOption
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.sql import answers, named_queries, prompt

Format = Annotated[
    str,
    typer.Option(
        "--format",
        help=f"the format of answers: {', '.join(answers.FORMATS)}",
        autocompletion=lambda: answers.FORMATS,
    ),
]


def _query_names() -> list[str]:
    return sorted(path.stem for path in named_queries.FOLDER.glob("*.sql"))


def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            help="a query, or the name of one in queries/; default: open a prompt", autocompletion=_query_names
        ),
    ] = None,
    lake: LakeOption = str(LAKE),
    form: Format = "table",
    as_json: AsJson = False,
) -> int:
    """Answer one query, or open the prompt."""
    statement = query or os.environ.get("Q", "").strip() or None
    return prompt.main(lake, statement, "json" if as_json else form)


def tables(lake: LakeOption = str(LAKE), form: Format = "table", as_json: AsJson = False) -> int:
    """Print the tables of a lake."""
    return prompt.main(lake, ".tables", "json" if as_json else form)
