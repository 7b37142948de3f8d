"""Which cluster the input is of, and whether the lake knows another under that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze, silver
from kafka_hindsight.engine.work import Engine, narrowed
from kafka_hindsight.intake.file_scan import Pass
from kafka_hindsight.intake.lake_rows import cluster_rows
from kafka_hindsight.intake.reading_files import Readings
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.cluster_of_files import NamingFile, choose_cluster
from kafka_hindsight.logs.facts import FileFacts
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput

_NAMED = 5
"""So many files of each cluster are named where a run cannot tell which one it is about."""


def of_one_cluster(found: Pass, settings: Settings) -> tuple[Pass, dict[str, str]]:
    """What was found of the cluster that the run is about, and by name each file of another one, with its id.

    Raises: BadInput where neither CLUSTER, nor the window, nor the files themselves show which cluster that is.
    """
    ids = found.cluster_ids["broker"]
    if len(ids) < 2:
        return found, {}
    files = [
        NamingFile(f.file.name, f.file.source.rpartition("/")[0], f.first_at, f.last_at, f.cluster_ids)
        for f in found.facts.values()
        if f.file.origin == "broker" and f.first_at and f.last_at
    ]
    chosen = choose_cluster(files, settings.cluster, settings.window_from, settings.window_to)
    if chosen.cluster_id is None:
        raise BadInput(
            f"LOGS names {len(ids)} clusters: {_listed(ids)}. Needed: the logs of one cluster. Give as CLUSTER the id"
            " that you want, or FROM and TO of a time in which there was one.",
            *(_files_of(i, chosen.others) for i in sorted(ids)),
        )
    left = {n: f for n, f in found.facts.items() if f.file.origin != "broker" or f.file.name not in chosen.others}
    facts = {n: replace(f, cluster_ids=_only(chosen.cluster_id, f)) for n, f in left.items()}
    others = {name: _listed(ids) for name, ids in sorted(chosen.others.items())}
    return replace(found, facts=facts, still=found.still & facts.keys()), others


def _only(cluster_id: str, fact: FileFacts) -> frozenset[str]:
    """The ids that a file names, of a broker's only the chosen one."""
    return fact.cluster_ids & {cluster_id} if fact.file.origin == "broker" else fact.cluster_ids


def _files_of(cluster_id: str, files: Mapping[str, frozenset[str]]) -> str:
    names = sorted(name for name, ids in files.items() if cluster_id in ids)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"Cluster {cluster_id} is named by {', '.join(names[:_NAMED])}{more}."


def name_cluster(
    engine: Engine, store: Store, settings: Settings, told: Mapping[str, frozenset[str]], readings: Readings
) -> tuple[str, list[str]]:
    """The name under which the input is kept, and what is doubtful about it.

    Takes: the ids that lines tell, by who wrote them.
    Order: the name given; the id that snapshots or brokers tell; the one id that clients tell; the folder's name.
    Raises: BadInput where the input is of two clusters, or the lake knows another cluster under that name.
    """
    ids = told["broker"] | readings.cluster_ids
    if len(ids) > 1:
        raise BadInput(
            f"LOGS and SNAPSHOTS name {len(ids)} clusters: {_listed(ids)}. "
            "Needed: the logs and readings of one cluster. Audit each cluster by itself."
        )
    if not ids and len(told["client"]) == 1:
        ids = told["client"]
    name = settings.cluster or next(iter(ids), None)
    if name is None:
        name = settings.logs.rstrip("/").rpartition("/")[2]
        return name, [f"No line and no reading names the cluster; it is called {name}, after its folder. Give CLUSTER."]
    known = _known(engine, store, name) if ids and name not in ids else frozenset()
    if known.isdisjoint(ids) and (others := known - ids):
        raise BadInput(
            f"The lake {store.lake} knows the cluster {_listed(others)} as {name}, and the input is of {_listed(ids)}. "
            "Needed: one cluster under one name. Give another CLUSTER, or another LAKE."
        )
    return name, []


def _known(engine: Engine, store: Store, name: str) -> frozenset[str]:
    """The ids of the clusters that the lake holds under a name."""
    readings = cluster_rows(store, bronze.SNAPSHOT_READINGS, name, ("cluster_id",))
    files = cluster_rows(store, bronze.LOG_FILES, name, ("origin", "cluster_ids"))
    of_brokers = files.filter(pc.equal(files["origin"], "broker"))
    ids = {*readings["cluster_id"].unique().to_pylist(), *pc.list_flatten(of_brokers["cluster_ids"]).to_pylist()}
    if store.has(silver.EVENTS):
        told = narrowed(engine, store, silver.EVENTS, Part(name), ("kind", "origin", "detail"), _naming, _NAMING)
        ids |= set(told["id"].to_pylist())
    return frozenset(filter(None, ids))


_NAMING = pa.schema([("id", pa.string())])


def _naming(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The ids that brokers' events name."""
    for rows in batches:
        is_naming = pc.and_(pc.equal(rows["kind"], "cluster_named"), pc.equal(rows["origin"], "broker"))
        yield pa.record_batch([rows.filter(is_naming)["detail"].unique()], _NAMING)


def _listed(ids: Iterable[str]) -> str:
    return " and ".join(sorted(ids))
