"""Options of several verbs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from kafka_hindsight.settings.maintenance import instant_of
from kafka_hindsight.shared.exits import BadInput

LakeOption = Annotated[
    str,
    typer.Option(
        envvar="LAKE", metavar="LAKE", help="the lake; default: lake/ in the working folder", show_default=False
    ),
]
AtOption = Annotated[
    str | None, typer.Option(metavar="AT", help="act as of 2026-11-20T00:05Z, for example; default: now")
]
LakesOption = Annotated[
    str | None, typer.Option(envvar="LAKE", metavar="LAKE", help="the lake; default: all lakes of the settings")
]
ClustersOption = Annotated[list[str] | None, typer.Option(metavar="CLUSTER", help="only this cluster; may be repeated")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]
AsHtml = Annotated[bool, typer.Option("--html", help="print the page")]


def instant_or_now(text: str | None) -> datetime:
    """The instant of AT, or now. Raises: BadInput if it is not an ISO instant."""
    if not text:
        return datetime.now(UTC)
    try:
        return instant_of(text)
    except ValueError:
        raise BadInput(f"AT is {text!r}. Needed: an ISO instant, such as 2026-11-20T00:05Z.") from None
