"""The clusters of the files in a folder. An id that follows another one in a log is of the same cluster.

A format draws a new random id (`Uuid.randomUuid`), and the old one never comes back. So two clusters wrote a log in
which an id comes back after another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from functools import cached_property, reduce
from ipaddress import ip_address
from itertools import combinations, takewhile
from operator import or_

from kafka_hindsight.catalog.rows.structs import ClusterNaming
from kafka_hindsight.shared.durations import LONG_AGO
from kafka_hindsight.shared.grouping import grouped

_CLEAR = 3
"""An id that so many times more lines name outvotes another one. Our choice."""

_STARTS_WITHIN = timedelta(minutes=1)
"""A broker names its cluster within this time of its first line. Source: KafkaServer.startup, which prints the id once
ZooKeeper answers, at most zookeeper.connection.timeout.ms (18 s) later. Our choice."""

_ALIKE = 0.75
"""Kafka's ids are 22 random characters: if two are more alike than this ratio, one is damaged. Our choice."""


@dataclass(frozen=True)
class BrokerFile:
    """A file of a broker's log: name, source, first and last instant, lines, and the cluster ids that it names.

    A file without an instant begins NEVER and ended LONG_AGO.
    """

    name: str
    source: str
    first_at: datetime
    last_at: datetime
    line_count: int
    clusters: tuple[ClusterNaming, ...] = ()


@dataclass(frozen=True)
class Traits:
    """Traits of the brokers that wrote some files, from the lines: ids, and addresses that no other machine has."""

    brokers: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()

    def __or__(self, other: Traits) -> Traits:
        return Traits(self.brokers | other.brokers, self.addresses | other.addresses)


@dataclass(frozen=True)
class FolderCluster:
    """A cluster: its ids in the order of time, the newest last; the names of its files, and the sum of their lines."""

    ids: tuple[str, ...]
    files: frozenset[str]
    line_count: int


@dataclass(frozen=True)
class FolderClusters:
    """The clusters of a folder, the largest first, and the files whose cluster is unknown.

    `mixes` are the files that may hold lines of several clusters, by name, each with their ids.
    """

    clusters: Sequence[FolderCluster]
    strays: frozenset[str]
    mixes: Mapping[str, frozenset[str]] = field(default_factory=dict)


ReadTraits = Callable[[], Mapping[str, Traits]]

_BROKER = re.compile(
    rb"\[(?:KafkaServer id=|BrokerServer id=|GroupCoordinator (?:id=)?|BrokerLifecycleManager id=|"
    rb"ReplicaManager broker=|TransactionCoordinator id=|Broker id=|Controller id=)(\d{1,9})"
    rb"|^\t(?:broker|node)\.id = (\d{1,9})\r?$",
    re.MULTILINE,
)
_LISTENERS = re.compile(
    rb" with addresses: (.+?)(?:, czxid|\r?$)|^\t(?:advertised\.listeners|listeners) = (.+?)\r?$", re.MULTILINE
)
_ADDRESS = re.compile(rb"(?:\w://|EndPoint\()(\[[^\]]*\]|[^\s:,/()]*)[:,](\d+)")
"""Host and port of a listener: `PLAINTEXT://kafka:9092`, or `EndPoint(kafka,9092,...)` before Kafka 2.5."""

_PLACEHOLDERS = frozenset({"", "localhost", "localhost.localdomain", "your.host.name", "host.name"})
"""Hosts that say nothing: every interface, the machine itself, and those of the comments in server.properties."""


def traits_in(data: bytes) -> Traits:
    """The traits in a broker's lines. Source: KafkaConfig prints its values at each start.

    A log directory identifies no machine, and neither does a listener without a host name of its own.
    """
    brokers = frozenset((m[1] or m[2]).decode() for m in _BROKER.finditer(data))
    listeners = b" ".join(m[1] or m[2] for m in _LISTENERS.finditer(data))
    hosts = ((m[1].decode(errors="replace").lower(), m[2].decode()) for m in _ADDRESS.finditer(listeners))
    return Traits(brokers, frozenset(f"{host}:{port}" for host, port in hosts if _is_own_host(host)))


def _is_own_host(host: str) -> bool:
    """Whether a host is of one machine: a name, or an address that is not given out again in each private network."""
    try:
        return ip_address(host.strip("[]").partition("%")[0]).is_global
    except ValueError:
        return host not in _PLACEHOLDERS


