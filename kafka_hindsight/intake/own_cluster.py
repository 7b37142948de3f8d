"""The cluster of the input, and whether the lake has another one under that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze, silver
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.file_scan import Pass
from kafka_hindsight.intake.lake_rows import cluster_rows, reduced
from kafka_hindsight.intake.reading_files import ReadingLines
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.cluster_of_files import BrokerFile, FolderCluster, Traits, clusters_of_files, traits_in
from kafka_hindsight.logs.file_bytes import CHUNK, Bytes
from kafka_hindsight.logs.file_facts import FileFacts
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.durations import LONG_AGO, NEVER
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

_NAMED = 5
"""The files of each cluster that an error names, at most."""

_CLEAR = 3
"""If CLUSTER is a name, the largest cluster needs so many times the lines of all others. Our choice."""

_MIX = "a mix of clusters "
"""Begins the reason why a file of two clusters is left out."""

_MOST_DAYS = 366
"""The days of a file that are counted, at most: a garbled year would make it long."""


@dataclass(frozen=True)
class OwnCluster:
    """The cluster that a run is about.

    `ids` are its ids in the order of time, none if no broker names one. `others` are the clusters beside it that have
    files of the window, by their newest ids. `left_out` are the files of all others and those that fit no cluster, by
    name, each with the reason, and `sentences` say how much they hold. It `is_partial` if no other audit may take them.
    """

    ids: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    is_partial: bool = False


def of_one_cluster(
    engine: Engine, store: Store, scan: Pass, settings: Settings, reading_ids: Set[str]
) -> tuple[Pass, OwnCluster]:
    """Restrict a pass to the cluster that the run is about. `reading_ids` are the ids that SNAPSHOTS name.

    The first of these decides: CLUSTER is an id of the cluster, or its name in the lake; it is the only one of the
    window; readings name it; it is the largest, if CLUSTER is not set or the others are small.

    Raises:
        BadInput: Several clusters remain, and CLUSTER names none of them; or several clusters wrote each log.
    """
    brokers = [f for f in scan.facts.values() if f.file.origin == "broker"]
    folder = clusters_of_files([_as_file(f) for f in brokers], partial(_traits, engine, brokers))
    if folder.mixes and not folder.clusters:
        raise BadInput(
            f"Several clusters wrote the same logs: {_some(folder.mixes)} name"
            f" {_join_names(frozenset().union(*folder.mixes.values()))} in turn, so the cluster of a line is not"
            " known. Needed: the logs of each cluster in files of their own."
        )
    if not folder.clusters:
        return scan, OwnCluster()
    named_ids = frozenset({settings.cluster}) if settings.cluster else frozenset()
    if named_ids and folder.clusters[1:] and settings.cluster:
        named_ids |= _ids_in_lake(store, settings.cluster)
    of_window = _of_window(brokers, settings)
    cluster = _choose(folder.clusters, of_window, settings, named_ids, reading_ids)
    reasons = {name: f"of cluster {c.ids[-1]}" for c in folder.clusters if c != cluster for name in c.files}
    mixes = {name: f"{_MIX}{_join_names(ids)}" for name, ids in folder.mixes.items()}
    reasons |= mixes | {name: f"fits none of {len(folder.clusters)} clusters" for name in folder.strays}
    foreign = {i for c in folder.clusters if c != cluster for i in c.ids}
    clients = (f for f in scan.facts.values() if f.file.origin == "client" and f.cluster_ids)
    foreign_ids_of = {f.file.name: f.cluster_ids & foreign for f in clients if f.cluster_ids.isdisjoint(cluster.ids)}
    reasons |= {name: f"of cluster {_join_names(ids)}" for name, ids in foreign_ids_of.items() if ids}
    facts = {n: _of_ids(f, cluster.ids) for n, f in scan.facts.items() if f.file.name not in reasons}
    by_reason = grouped((f for f in scan.facts.values() if f.file.name in reasons), lambda f: reasons[f.file.name])
    return replace(scan, facts=facts, still=scan.still & facts.keys()), OwnCluster(
        cluster.ids,
        tuple(c.ids[-1] for c in folder.clusters if c != cluster and not of_window.isdisjoint(c.files)),
        dict(sorted(reasons.items())),
        tuple(_amount(files, reason) for reason, files in sorted(by_reason.items(), key=_mixes_first)),
        bool(folder.strays or folder.mixes)
        or (bool(reasons) and settings.cluster is None and not settings.audits_others),
    )


def _mixes_first(reason_and_files: tuple[str, object]) -> tuple[bool, str]:
    reason, _ = reason_and_files
    return not reason.startswith(_MIX), reason


def _as_file(fact: FileFacts) -> BrokerFile:
    span = fact.first_at or NEVER, fact.last_at or LONG_AGO
    return BrokerFile(fact.file.name, fact.file.source, *span, fact.lines, fact.clusters)


def _traits(engine: Engine, facts: Sequence[FileFacts]) -> dict[str, Traits]:
    units = [fact.file.unit((0, fact.file.size), {"name": fact.file.name}) for fact in facts]
    return {fact.file.name: Traits() for fact in facts} | dict(engine.spread(units, _traits_in))


def _traits_in(arguments: Mapping[str, Any], content: Bytes, _: Any) -> list[tuple[str, Traits]]:
    return [(arguments["name"], traits_in(content.between(0, CHUNK)))]


def _of_window(files: Sequence[FileFacts], settings: Settings) -> set[str]:
    since, until = settings.window_from, settings.window_to
    return {
        f.file.name
        for f in files
        if (not until or (f.first_at and f.first_at < until)) and (not since or (f.last_at and f.last_at >= since))
    }


def _choose(
    clusters: Sequence[FolderCluster],
    of_window: Set[str],
    settings: Settings,
    named_ids: Set[str],
    reading_ids: Set[str],
) -> FolderCluster:
    choices = (
        [c for c in clusters if not named_ids.isdisjoint(c.ids)],
        [c for c in clusters if not of_window.isdisjoint(c.files)],
        [c for c in clusters if not reading_ids.isdisjoint(c.ids)],
    )
    line_count_of_others = sum(c.line_count for c in clusters[1:])
    is_clear = settings.cluster is None or clusters[0].line_count >= _CLEAR * line_count_of_others
    cluster = next((choice[0] for choice in choices if len(choice) == 1), clusters[0] if is_clear else None)
    if cluster is None:
        raise BadInput(
            f"LOGS holds {len(clusters)} clusters, and {settings.cluster} is not an id of one of them. Needed: the id"
            " of one as CLUSTER. Without CLUSTER each is audited under its own id.",
            *(f"Cluster {c.ids[-1]} has {_some(c.files)}." for c in clusters),
        )
    return cluster


def _of_ids(fact: FileFacts, ids: Sequence[str]) -> FileFacts:
    """A broker's file without ids of other clusters: such an id is damaged."""
    namings = tuple(naming for naming in fact.clusters if fact.file.origin != "broker" or naming.cluster_id in ids)
    return replace(fact, clusters=namings)


