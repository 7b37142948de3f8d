"""hindsight.toml, checked whole before a schedule reads it, and its schema for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kafka_hindsight.alerts import routes as alerts
from kafka_hindsight.settings import keys
from kafka_hindsight.settings.clusters import CLUSTER_KEYS, DEFAULT_KEYS, FILE_KEYS, clusters_of, file_path, read_file
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import DONE, BadInput

SCHEMA_PAGE = "hindsight.schema.json"


def schema_text() -> str:
    """The schema of the file, as JSON Schema, from what declares its keys."""
    tables = {name: keys.table(said, alerts.NEEDED.get(name, ())) for name, said in alerts.KEYS.items()}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hindsight.toml",
        **keys.table(FILE_KEYS),
        "$defs": {"clusters": keys.table(CLUSTER_KEYS, ("name",)), "defaults": keys.table(DEFAULT_KEYS), **tables},
    }
    return json.dumps(schema, indent=2) + "\n"


def check(named: Path | None = None) -> int:
    """Prints what the file describes. Raises: BadInput with every problem of clusters and alerts at once."""
    path = named.expanduser().absolute() if named else file_path()
    if path is None:
        raise BadInput("There is no hindsight.toml. Needed: the file of clusters. Name it, or set HINDSIGHT_CONFIG.")
    said = read_file(path)
    problems: list[str] = []
    described = [*_told(lambda: _clusters(said, path), problems), *_told(lambda: _routes(said), problems)]
    if problems:
        raise BadInput(*problems)
    print("\n".join([f"{path}: nothing is wrong.", *described]))
    return DONE


def _told(describe: Callable[[], Iterator[str]], problems: list[str]) -> list[str]:
    try:
        return [*describe()]
    except BadInput as found:
        problems += found.sentences
        return []


def _clusters(said: dict[str, Any], path: Path) -> Iterator[str]:
    for cluster in clusters_of(said, path):
        labels = f", labelled {', '.join(cluster.labels)}" if cluster.labels else ""
        logs = cluster.inputs.get("logs", "the variables HINDSIGHT_LOGS and so on")
        yield f"  {cluster.name or 'one cluster'}: {masked(logs)} into {masked(cluster.lake)}{labels}"


def _routes(said: dict[str, Any]) -> Iterator[str]:
    for route in alerts.settings_of(said).routes:
        yield f"  alerts {route.name}: {', '.join(route.severities)}, to {route.connection} or {route.variable}"