def clusters_of_files(files: Sequence[BrokerFile], read_traits: ReadTraits) -> FolderClusters:
    """The clusters of files. The result does not depend on the order of the files.

    A cluster's id changes where its disks are formatted or its ZooKeeper data is deleted. So the ids that follow one
    another in a log are of one cluster. The ids in different logs are of one cluster where the logs follow one another
    in time and are of the same broker at the same address. A log without an id goes to the only cluster that fits: by
    its folder, address, broker, or time. In a folder with a log that two clusters wrote, only files count of which one
    cluster wrote each line.

    Args:
        files: Files of brokers.
        read_traits: Reads the traits of each file by its name. Called where more than one cluster remains.
    """
    whole_logs = [_Log(tuple(own)) for _, own in sorted(grouped(files, lambda f: f.source).items())]
    in_folder = grouped(whole_logs, lambda log: log.folder)
    mixed = {folder: own for folder, own in in_folder.items() if any(log.is_mix for log in own)}
    logs = [log for log in whole_logs if log.folder not in mixed]
    logs += [_Log(own) for of_folder in mixed.values() for log in of_folder for own in log.unmixed]
    audited = {f.name for log in logs for f in log.files}
    mixes = {
        f.name: frozenset(name for log in own for name in log.clusters)
        for own in mixed.values()
        for log in own
        for f in log.files
        if f.name not in audited
    }
    parts = _by_ids(log for log in logs if log.clusters)
    if len(parts) > 1:
        traits = read_traits()
        logs = [replace(log, traits=_join(traits[f.name] for f in log.files)) for log in logs]
        parts = _by_brokers(_by_ids(log for log in logs if log.clusters))
    homes = grouped((log for log in logs if not log.clusters), lambda log: _home(log, parts))
    strays = frozenset(f.name for log in homes.get(None, ()) for f in log.files)
    clusters = [_cluster([*part.logs, *homes.get(part, ())]) for part in parts]
    return FolderClusters(sorted(clusters, key=lambda c: (-c.line_count, c.ids)), strays, mixes)


def without_damaged(clusters: Mapping[str, ClusterNaming]) -> dict[str, ClusterNaming]:
    """The ids that a log names, without damaged ones.

    A damaged id is nearly like one that more lines name, or is outvoted by lines before and after it.
    """
    namings = clusters.values()
    return {name: own for name, own in clusters.items() if not any(_is_damaged(own, other) for other in namings)}


def _is_damaged(own: ClusterNaming, other: ClusterNaming) -> bool:
    is_alike = _is_alike(own.cluster_id, other.cluster_id)
    is_within = _time(other.first_at) <= _time(own.first_at) and _time(own.last_at) <= _time(other.last_at)
    is_outvoted = is_within and other.line_count >= _CLEAR * own.line_count
    return other.line_count > own.line_count and (is_alike or is_outvoted)


def _is_alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() > _ALIKE


def _only_id(file: BrokerFile) -> str | None:
    """The only id that a file names; None if it names none or several."""
    ids = [*without_damaged({naming.cluster_id: naming for naming in file.clusters})]
    return ids[0] if len(ids) == 1 else None


def _begins_with_start(file: BrokerFile) -> bool:
    """Whether a file's first lines are of the start that names its id."""
    named_at = [naming.first_at for naming in file.clusters if naming.first_at]
    return bool(named_at) and min(named_at) - file.first_at <= _STARTS_WITHIN


@dataclass(frozen=True)
class _Log:
    """The files of one log, and the traits of the broker that wrote it."""

    files: tuple[BrokerFile, ...]
    traits: Traits = Traits()

    @property
    def folder(self) -> str:
        return self.files[0].source.rpartition("/")[0]

    @property
    def first_at(self) -> datetime:
        return min(f.first_at for f in self.files)

    @property
    def last_at(self) -> datetime:
        return max(f.last_at for f in self.files)

    @cached_property
    def clusters(self) -> Mapping[str, ClusterNaming]:
        """The ids that it names, without damaged ones."""
        return without_damaged(_merge(naming for f in self.files for naming in f.clusters))

    @cached_property
    def is_mix(self) -> bool:
        """Whether two clusters wrote it, into files of their own or woven into one another."""
        return self.has_two_writers or self._has_id_that_comes_back

    @property
    def unmixed(self) -> list[tuple[BrokerFile, ...]]:
        """The files of a mix of which one cluster wrote each line, those of each cluster together.

        Files of one time have an appender each. Where they follow one another, a file may begin with lines of the
        cluster before it, unless it begins with the start that names its id. A file without an id has no start, and
        goes on with what came before.
        """
        if self.has_two_writers:
            return [(f,) for f in self.files if _only_id(f)]
        of_cluster: dict[str, list[BrokerFile]] = {}
        before: str | None = None
        for file in sorted(self.files, key=lambda f: (f.first_at, f.name)):
            own = _only_id(file) if file.clusters else before
            if own and (own == before or _begins_with_start(file)):
                of_cluster.setdefault(own, []).append(file)
            before = own
        return [tuple(own) for own in of_cluster.values()]

    @cached_property
    def has_two_writers(self) -> bool:
        """Whether two of its files name different ids and are of the same time: one appender's files never are."""
        files = [(f, name) for f in self.files if (name := _only_id(f))]
        return any(
            _is_same_time(f, g) and one != other and not _is_alike(one, other)
            for (f, one), (g, other) in combinations(files, 2)
        )

    @property
    def _has_id_that_comes_back(self) -> bool:
        spans = [(_time(naming.first_at), _time(naming.last_at)) for naming in self.clusters.values()]
        return any(a < d and c < b for (a, b), (c, d) in combinations(spans, 2))


