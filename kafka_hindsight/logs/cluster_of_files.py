"""Which cluster each file of a folder is of, and which of several clusters a run is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.shared.grouping import grouped

_CLEAR = 3
"""So many times as many files as all others together name the cluster that wins. Our choice."""


@dataclass(frozen=True)
class NamingFile:
    """A file of a broker's log: its name, the folder of its node, what it spans, and the cluster ids that it names."""

    name: str
    node: str
    first_at: datetime
    last_at: datetime
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Chosen:
    """The cluster that a run is about. `others` are the files of other ones, by name, each with the ids that it is of;
    `cluster_id` is None where more than one id remains: then `others` are all files that name one."""

    cluster_id: str | None
    others: Mapping[str, frozenset[str]]


def choose_cluster(
    files: Sequence[NamingFile], wanted: str | None, since: datetime | None, until: datetime | None
) -> Chosen:
    """The cluster that a run is about, of those that files name.

    Takes: files of brokers, at least one that names an id; the name that CLUSTER gives; the window that is asked for.
    Order: the id that CLUSTER names; the only one of the window; the only one that the nodes named last, since a disk
    that is formatted again begins another cluster; the one that by far the most files name.
    Keeps: the answer does not depend on the order of the files.
    Edge case: a file that names no id is of the cluster that its node named last before it, else of the next one; a
    file that names the chosen id beside others is read.
    """
    of_file = _ids_of(files)
    choices: tuple[set[str | None], ...] = (
        {wanted} & set().union(*of_file.values()),
        set().union(*(of_file[f.name] for f in files if _meets(f, since, until))),
        set().union(*_last_named(files).values()),
        _outvoting(files),
    )
    cluster_id = next((next(iter(ids)) for ids in choices if len(ids) == 1), None)
    if cluster_id is None:
        return Chosen(None, {f.name: f.ids for f in files if f.ids})
    return Chosen(cluster_id, {name: ids for name, ids in of_file.items() if ids and cluster_id not in ids})


def _outvoting(files: Iterable[NamingFile]) -> set[str | None]:
    """The id that far more files name than any others."""
    votes = Counter(i for f in files for i in f.ids)
    return {i for i in votes if votes[i] >= _CLEAR * (votes.total() - votes[i])}


def _meets(file: NamingFile, since: datetime | None, until: datetime | None) -> bool:
    return (until is None or file.first_at < until) and (since is None or file.last_at >= since)


def _by_node(files: Iterable[NamingFile]) -> Mapping[str, list[NamingFile]]:
    """The files of each node that name an id, in order of time."""
    return grouped(sorted((f for f in files if f.ids), key=lambda f: (f.last_at, f.name)), lambda f: f.node)


def _last_named(files: Iterable[NamingFile]) -> dict[str, frozenset[str]]:
    return {node: own[-1].ids for node, own in _by_node(files).items()}


def _ids_of(files: Sequence[NamingFile]) -> dict[str, frozenset[str]]:
    """The ids that each file is of, by its name; none where its node names none."""
    nodes = _by_node(files)
    return {f.name: f.ids or _named_around(f, nodes.get(f.node, [])) for f in files}


def _named_around(file: NamingFile, naming: Sequence[NamingFile]) -> frozenset[str]:
    before = [f for f in naming if f.first_at <= file.first_at]
    return (before[-1] if before else naming[0]).ids if naming else frozenset()
