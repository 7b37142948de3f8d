"""Several clusters from one file, hindsight.toml; without it one cluster, which the environment describes."""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from spark_jobs.shared.config import INPUTS, KEEP, Settings, is_uri
from spark_jobs.shared.exits import BadInput
from spark_jobs.shared.keys import TEXT, TEXTS, Key, tables_of
from spark_jobs.shared.launch import LAKE, WORK

FILE_VARIABLE = "HINDSIGHT_CONFIG"
"""Names the file; without it `hindsight.toml` where we work: in the project's folder, or where pip installed us, in the
user's."""

DEFAULT_CONNECTION = "kafka_default"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PLACES = ("logs", "client_logs", "snapshots", "lake")
_OF_LINES = ("glob", "logs_tz", "client_tz", "pattern", "client_pattern")
_HOURS = ("look_ahead_hours", "look_back_hours")
_OF_A_CLUSTER = (*_PLACES, *_OF_LINES, *_HOURS, "keep")

CLUSTER_KEYS: Mapping[str, Key] = {
    "name": Key(
        "the cluster's name in its lake and in the names of its DAGs", {**TEXT, "pattern": f"^{_NAME.pattern}$"}
    ),
    "connection": Key("the Airflow connection by which readings are taken; without it none are", TEXT),
    "labels": Key("labels, for routes of alerts", TEXTS),
    **{
        i.field: Key(i.meaning, {"type": ["integer", "string"]} if i.field in _HOURS else TEXT)
        for i in (*INPUTS, KEEP)
        if i.field in _OF_A_CLUSTER
    },
}
"""What a table [[clusters]] may hold."""

FILE_KEYS: Mapping[str, Key] = {
    "lake": Key("folder or URI where the tables of clusters go that name none", TEXT),
    "clusters": Key("the clusters; each has DAGs of its own", tables_of("clusters")),
    "alerts": Key("who is notified of what", {"$ref": "#/$defs/alerts"}),
}
"""What the file may hold."""


@dataclass(frozen=True)
class Cluster:
    """One cluster that a schedule works on.

    `name` is None where variables describe it: then its logs tell. `connection` is the Airflow connection that
    readings are taken through; `inputs` are values by their fields in Settings.
    """

    name: str | None
    connection: str | None
    inputs: Mapping[str, str]

    @property
    def lake(self) -> str:
        """Where its tables go."""
        return self.inputs.get("lake") or str(LAKE)

    def dag_id(self, name: str) -> str:
        """A DAG's name for this cluster: as it is where there is one cluster only."""
        return f"{name}_{self.name}" if self.name else name


def clusters() -> tuple[Cluster, ...]:
    """The clusters of the file, else the one of the environment. Raises: BadInput with every problem at once."""
    path = file_path()
    if path is None:
        return (Cluster(None, DEFAULT_CONNECTION, from_scheduler(os.environ)),)
    return clusters_of(read_file(path), path)


def lakes() -> list[str]:
    """The lakes of all clusters, each once."""
    return list(dict.fromkeys(c.lake for c in clusters()))


def from_scheduler(environment: Mapping[str, str]) -> dict[str, str]:
    """What the variables HINDSIGHT_LOGS and so on say, by field."""
    said = {i.field: environment.get(f"HINDSIGHT_{i.variable}", "").strip() for i in (*INPUTS, KEEP)}
    return {field: text for field, text in said.items() if text}


def file_path() -> Path | None:
    """The file that is in force, if any."""
    named = os.environ.get(FILE_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser().absolute()
    usual = WORK / "hindsight.toml"
    return usual if usual.exists() else None


def read_file(path: Path | None) -> dict[str, Any]:
    """The file as it stands; nothing where there is none. Raises: BadInput where it cannot be read."""
    if path is None:
        return {}
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BadInput(
            f"{path} cannot be read: {problem}. Needed: a TOML file with [[clusters]], [alerts], or both. Mend it, or "
            f"unset {FILE_VARIABLE}."
        ) from None
    if strange := sorted(set(said) - set(FILE_KEYS)):
        raise BadInput(f"{path}: {_listed(strange)} is not known. Needed: {_listed(FILE_KEYS)}. Rename or remove it.")
    return said


def clusters_of(said: Mapping[str, Any], path: Path) -> tuple[Cluster, ...]:
    """The clusters of a file that was read. Raises: BadInput with every problem at once."""
    tables = said.get("clusters", [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise BadInput(f"{path}: clusters is {tables!r}. Needed: a [[clusters]] table for each cluster.")
    if not tables:
        return (Cluster(None, DEFAULT_CONNECTION, from_scheduler(os.environ)),)
    lake = str(said.get("lake") or os.environ.get("HINDSIGHT_LAKE") or LAKE)
    found = [_cluster(table, lake, path) for table in tables]
    if problems := _problems(tables, found, path):
        raise BadInput(*problems)
    return tuple(found)


def _problems(tables: Sequence[Mapping[str, Any]], found: Sequence[Cluster], path: Path) -> list[str]:
    """Every problem of the tables, in a sentence each."""
    problems = [
        f"{path}, cluster {table.get('name') or f'number {number}'}: {sentence}"
        for number, (table, cluster) in enumerate(zip(tables, found, strict=True), start=1)
        for sentence in _problems_of(table, cluster)
    ]
    names = Counter(c.name for c in found if _is_name(c.name))
    twice = sorted(name for name, count in names.items() if count > 1)
    return problems + [
        f"{path}: the cluster {name!r} is named twice. Needed: one table for each cluster. Rename one."
        for name in twice
    ]


def _cluster(table: Mapping[str, Any], lake: str, path: Path) -> Cluster:
    """A cluster as its table says, right or wrong."""
    given = {"lake": lake, **{key: str(table[key]) for key in _OF_A_CLUSTER if key in table}}
    inputs = {key: _near(value, path) if key in _PLACES else value for key, value in given.items()}
    connection = str(table["connection"]) if table.get("connection") else None
    name = table.get("name")
    return Cluster(name, connection, {**inputs, "cluster": name if _is_name(name) else "unnamed"})


def _problems_of(table: Mapping[str, Any], cluster: Cluster) -> Iterator[str]:
    """What is wrong in a cluster's table: its name, keys that are not known, values that no run could use."""
    if not _is_name(cluster.name):
        yield f"name is {cluster.name!r}. Needed: letters, digits, dot, dash and underscore."
    for key in sorted(set(table) - set(CLUSTER_KEYS)):
        yield f"{key!r} is not known. Needed: one of {_listed(CLUSTER_KEYS)}."
    labels = table.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        yield f'labels is {labels!r}. Needed: a list of texts, such as ["prod"].'
    try:
        Settings.of({**cluster.inputs, "run_id": "check", "run_at": datetime.now(UTC)})
    except BadInput as found:
        yield from found.sentences


def _is_name(name: object) -> TypeGuard[str]:
    return isinstance(name, str) and bool(_NAME.fullmatch(name))


def _near(place: str, path: Path) -> str:
    """A location in the file. A relative path starts at the file's folder."""
    return place if is_uri(place) else os.path.normpath(path.parent / Path(place).expanduser())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