def ids_within(facts: Iterable[FileFacts], window: Window) -> list[str]:
    """The ids that a cluster has in a window, in the order of time: each holds until the next one is named."""
    namings = (naming for f in facts if f.file.origin == "broker" for naming in f.clusters)
    by_id = grouped(namings, lambda naming: naming.cluster_id)
    firsts = {name: min((n.first_at for n in own if n.first_at), default=LONG_AGO) for name, own in by_id.items()}
    ordered = sorted(firsts, key=lambda name: (firsts[name], name))
    ends = [*(firsts[name] for name in ordered[1:]), NEVER]
    return [name for name, end in zip(ordered, ends) if firsts[name] < window.end and window.start < end]


def _amount(facts: Sequence[FileFacts], reason: str) -> str:
    lines, days = sum(f.lines for f in facts), {day for f in facts for day in _days(f)}
    of_days = f" of {counted(len(days), 'day')}" if days else ""
    return f"{counted(lines, 'line')}{of_days} in {counted(len(facts), 'file')} ({reason})"


def _days(fact: FileFacts) -> Iterator[date]:
    if fact.first_at and fact.last_at:
        length = min((fact.last_at.date() - fact.first_at.date()).days, _MOST_DAYS)
        yield from (fact.first_at.date() + timedelta(days=n) for n in range(length + 1))


def _some(files: Iterable[str]) -> str:
    names = sorted(files)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def name_cluster(
    store: Store, settings: Settings, scan: Pass, own: OwnCluster, readings: ReadingLines
) -> tuple[str, list[str]]:
    """The name under which the input is kept, and warnings about it.

    The first of these decides: CLUSTER; the name that the lake has for its files; the newest id that brokers name; the
    id that snapshots name; the only id that clients name; the folder's name.

    Raises:
        BadInput: The input is of two clusters, or the lake has another cluster under that name.
    """
    ids = own.ids or tuple(readings.cluster_ids)
    if not readings.cluster_ids <= {*ids} or (not own.ids and len(ids) > 1):
        all_ids = readings.cluster_ids | {*ids}
        raise BadInput(
            f"LOGS and SNAPSHOTS name {len(all_ids)} clusters: {_join_names(all_ids)}. "
            "Needed: the logs and readings of one cluster. Audit each cluster by itself."
        )
    if not ids and len(scan.cluster_ids["client"]) == 1:
        ids = tuple(scan.cluster_ids["client"])
    in_lake = [name for name in ids if name in scan.names]
    name = settings.cluster or next(reversed(in_lake or ids), None)
    if name is None:
        name = (settings.logs or "").rstrip("/").rpartition("/")[2]
        return name, [
            f"No line and no reading names the cluster, so it is called {name}, after its folder. Give CLUSTER."
        ]
    lake_ids = _ids_in_lake(store, name) if ids and name not in ids else frozenset()
    if lake_ids.isdisjoint(ids) and (others := lake_ids - {*ids}):
        raise BadInput(
            f"The lake {store.lake} has the cluster {_join_names(others)} under the name {name}, and the input is "
            f"of {_join_names(ids)}. Needed: one cluster under one name. Give another CLUSTER, or another LAKE."
        )
    return name, []


def _ids_in_lake(store: Store, name: str) -> frozenset[str]:
    """The ids of the clusters that the lake has under a name: by events only where no reading and no file has one."""
    readings = cluster_rows(store, bronze.SNAPSHOT_READINGS, name, ("cluster_id",))
    files = cluster_rows(store, bronze.LOG_FILES, name, ("origin", "clusters"))
    of_brokers = files.filter(pc.equal(files["origin"], "broker"))
    namings = (naming for of_file in of_brokers["clusters"].to_pylist() for naming in of_file)
    ids = {*readings["cluster_id"].unique().to_pylist(), *(naming["cluster_id"] for naming in namings)}
    if not any(ids) and store.has(silver.EVENTS):
        query = "SELECT DISTINCT detail FROM part WHERE kind = 'cluster_named' AND origin = 'broker'"
        ids |= {*reduced(store, silver.EVENTS, Part(name), ("kind", "origin", "detail"), query)["detail"].to_pylist()}
    return frozenset(filter(None, ids))


def _join_names(ids: Iterable[str]) -> str:
    return " and ".join(sorted(ids))