@dataclass(frozen=True)
class _Part:
    """Logs of one cluster."""

    logs: tuple[_Log, ...]

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(name for log in self.logs for name in log.clusters)

    @property
    def traits(self) -> Traits:
        return _join(log.traits for log in self.logs)

    @property
    def first_at(self) -> datetime:
        return min(log.first_at for log in self.logs)

    @property
    def last_at(self) -> datetime:
        return max(log.last_at for log in self.logs)


def _by_ids(logs: Iterable[_Log]) -> list[_Part]:
    """Logs that name an id in common, directly or by others between them."""
    parts: list[_Part] = []
    for log in logs:
        near = [part for part in parts if not part.ids.isdisjoint(log.clusters)]
        parts = [p for p in parts if p not in near] + [_Part((*(own for p in near for own in p.logs), log))]
    return parts


def _by_brokers(parts: Iterable[_Part]) -> list[_Part]:
    """The same, where one that begins when another of the same broker and address has ended is one with it."""
    united: list[_Part] = []
    for part in sorted(parts, key=lambda p: (p.first_at, sorted(p.ids))):
        former = [p for p in united if p.last_at <= part.first_at and _is_same_broker(p.traits, part.traits)]
        if former:
            last = max(former, key=lambda p: (p.last_at, sorted(p.ids)))
            united.remove(last)
            part = _Part((*last.logs, *part.logs))
        united.append(part)
    return united


def _is_same_broker(one: Traits, other: Traits) -> bool:
    return not (one.brokers.isdisjoint(other.brokers) or one.addresses.isdisjoint(other.addresses))


def _home(log: _Log, parts: Sequence[_Part]) -> _Part | None:
    """The only cluster that fits a log without an id; None where several fit.

    Each test keeps the clusters that pass it, or all if none passes: the same folder; the same address; no other log of
    the same broker at the same time; the nearest folder; the same time.
    """
    nearness = {part: max(_nearness(log, member) for member in part.logs) for part in parts}
    tests: tuple[Callable[[_Part], bool], ...] = (
        lambda part: any(member.folder == log.folder for member in part.logs),
        lambda part: not part.traits.addresses.isdisjoint(log.traits.addresses),
        lambda part: not any(_is_rival(member, log) for member in part.logs),
        lambda part: nearness[part] == max(nearness.values()) > 0,
        lambda part: part.first_at <= log.last_at and log.first_at <= part.last_at,
    )
    candidates = list(parts)
    for fits in tests:
        candidates = [part for part in candidates if fits(part)] or candidates
    return candidates[0] if len(candidates) == 1 else None


def _is_rival(own: _Log, log: _Log) -> bool:
    """Whether a log of another folder is of the same broker at the same time."""
    is_same_broker = not own.traits.brokers.isdisjoint(log.traits.brokers)
    return is_same_broker and own.folder != log.folder and _is_same_time(own, log)


def _is_same_time(one: BrokerFile | _Log, other: BrokerFile | _Log) -> bool:
    return one.first_at < other.last_at and other.first_at < one.last_at


def _nearness(one: _Log, other: _Log) -> int:
    pairs = zip(one.folder.split("/"), other.folder.split("/"), strict=False)
    return len([*takewhile(lambda pair: pair[0] == pair[1], pairs)])


def _cluster(logs: Sequence[_Log]) -> FolderCluster:
    files = [f for log in logs for f in log.files]
    clusters = _merge(naming for log in logs for naming in log.clusters.values())
    ids = sorted(clusters, key=lambda name: (_time(clusters[name].last_at), name))
    return FolderCluster(tuple(ids), frozenset(f.name for f in files), sum(f.line_count for f in files))


def _merge(clusters: Iterable[ClusterNaming]) -> dict[str, ClusterNaming]:
    """The namings of each id in several files, summed up."""
    return {name: _sum(own) for name, own in sorted(grouped(clusters, lambda c: c.cluster_id).items())}


def _sum(namings: Sequence[ClusterNaming]) -> ClusterNaming:
    instants = [at for naming in namings for at in (naming.first_at, naming.last_at) if at]
    return ClusterNaming(
        cluster_id=namings[0].cluster_id,
        first_at=min(instants, default=None),
        last_at=max(instants, default=None),
        line_count=sum(naming.line_count for naming in namings),
    )


def _join(traits: Iterable[Traits]) -> Traits:
    return reduce(or_, traits, Traits())


def _time(at: datetime | None) -> datetime:
    return at or LONG_AGO
