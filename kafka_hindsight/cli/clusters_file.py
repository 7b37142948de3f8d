"""`hindsight clusters`: check hindsight.toml before a schedule reads it, or print its schema for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic.json_schema import GenerateJsonSchema

from kafka_hindsight.settings.alerts import alerts_of
from kafka_hindsight.settings.clusters import ClustersFile, clusters_of
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import file_path, read_toml
from kafka_hindsight.shared.exits import DONE, BadInput

SCHEMA_PAGE = "hindsight.schema.json"


class _Schema(GenerateJsonSchema):
    """A schema without null, which TOML does not have."""

    def nullable_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> Any:
        return self.generate_inner(schema["schema"])


def schema_text() -> str:
    """The JSON Schema of the file, from its model."""
    schema = ClustersFile.model_json_schema(schema_generator=_Schema)
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=2) + "\n"


def command(
    action: Annotated[Literal["check", "schema"], typer.Argument(help="check the file, or print its JSON Schema")],
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="the file; default: HINDSIGHT_CONFIG, else hindsight.toml")
    ] = None,
) -> int:
    """Print a description of the file, or its schema."""
    print("\n".join(check(file)) + "\n" if action == "check" else schema_text(), end="")
    return DONE


def check(file: Path | None = None) -> list[str]:
    """Describe the file, in lines. Raises: BadInput with every problem of clusters and alerts at once."""
    path = file.expanduser().absolute() if file else file_path()
    if path is None:
        raise BadInput("There is no hindsight.toml. Needed: the file of clusters. Name it, or set HINDSIGHT_CONFIG.")
    values, problems = read_toml(path), list[str]()
    lines = [f"{path}: no problems."]
    for describe in (_clusters, _receivers):
        try:
            lines += describe(values, path)
        except BadInput as problem:
            problems += problem.sentences
    if problems:
        raise BadInput(*problems)
    return lines


def _clusters(values: dict[str, Any], path: Path) -> list[str]:
    lines = []
    for c in clusters_of(values, path):
        labels = f", labelled {', '.join(c.labels)}" if c.labels else ""
        logs = c.inputs.get("logs", "logs of the connection hindsight_default")
        lines.append(f"  {c.name or 'one cluster'}: {masked(logs)} into {masked(c.lake)}{labels}")
    return lines


def _receivers(values: dict[str, Any], path: Path) -> list[str]:
    return [
        f"  alerts {r.name}: {r.kind} of {', '.join(r.severities)}, to {r.connection} or {r.variable}"
        for r in alerts_of(values, path).receivers
    ]
