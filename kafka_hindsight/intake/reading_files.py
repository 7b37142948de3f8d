"""Readings of the cluster: a file that the user gives, and what has landed in the lake; looked at before writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.json_lines import Line, lines_in
from kafka_hindsight.intake.lake_rows import cluster_rows
from kafka_hindsight.intake.snapshot_rows import ReadLine
from kafka_hindsight.lake.landing import SNAPSHOTS, is_there, landing_folder, list_landed_of
from kafka_hindsight.lake.parts import Span
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import opened
from kafka_hindsight.logs.found_files import Found, files_at
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput


@dataclass(frozen=True)
class Readings:
    """The lines of files taken apart, and what they say as a whole; instants are null where there is no reading."""

    lines: tuple[ReadLine, ...]
    count: int
    broken: int
    errors: int
    first_at: datetime | None
    last_at: datetime | None
    cluster_ids: frozenset[str]
    breaks_off: bool

    @property
    def span(self) -> Span | None:
        """The first and the last instant; None where there is no reading."""
        return (self.first_at, self.last_at) if self.first_at and self.last_at else None

    def of_cluster(self, ids: Collection[str]) -> Readings:
        """The same, without the readings that name another cluster. Takes: the ids of ours."""
        return _counted(snapshots.only_of(self.lines, ids), self.breaks_off)

    def warnings(self) -> list[str]:
        """What a person should know about them, a sentence each."""
        said = (
            (self.broken, "Lines of SNAPSHOTS that are not a reading of a cluster: {}. quality.quarantine says why."),
            (self.errors, "Readings in SNAPSHOTS that failed as a whole: {}. Nothing is concluded from them."),
            (
                self.breaks_off,
                "A file of SNAPSHOTS cannot be unpacked to its end: what stands before the break is kept. "
                "Needed: the whole file. Copy it again from where it was written, then audit again.",
            ),
        )
        return [sentence.format(count) for count, sentence in said if count]


def read_readings(place: str | None) -> Readings:
    """Reads a JSON-lines file, or all files of a folder; no place gives no readings.

    Raises: BadInput where nothing is there.
    Edge case: a compressed file that breaks off is read up to the break. Files whose names begin with a dot or an
        underscore are being written.
    """
    if place is None:
        return _looked_at([])
    lines, breaks_off = list[Line](), False
    for file in _files(place):
        held = opened(file.uri, file.size)
        try:
            lines += map(Line, lines_in(held))
            breaks_off |= held.damage is not None
        finally:
            held.close()
    return _looked_at(lines, breaks_off)


def _files(place: str) -> list[Found]:
    """The files at a place. Raises: BadInput where nothing is there."""
    try:
        if is_there(place):
            return [f for f in files_at(place) if not f.why_not and _is_meant(f, place)]
        why = "nothing is there"
    except OSError as refusal:
        why = masked(str(refusal))
    raise BadInput(
        f"SNAPSHOTS names {masked(place)}, which cannot be opened ({why}). "
        "Needed: a JSON-lines file, or a folder of them, with one reading of the cluster a line. Check the path."
    )


def _is_meant(file: Found, place: str) -> bool:
    """Whether a file is the one that the user names, or lies in the folder itself and is not being written."""
    is_place_itself = file.uri.rstrip("/").endswith(place.rstrip("/"))
    return is_place_itself or ("/" not in file.name and not file.name.startswith((".", "_")))


def read_landed(store: Store, cluster: str, names: Iterable[str]) -> Readings | None:
    """Reads what has landed for a cluster and was not taken yet; None where there is nothing.

    Takes: the names under which the cluster's readings land.
    Edge case: one that failed is read again, since a retry may have put a better one in its place.
    """
    landed = list_landed_of(store.lake, SNAPSHOTS, names)
    if landed:
        held = cluster_rows(store, bronze.SNAPSHOT_READINGS, cluster, ("run_landed_as", "error"))
        landed -= set(held.filter(pc.is_null(held["error"]))["run_landed_as"].to_pylist())
    return _looked_at(lines_of_landed(landing_folder(store.lake, SNAPSHOTS), landed)) if landed else None


def lines_of_landed(folder: str, names: Iterable[str]) -> list[Line]:
    """The lines of files that have landed."""
    found = list[Line]()
    for name in sorted(names):
        held = opened(f"{folder}/{name}", 0)
        try:
            found += (Line(text, name) for text in lines_in(held))
        finally:
            held.close()
    return found


def _looked_at(lines: Iterable[Line], breaks_off: bool = False) -> Readings:
    read = [snapshots.read_line(line) for line in lines]
    found = _counted(read, breaks_off)
    ours = _named_by_most(read) if len(found.cluster_ids) > 1 else None
    return found.of_cluster([ours]) if ours else found


def _counted(read: Sequence[ReadLine], breaks_off: bool) -> Readings:
    instants = [line.at for line in read if line.at]
    return Readings(
        lines=tuple(read),
        count=len(instants),
        broken=len(read) - len(instants),
        errors=sum(line.has_failed for line in read),
        first_at=min(instants, default=None),
        last_at=max(instants, default=None),
        cluster_ids=frozenset(line.cluster_id for line in read if line.at and line.cluster_id is not None),
        breaks_off=breaks_off,
    )


def _named_by_most(read: Iterable[ReadLine]) -> str | None:
    """The cluster id that three quarters of the readings name, of those that name one; None where none does."""
    counts = Counter(line.cluster_id for line in read if line.at and line.cluster_id is not None)
    return next((name for name, count in counts.items() if 4 * count >= 3 * counts.total()), None)


def joined(parts: Sequence[Readings]) -> Readings:
    """Several sets of readings as one."""
    instants = [at for part in parts for at in (part.first_at, part.last_at) if at]
    return Readings(
        lines=tuple(line for part in parts for line in part.lines),
        count=sum(part.count for part in parts),
        broken=sum(part.broken for part in parts),
        errors=sum(part.errors for part in parts),
        first_at=min(instants, default=None),
        last_at=max(instants, default=None),
        cluster_ids=frozenset[str]().union(*(part.cluster_ids for part in parts)),
        breaks_off=any(part.breaks_off for part in parts),
    )
