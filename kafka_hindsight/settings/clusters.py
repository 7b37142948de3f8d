"""Several clusters from one file, hindsight.toml; without it one cluster, which the environment describes."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from kafka_hindsight.settings.config import INPUTS, KEEP, Settings, is_uri
from kafka_hindsight.settings.home import LAKE, WORK
from kafka_hindsight.settings.keys import TEXT, TEXTS, Key, tables_of
from kafka_hindsight.shared.exits import BadInput

FILE_VARIABLE = "HINDSIGHT_CONFIG"
"""Names the file; without it `hindsight.toml` where we work: in the project's folder, or where pip installed us, in the
user's."""

DEFAULT_CONNECTION = "kafka_default"

CLUSTER = "{cluster}"
"""What stands in a place, or in the name of a connection, for the cluster's name."""

_VARIABLE = re.compile(r"[$][{]([A-Za-z_][A-Za-z0-9_]*)[}]")
"""What stands in any text of the file for a variable of the environment."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PLACES = ("logs", "client_logs", "snapshots", "lake")
_OF_LINES = ("glob", "logs_tz", "client_tz", "pattern", "client_pattern")
_HOURS = ("look_ahead_hours", "look_back_hours")
_OF_A_CLUSTER = (*_PLACES, *_OF_LINES, *_HOURS, "maintenance", "keep")

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

DEFAULT_KEYS: Mapping[str, Key] = {key: said for key, said in CLUSTER_KEYS.items() if key not in ("name", "lake")}
"""What [defaults] may hold."""

INCLUDED_KEYS: Mapping[str, Key] = {
    "lake": Key("folder or URI where the tables of clusters go that name none", TEXT),
    "defaults": Key("what holds for each cluster whose table does not say otherwise", {"$ref": "#/$defs/defaults"}),
    "clusters": Key("the clusters; each has DAGs of its own", tables_of("clusters")),
}
"""What a file may hold that is included."""

FILE_KEYS: Mapping[str, Key] = {
    "include": Key("files with more clusters, as TOML, or as JSON of Strimzi's resources; * is any text", TEXTS),
    **INCLUDED_KEYS,
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
    labels: tuple[str, ...] = ()

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
    """The file in full: the clusters of the files that it includes too, each with its defaults, and with the variables
    of the environment in their places; nothing where there is no file.

    Raises: BadInput where one of the files cannot be read.
    """
    if path is None:
        return {}
    said = _read(path, FILE_KEYS)
    defaults = _defaults(said, path)
    tables, found = _tables(said, path, defaults), list[dict[str, Any]]()
    for file in _included(said.pop("include", []), path):
        if file.suffix == ".json":
            found += _tables({"clusters": _kafkas(file)}, file, defaults)
        else:
            also = _read(file, INCLUDED_KEYS)
            tables += _tables(also, file, {**defaults, **_defaults(also, file)})
    named = {str(table.get("name")) for table in tables}
    return {**said, "clusters": tables + [table for table in found if table["name"] not in named]}


def _read(path: Path, known: Mapping[str, Key]) -> dict[str, Any]:
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BadInput(
            f"{path} cannot be read: {problem}. Needed: a TOML file with [[clusters]], [alerts], or both. Mend it, or "
            f"unset {FILE_VARIABLE}."
        ) from None
    if strange := sorted(set(said) - set(known)):
        raise BadInput(f"{path}: {_listed(strange)} is not known. Needed: {_listed(known)}. Rename or remove it.")
    missing = set[str]()
    replaced: dict[str, Any] = _replaced(said, missing)
    if missing:
        raise BadInput(f"{path}: {_listed(sorted(missing))} is not set. Needed: the variables that it names. Set it.")
    return replaced


def _replaced(said: Any, missing: set[str]) -> Any:
    """What was read with variables in their places. Adds those that are not set to `missing`."""
    if isinstance(said, str):
        missing |= {name for name in _VARIABLE.findall(said) if name not in os.environ}
        return _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), said)
    if isinstance(said, dict):
        return {key: _replaced(value, missing) for key, value in said.items()}
    return [_replaced(value, missing) for value in said] if isinstance(said, list) else said


def _included(patterns: Any, path: Path) -> list[Path]:
    """The files that are included, each once, in the order of their names. A name without a star has to be there."""
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
        raise BadInput(f'{path}: include is {patterns!r}. Needed: a list of files, such as ["clusters/*.toml"].')
    found = set[str]()
    for pattern in (_near(each, path) for each in patterns):
        found |= {*map(str, Path("/").glob(pattern[1:]))} if "*" in pattern else {pattern}
    return [Path(file) for file in sorted(found - {str(path)})]


def _kafkas(path: Path) -> list[dict[str, Any]]:
    """The tables of clusters that are Strimzi's resources, as `kubectl get kafka -A -o json` prints them."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        told = [item["metadata"] for item in said.get("items", [said]) if item["kind"] == "Kafka"]
        names = [".".join(m[key] for key in ("namespace", "name") if key in m) for m in told]
        labels = [[f"{key}={value}" for key, value in sorted(m.get("labels", {}).items())] for m in told]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise BadInput(
            f"{path} cannot be read: {problem!r}. Needed: Kafka resources as JSON. Make it again: kubectl get kafka -A"
            " -o json."
        ) from None
    return [{"name": name, **({"labels": of} if of else {})} for name, of in zip(names, labels, strict=True)]


def _defaults(said: Mapping[str, Any], path: Path) -> dict[str, Any]:
    defaults = said.get("defaults", {})
    if not isinstance(defaults, dict) or set(defaults) - set(DEFAULT_KEYS):
        raise BadInput(f"{path}: [defaults] is {defaults!r}. Needed: a table of {_listed(DEFAULT_KEYS)}.")
    lake = {"lake": said["lake"]} if "lake" in said else {}
    return _placed({**lake, **defaults}, path)


def _tables(said: Mapping[str, Any], path: Path, defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables of a file's clusters, with what they do not say themselves. Raises: BadInput."""
    tables = said.get("clusters", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{path}: clusters is {tables!r}. Needed: a [[clusters]] table for each cluster.")
    return [{**defaults, **_placed(table, path)} for table in tables]


def _placed(table: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """A table whose places do not depend on the file that names them."""
    return {k: _near(v, path) if k in _PLACES and isinstance(v, str) else v for k, v in table.items()}


def clusters_of(said: Mapping[str, Any], path: Path) -> tuple[Cluster, ...]:
    """The clusters of a file that was read. Raises: BadInput with every problem at once."""
    tables = _tables(said, path, {})
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
    found = table.get("name")
    name = found if _is_name(found) else "unnamed"
    given = {"lake": lake, **{key: str(table[key]) for key in _OF_A_CLUSTER if key in table}}
    places = {key: _near(given[key], path).replace(CLUSTER, name) for key in _PLACES if key in given}
    connection = str(table["connection"]).replace(CLUSTER, name) if table.get("connection") else None
    labels = table.get("labels", [])
    told = tuple(map(str, labels)) if isinstance(labels, list) else ()
    return Cluster(found, connection, {**given, **places, "cluster": name}, told)


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
