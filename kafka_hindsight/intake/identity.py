"""Which cluster the input is of, and whether the lake knows another under that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze, silver
from kafka_hindsight.engine.work import Engine, narrow_rows
from kafka_hindsight.intake.file_scan import Pass
from kafka_hindsight.intake.lake_rows import cluster_rows
from kafka_hindsight.intake.reading_files import Readings
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.cluster_of_files import BrokerFile, FolderCluster, Traits, clusters_of, traits_in
from kafka_hindsight.logs.facts import FileFacts
from kafka_hindsight.logs.file_bytes import CHUNK, Bytes
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.durations import LONG_AGO, NEVER
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted

_NAMED = 5
"""So many files of each cluster are named where a run cannot tell which one it is about."""

_CLEAR = 3
"""So many times as many lines as all others are enough for the largest cluster where CLUSTER is a name. Our choice."""

_MOST_DAYS = 366
"""One garbled year does not make a file long."""

_TRAITS = pa.schema([("file", pa.int64()), ("brokers", pa.list_(pa.string())), ("addresses", pa.list_(pa.string()))])


@dataclass(frozen=True)
class OwnCluster:
    """The cluster that a run is about.

    `ids` are its ids in the order of time, none where no broker names one. `others` are the clusters beside it, by
    their newest ids. `left_out` are their files and those that fit no cluster, by name, each with the reason, and
    `sentences` say how much they hold. It `is_partial` where no other audit may take them.
    """

    ids: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    is_partial: bool = False


def of_one_cluster(
    engine: Engine, store: Store, found: Pass, settings: Settings, of_readings: Set[str]
) -> tuple[Pass, OwnCluster]:
    """What was found of the cluster that the run is about. Takes: the ids that SNAPSHOTS name.

    Order: the cluster of which CLUSTER is an id, or that the lake knows under that name; the only one of the window;
        the one that readings name; the largest, where CLUSTER is not given or the others are small.
    Raises: BadInput where several clusters remain and CLUSTER names none of them.
    """
    brokers = [f for f in found.facts.values() if f.file.origin == "broker"]
    folder = clusters_of([_as_file(f) for f in brokers], partial(_traits, engine, brokers))
    if not folder.clusters:
        return found, OwnCluster()
    wanted = frozenset({settings.cluster}) if settings.cluster else frozenset()
    if wanted and folder.clusters[1:] and settings.cluster:
        wanted |= _known(engine, store, settings.cluster)
    own = _chosen(folder.clusters, brokers, settings, wanted, of_readings)
    reasons = {name: f"of cluster {c.ids[-1]}" for c in folder.clusters if c != own for name in c.files}
    reasons |= {name: f"fits none of {len(folder.clusters)} clusters" for name in folder.strays}
    foreign = {i for c in folder.clusters if c != own for i in c.ids}
    clients = (f for f in found.facts.values() if f.file.origin == "client" and f.cluster_ids)
    others_of = {f.file.name: f.cluster_ids & foreign for f in clients if f.cluster_ids.isdisjoint(own.ids)}
    reasons |= {name: f"of cluster {_listed(ids)}" for name, ids in others_of.items() if ids}
    facts = {n: _of_ids(f, own.ids) for n, f in found.facts.items() if f.file.name not in reasons}
    parts = grouped((f for f in found.facts.values() if f.file.name in reasons), lambda f: reasons[f.file.name])
    return replace(found, facts=facts, still=found.still & facts.keys()), OwnCluster(
        own.ids,
        tuple(c.ids[-1] for c in folder.clusters if c != own),
        dict(sorted(reasons.items())),
        tuple(_amount(files, why) for why, files in sorted(parts.items())),
        bool(folder.strays) or (bool(reasons) and settings.cluster is None and not settings.read_to_end),
    )


def _as_file(fact: FileFacts) -> BrokerFile:
    span = fact.first_at or NEVER, fact.last_at or LONG_AGO
    return BrokerFile(fact.file.name, fact.file.source, *span, fact.lines, fact.clusters)


def _traits(engine: Engine, facts: Sequence[FileFacts]) -> dict[str, Traits]:
    units = [fact.file.unit((0, fact.file.size), {"file": n}) for n, fact in enumerate(facts)]
    rows = (row for batch in engine.spread(units, _traits_in, _TRAITS) for row in batch.to_pylist())
    read = {row["file"]: Traits(frozenset(row["brokers"]), frozenset(row["addresses"])) for row in rows}
    return {fact.file.name: read.get(n, Traits()) for n, fact in enumerate(facts)}


def _traits_in(told: Mapping[str, Any], held: Bytes, _: Any) -> Iterator[pa.RecordBatch]:
    traits = traits_in(held.between(0, CHUNK))
    yield pa.record_batch([[told["file"]], [sorted(traits.brokers)], [sorted(traits.addresses)]], _TRAITS)


def _chosen(
    clusters: Sequence[FolderCluster],
    files: Sequence[FileFacts],
    settings: Settings,
    wanted: Set[str],
    of_readings: Set[str],
) -> FolderCluster:
    since, until = settings.window_from, settings.window_to
    of_window = {
        f.file.name
        for f in files
        if (not until or (f.first_at and f.first_at < until)) and (not since or (f.last_at and f.last_at >= since))
    }
    choices = (
        [c for c in clusters if not wanted.isdisjoint(c.ids)],
        [c for c in clusters if not of_window.isdisjoint(c.files)],
        [c for c in clusters if not of_readings.isdisjoint(c.ids)],
    )
    rest = sum(c.line_count for c in clusters[1:])
    is_clear = settings.cluster is None or clusters[0].line_count >= _CLEAR * rest
    own = next((some[0] for some in choices if len(some) == 1), clusters[0] if is_clear else None)
    if own is None:
        raise BadInput(
            f"LOGS holds {len(clusters)} clusters, and {settings.cluster} is not an id of one of them. Needed: the id"
            " of one as CLUSTER. Without CLUSTER each is audited under its own id.",
            *(f"Cluster {c.ids[-1]} has {_some(c.files)}." for c in clusters),
        )
    return own


def _of_ids(fact: FileFacts, ids: Sequence[str]) -> FileFacts:
    """A file with those ids alone that are the cluster's, of a broker's file: another one is damaged."""
    kept = tuple(naming for naming in fact.clusters if fact.file.origin != "broker" or naming.cluster_id in ids)
    return replace(fact, clusters=kept)


def _amount(facts: Sequence[FileFacts], why: str) -> str:
    lines, days = sum(f.lines for f in facts), {day for f in facts for day in _days(f)}
    of_days = f" of {counted(len(days), 'day')}" if days else ""
    return f"{counted(lines, 'line')}{of_days} in {counted(len(facts), 'file')} ({why})"


def _days(fact: FileFacts) -> Iterator[date]:
    if fact.first_at and fact.last_at:
        length = min((fact.last_at.date() - fact.first_at.date()).days, _MOST_DAYS)
        yield from (fact.first_at.date() + timedelta(days=n) for n in range(length + 1))


def _some(files: Iterable[str]) -> str:
    names = sorted(files)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def name_cluster(
    engine: Engine, store: Store, settings: Settings, found: Pass, own: OwnCluster, readings: Readings
) -> tuple[str, list[str]]:
    """The name under which the input is kept, and what is doubtful about it.

    Takes: what was found of one cluster.
    Order: the name given; the one that the lake has for its files; the newest id that brokers name; the id that
        snapshots name; the one id that clients tell; the folder's name.
    Raises: BadInput where the input is of two clusters, or the lake knows another cluster under that name.
    """
    ids = own.ids or tuple(readings.cluster_ids)
    if not readings.cluster_ids <= {*ids} or (not own.ids and len(ids) > 1):
        every = readings.cluster_ids | {*ids}
        raise BadInput(
            f"LOGS and SNAPSHOTS name {len(every)} clusters: {_listed(every)}. "
            "Needed: the logs and readings of one cluster. Audit each cluster by itself."
        )
    if not ids and len(found.cluster_ids["client"]) == 1:
        ids = tuple(found.cluster_ids["client"])
    in_lake = [name for name in ids if name in found.names]
    name = settings.cluster or next(reversed(in_lake or ids), None)
    if name is None:
        name = (settings.logs or "").rstrip("/").rpartition("/")[2]
        return name, [f"No line and no reading names the cluster; it is called {name}, after its folder. Give CLUSTER."]
    known = _known(engine, store, name) if ids and name not in ids else frozenset()
    if known.isdisjoint(ids) and (others := known - {*ids}):
        raise BadInput(
            f"The lake {store.lake} knows the cluster {_listed(others)} as {name}, and the input is of {_listed(ids)}. "
            "Needed: one cluster under one name. Give another CLUSTER, or another LAKE."
        )
    return name, []


def _known(engine: Engine, store: Store, name: str) -> frozenset[str]:
    """The ids of the clusters that the lake holds under a name."""
    readings = cluster_rows(store, bronze.SNAPSHOT_READINGS, name, ("cluster_id",))
    files = cluster_rows(store, bronze.LOG_FILES, name, ("origin", "clusters"))
    of_brokers = files.filter(pc.equal(files["origin"], "broker"))
    ids = {*readings["cluster_id"].unique().to_pylist(), *_ids_in(of_brokers["clusters"])}
    if store.has(silver.EVENTS):
        told = narrow_rows(engine, store, silver.EVENTS, Part(name), ("kind", "origin", "detail"), _naming, _NAMING)
        ids |= set(told["id"].to_pylist())
    return frozenset(filter(None, ids))


def _ids_in(clusters: pa.ChunkedArray) -> Iterator[str]:
    return (naming["cluster_id"] for of_file in clusters.to_pylist() for naming in of_file)


_NAMING = pa.schema([("id", pa.string())])


def _naming(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The ids that brokers' events name."""
    for rows in batches:
        is_naming = pc.and_(pc.equal(rows["kind"], "cluster_named"), pc.equal(rows["origin"], "broker"))
        yield pa.record_batch([rows.filter(is_naming)["detail"].unique()], _NAMING)


def _listed(ids: Iterable[str]) -> str:
    return " and ".join(sorted(ids))
