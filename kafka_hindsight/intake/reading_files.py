"""Readings of the cluster: those of SNAPSHOTS, and those that landed in the lake; read before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import pyarrow.compute as pc

from kafka_hindsight.catalog import bronze
from kafka_hindsight.intake import snapshot_rows as snapshots
from kafka_hindsight.intake.json_lines import LandedLine, landed_lines
from kafka_hindsight.intake.lake_rows import cluster_rows
from kafka_hindsight.intake.snapshot_rows import ReadLine
from kafka_hindsight.lake.damage import is_seal, unsealed
from kafka_hindsight.lake.landing import SNAPSHOTS, is_there, landing_folder, list_landed_of, read_bytes
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import InMemory, open_bytes
from kafka_hindsight.logs.found_files import Found, files_at
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import counted


@dataclass(frozen=True)
class ReadingLines:
    """The lines of files of readings. `breaks_off`: a file cannot be unpacked to its end."""

    lines: tuple[ReadLine, ...] = ()
    breaks_off: bool = False

    def __add__(self, other: ReadingLines) -> ReadingLines:
        return ReadingLines((*self.lines, *other.lines), self.breaks_off or other.breaks_off)

    @cached_property
    def instants(self) -> list[datetime]:
        """The instant of each reading."""
        return [line.at for line in self.lines if line.at]

    @cached_property
    def cluster_ids(self) -> frozenset[str]:
        """The ids that readings name."""
        return frozenset(line.cluster_id for line in self.lines if line.at and line.cluster_id is not None)

    def of_cluster(self, ids: Collection[str]) -> ReadingLines:
        """The same, without readings that name a cluster with none of these ids."""
        return replace(self, lines=tuple(snapshots.only_of(self.lines, ids)))

    def warnings(self) -> list[str]:
        """Warnings for a person, a sentence each."""
        broken = len(self.lines) - len(self.instants)
        errors = sum(line.has_failed for line in self.lines)
        sentences = (
            (broken, f"{counted(broken, 'line')} of SNAPSHOTS could not be read: see quality.quarantine."),
            (errors, f"{counted(errors, 'reading')} in SNAPSHOTS failed: nothing is concluded from them."),
            (
                self.breaks_off,
                "A file of SNAPSHOTS cannot be unpacked to its end. The readings before the break are kept. "
                "Needed: the whole file. Copy it again from where it was written, then audit again.",
            ),
        )
        return [sentence for count, sentence in sentences if count]


def read_readings(place: str | None) -> ReadingLines:
    """Read a JSON-lines file, or all files of a folder; no readings for None.

    A compressed file that breaks off is read up to the break. Files whose names begin with a dot or an underscore are
    still being written, and left out. So is the checksum of a file that landed.

    Raises:
        BadInput: Nothing is there.
    """
    if place is None:
        return ReadingLines()
    lines, breaks_off = list[LandedLine](), False
    for file in _files(place):
        content = open_bytes(file.uri, file.size)
        try:
            lines += (LandedLine(text) for text in landed_lines(content) if not is_seal(text))
            breaks_off |= content.damage is not None
        finally:
            content.close()
    return _read_lines(lines, breaks_off)


def _files(place: str) -> list[Found]:
    """The files at a place. Raises: BadInput if nothing is there."""
    needed = "a JSON-lines file, or a folder of them, with one reading of the cluster a line"
    return [f for f in files_of_input("SNAPSHOTS", place, needed) if _is_meant(f, place)]


def files_of_input(variable: str, place: str, needed: str) -> list[Found]:
    """The files at a place that a user named in a variable, without those that cannot be read.

    Raises:
        BadInput: Nothing is there, or it cannot be opened.
    """
    try:
        if is_there(place):
            return [f for f in files_at(place) if not f.why_not]
        why = "nothing is there"
    except OSError as refusal:
        why = masked(str(refusal))
    raise BadInput(
        f"{variable} names {masked(place)}, which cannot be opened ({why}). Needed: {needed}. Check the path."
    )


def _is_meant(file: Found, place: str) -> bool:
    """Whether a file is the place itself, or lies directly in it and is not being written."""
    is_place_itself = file.uri.rstrip("/").endswith(place.rstrip("/"))
    return is_place_itself or ("/" not in file.name and not file.name.startswith((".", "_")))


def read_landed(store: Store, cluster: str, names: Iterable[str]) -> ReadingLines:
    """Read what landed for a cluster, under any of its names, and is not in bronze yet.

    A reading that failed is read again, since a retry may have put a better one in its place.
    """
    landed = list_landed_of(store.lake, SNAPSHOTS, names)
    if landed:
        rows = cluster_rows(store, bronze.SNAPSHOT_READINGS, cluster, ("run_landed_as", "error"))
        landed -= set(rows.filter(pc.is_null(rows["error"]))["run_landed_as"].to_pylist())
    return _read_lines(lines_of_landed(landing_folder(store.lake, SNAPSHOTS), landed))


def lines_of_landed(folder: str, names: Iterable[str]) -> list[LandedLine]:
    """The lines of files that have landed, without the checksum after them."""
    lines = list[LandedLine]()
    for name in sorted(names):
        try:
            content = read_bytes(f"{folder}/{name}")
        except FileNotFoundError:  # it vanished meanwhile
            continue
        own, is_whole = unsealed(content)
        lines += (LandedLine(text, name, not is_whole) for text in landed_lines(InMemory(own)))
    return lines


def _read_lines(lines: Iterable[LandedLine], breaks_off: bool = False) -> ReadingLines:
    readings = ReadingLines(tuple(map(snapshots.read_line, lines)), breaks_off)
    ours = _majority_id(readings.lines) if len(readings.cluster_ids) > 1 else None
    return readings.of_cluster([ours]) if ours else readings


def _majority_id(lines: Iterable[ReadLine]) -> str | None:
    """The cluster id of three quarters of the readings that name one; None if no id has so many."""
    counts = Counter(line.cluster_id for line in lines if line.at and line.cluster_id is not None)
    return next((name for name, count in counts.items() if 4 * count >= 3 * counts.total()), None)
