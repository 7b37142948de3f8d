"""Readings of the cluster: those of SNAPSHOTS, and those that landed in the lake; read before anything is written."""

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
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import open_bytes
from kafka_hindsight.logs.found_files import Found, files_at
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import counted


@dataclass(frozen=True)
class Readings:
    """The lines of files of readings, and their totals; instants are null if there is no reading."""

    lines: tuple[ReadLine, ...]
    count: int
    broken: int
    errors: int
    first_at: datetime | None
    last_at: datetime | None
    cluster_ids: frozenset[str]
    breaks_off: bool

    def of_cluster(self, ids: Collection[str]) -> Readings:
        """The same, without readings that name a cluster with none of these ids."""
        return _readings_of(snapshots.only_of(self.lines, ids), self.breaks_off)

    def warnings(self) -> list[str]:
        """Warnings for a person, a sentence each."""
        sentences = (
            (self.broken, f"{counted(self.broken, 'line')} of SNAPSHOTS could not be read: see quality.quarantine."),
            (self.errors, f"{counted(self.errors, 'reading')} in SNAPSHOTS failed: nothing is concluded from them."),
            (
                self.breaks_off,
                "A file of SNAPSHOTS cannot be unpacked to its end. The readings before the break are kept. "
                "Needed: the whole file. Copy it again from where it was written, then audit again.",
            ),
        )
        return [sentence for count, sentence in sentences if count]


def read_readings(place: str | None) -> Readings:
    """Read a JSON-lines file, or all files of a folder; no readings for None.

    A compressed file that breaks off is read up to the break. Files whose names begin with a dot or an underscore are
    still being written, and left out.

    Raises:
        BadInput: Nothing is there.
    """
    if place is None:
        return _read_lines([])
    lines, breaks_off = list[Line](), False
    for file in _files(place):
        content = open_bytes(file.uri, file.size)
        try:
            lines += map(Line, lines_in(content))
            breaks_off |= content.damage is not None
        finally:
            content.close()
    return _read_lines(lines, breaks_off)


def _files(place: str) -> list[Found]:
    """The files at a place. Raises: BadInput if nothing is there."""
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
    """Whether a file is the place itself, or lies directly in it and is not being written."""
    is_place_itself = file.uri.rstrip("/").endswith(place.rstrip("/"))
    return is_place_itself or ("/" not in file.name and not file.name.startswith((".", "_")))


def read_landed(store: Store, cluster: str, names: Iterable[str]) -> Readings | None:
    """Read what landed for a cluster, under any of its names, and is not in bronze yet; None if there is nothing.

    A reading that failed is read again, since a retry may have put a better one in its place.
    """
    landed = list_landed_of(store.lake, SNAPSHOTS, names)
    if landed:
        rows = cluster_rows(store, bronze.SNAPSHOT_READINGS, cluster, ("run_landed_as", "error"))
        landed -= set(rows.filter(pc.is_null(rows["error"]))["run_landed_as"].to_pylist())
    return _read_lines(lines_of_landed(landing_folder(store.lake, SNAPSHOTS), landed)) if landed else None


def lines_of_landed(folder: str, names: Iterable[str]) -> list[Line]:
    """The lines of files that have landed."""
    lines = list[Line]()
    for name in sorted(names):
        content = open_bytes(f"{folder}/{name}", 0)
        try:
            lines += (Line(text, name) for text in lines_in(content))
        finally:
            content.close()
    return lines


def _read_lines(lines: Iterable[Line], breaks_off: bool = False) -> Readings:
    parsed = [snapshots.read_line(line) for line in lines]
    readings = _readings_of(parsed, breaks_off)
    ours = _majority_id(parsed) if len(readings.cluster_ids) > 1 else None
    return readings.of_cluster([ours]) if ours else readings


def _readings_of(lines: Sequence[ReadLine], breaks_off: bool) -> Readings:
    instants = [line.at for line in lines if line.at]
    return Readings(
        lines=tuple(lines),
        count=len(instants),
        broken=len(lines) - len(instants),
        errors=sum(line.has_failed for line in lines),
        first_at=min(instants, default=None),
        last_at=max(instants, default=None),
        cluster_ids=frozenset(line.cluster_id for line in lines if line.at and line.cluster_id is not None),
        breaks_off=breaks_off,
    )


def _majority_id(lines: Iterable[ReadLine]) -> str | None:
    """The cluster id of three quarters of the readings that name one; None if no id has so many."""
    counts = Counter(line.cluster_id for line in lines if line.at and line.cluster_id is not None)
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
