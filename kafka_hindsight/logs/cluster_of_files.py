"""Which cluster each file of a folder is of, and which of several clusters a run is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    naming = sorted((f for f in files if f.ids), key=lambda f: (f.last_at, f.name))
    nodes, votes = grouped(naming, lambda f: f.node), Counter(i for f in files for i in f.ids)
    of_file = {f.name: f.ids or _named_around(f, nodes.get(f.node, [])) for f in files}
    asked = [f for f in files if (until is None or f.first_at < until) and (since is None or f.last_at >= since)]
    choices: tuple[set[str | None], ...] = (
        {wanted} & set().union(*of_file.values()),
        set().union(*(of_file[f.name] for f in asked)),
        set().union(*(own[-1].ids for own in nodes.values())),
        {i for i in votes if votes[i] >= _CLEAR * (votes.total() - votes[i])},
    )
    cluster_id = next((next(iter(ids)) for ids in choices if len(ids) == 1), None)
    if cluster_id is None:
        return Chosen(None, {f.name: f.ids for f in files if f.ids})
    return Chosen(cluster_id, {name: ids for name, ids in of_file.items() if ids and cluster_id not in ids})


def _named_around(file: NamingFile, naming: Sequence[NamingFile]) -> frozenset[str]:
    before = [f for f in naming if f.first_at <= file.first_at]
    return (before[-1] if before else naming[0]).ids if naming else frozenset()
