"""The files that are read, found through Spark's file systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX, source_of
from kafka_hindsight.knowledge.metadata_log import FOLDER, named
from kafka_hindsight.logs.archives import is_archive
from kafka_hindsight.logs.files import Known, Listing, LogFile, Place, escaped
from kafka_hindsight.logs.local_files import Found, local_files
from kafka_hindsight.settings.config import is_source, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import of_millis
from kafka_hindsight.spark.files.archive_members import members


def list_places(spark: SparkSession, places: Sequence[Place], glob: str | None, known: Known | None = None) -> Listing:
    """Every file of these places. A file that two of them hold belongs to the last.

    Takes: `known`, what archives were found to hold, which grows: to list a packed one is to unpack it.
    Raises: BadInput with a sentence for each place that is missing, empty, or holds no log by its name.
    """
    problems: list[str] = []
    listings: list[Listing] = []
    for place in places:
        try:
            listings.append(_list(spark, place, glob, {} if known is None else known))
        except BadInput as problem:
            problems += problem.sentences
    if problems:
        raise BadInput(*problems)
    found = _joined(listings)
    if problems := [_shared(p) for p in places if p.origin not in {f.origin for f in found.files}]:
        raise BadInput(*problems)
    return found


def _joined(listings: Sequence[Listing]) -> Listing:
    return Listing(
        tuple({f.uri: f for listing in listings for f in listing.files}.values()),
        tuple(name for listing in listings for name in listing.not_read),
        tuple({f.uri: f for listing in listings for f in listing.metadata}.values()),
    )


def _shared(place: Place) -> str:
    return (
        f"{place} and CLIENT_LOGS names all of its files as well. Needed: the brokers' logs in one place and the "
        "clients' in another. Give each its own folder."
    )


def _list(spark: SparkSession, place: Place, glob: str | None, known: Known) -> Listing:
    """Every file below a place, in order of its name.

    Raises: BadInput where the place is missing, is empty, or holds no file that is a log by its name.
    """
    lies_there = _unfolded(spark, sorted(_everything(spark, place)), known)
    found = [entry for entry in lies_there if not entry.why_not]
    if not lies_there:
        raise BadInput(
            f"{place} and that folder is empty. "
            f"Needed: the {place.origin}s' log files. Check the path, and that the logs were copied there."
        )
    files = tuple(
        replace(_file(entry, place), source=source_of(entry.name), pattern=place.pattern)
        for entry in found
        if _is_chosen(entry, glob, place)
    )
    metadata = tuple(_file(entry, place) for entry in found if named(entry.name) and not entry.archive)
    if not files:
        raise _no_log(place, lies_there, glob)
    names = {f.name for f in (*files, *metadata)}
    return Listing(files, tuple(_not_read(entry) for entry in lies_there if entry.name not in names), metadata)


def _unfolded(spark: SparkSession, found: Sequence[Found], known: Known) -> list[Found]:
    """What lies there, with what archives hold instead of these, in the order in which it is read."""
    archives = [entry for entry in found if is_archive(entry.name) and not entry.why_not and entry not in known]
    if archives:
        known |= members(spark, archives)
    return [each for entry in found for each in known.get(entry, [entry])]


def _no_log(place: Place, found: Sequence[Found], glob: str | None) -> BadInput:
    some = ", ".join(_not_read(entry) for entry in found[:5])
    return BadInput(
        f"{place} and none of its {len(found)} files is a log by its name ({some}). "
        f"Needed: {glob or '*.log, *.log.*, *.gz or kafka*.out'}. Check the path, or name the files in GLOB."
    )


def _file(entry: Found, place: Place) -> LogFile:
    """A file, of which the folder is the source."""
    folder = entry.name.rpartition("/")[0]
    return LogFile(
        entry.uri,
        escaped(entry.path),
        entry.name,
        entry.size,
        entry.modified_at,
        folder,
        place.origin,
        place.zone,
        archive=entry.archive,
    )


def describe(spark: SparkSession, rows: Sequence[dict[str, Any]], schema: str) -> DataFrame:
    """A small frame out of what the driver knows about each file, to be joined to lines and records."""
    shape = f"array<struct<{schema}>>"
    return spark.range(1).select(F.inline(F.from_json(F.lit(json.dumps(rows)), shape)))


def uri_of() -> Any:
    """The URI of the file that a row was read from, as `LogFile` has it."""
    return F.regexp_replace("_metadata.file_path", _LOCAL, "file:///")


def written_at(status: Any) -> datetime:
    """When a file was written last, as Hadoop's status of it says."""
    return of_millis(status.getModificationTime())


def is_read_failure(error: Exception) -> bool:
    """Whether Spark failed since it did not find a file, or could not read it to its end."""
    return "FAILED_READ_FILE" in str(error) or "PATH_NOT_FOUND" in str(error)


def _everything(spark: SparkSession, place: Place) -> list[Found]:
    """Everything that lies in the folders of a place. Raises: BadInput where there is none of them."""
    if place.folders is None:
        return _walk(spark, place) or []
    found = [_walk(spark, replace(place, root=folder)) for folder in place.folders]
    there = [entries for entries in found if entries is not None]
    if not there:
        raise _nothing_in(place)
    return [entry for entries in there for entry in entries]


def _walk(spark: SparkSession, place: Place) -> list[Found] | None:
    """Everything below a place; None where one of several folders is not there.

    Edge case: a folder that vanishes meanwhile makes us look again.
    """
    for _ in range(_LOOKS):
        try:
            return _look(spark, place)
        except Py4JJavaError as refusal:
            kind = refusal.java_exception.getClass().getSimpleName()
            if kind in _NO_SUCH_PLACE:
                raise BadInput(
                    f"{place} and Spark cannot open it: {refusal.java_exception.getMessage()}. "
                    "Needed: a path, or a URI of a file system that this Spark knows. "
                    "Check it, or add the file system's jar."
                ) from refusal
            if kind != "FileNotFoundException":
                raise
        except FileNotFoundError:
            continue
        except PermissionError as refusal:
            raise BadInput(
                f"{place} and {refusal.filename} cannot be listed: {refusal.strerror}. Needed: the right to read all"
                " that lies there. Give it, or name another folder."
            ) from refusal
    raise BadInput(
        f"{place} and folders below it vanish while they are listed. "
        "Needed: a place that stays as long as it is read. Give the folder above those that come and go."
    )


def _look(spark: SparkSession, place: Place) -> list[Found] | None:
    """Edge case: Hadoop's own walk asks `ls` for the permissions of each local file, and fails where one has
    vanished.
    """
    context: Any = spark.sparkContext
    root = context._jvm.org.apache.hadoop.fs.Path(place.root)
    system = root.getFileSystem(context._jsc.hadoopConfiguration())
    if not system.exists(root):
        if place.folders is None:
            raise _nothing_in(place)
        return None
    top = system.getFileStatus(root)
    if system.getUri().getScheme() == "file":
        return local_files(top.getPath().toUri().getPath())
    above = (top.getPath().getParent() if top.isFile() else top.getPath()).toUri().getPath().rstrip("/")
    files, left = [], [top.getPath()]
    while left:
        for status in system.listStatus(left.pop()):
            path = status.getPath()
            if status.isDirectory():
                left.append(path)
                continue
            name = path.toUri().getPath()[len(above) + 1 :]
            files.append(Found(name, path.toUri().toString(), path.toString(), status.getLen(), written_at(status)))
    return files


def _nothing_in(place: Place) -> BadInput:
    folders = place.folders or ()
    where = f" in its {len(folders)} folders from {masked(folders[0])} to {masked(folders[-1])}" if folders[1:] else ""
    return BadInput(
        f"{place} and nothing is there{where}. "
        f"Needed: a folder, a file, a URI or a source with the {place.origin}s' logs. Check it."
    )


_LOCAL = "^file:/+"
"""Spark and Hadoop write the beginning of a local URI in several ways."""

_NO_SUCH_PLACE = ("UnsupportedFileSystemException", "IllegalArgumentException", "AccessControlException")


_LOOKS = 3


def _not_read(entry: Found) -> str:
    name = entry.name
    if entry.why_not:
        return f"{name} ({entry.why_not})"
    if entry.archive and named(name):
        return f"{name} (cluster metadata within an archive: unpack it)"
    folder, _, file = name.rpartition("/")
    if GC_LOG_REGEX.fullmatch(file):
        return f"{name} (what a JVM says about its garbage)"
    if folder.rpartition("/")[2] == FOLDER:
        return f"{name} (beside the metadata log, whose segments and snapshots say it all)"
    return f"{name} (records of a partition, no lines)" if SEGMENT_REGEX.fullmatch(file) else name


def _is_chosen(entry: Found, glob: str | None, place: Place) -> bool:
    name = source_of(entry.name) if is_source(place.root) else entry.name
    return _is_log(name, glob) or _is_place_itself(entry.name, entry.path, place)


def _is_log(name: str, glob: str | None) -> bool:
    file = name.rpartition("/")[2]
    if file.startswith(("_", ".")) or SEGMENT_REGEX.fullmatch(file):
        return False
    if glob is None:
        return LOG_NAME_REGEX.fullmatch(file) is not None and not GC_LOG_REGEX.fullmatch(file)
    return any(fnmatchcase(file, g.strip()) or fnmatchcase(name, g.strip()) for g in glob.split(","))


def _is_place_itself(name: str, path: str, place: Place) -> bool:
    """A file that the user names is read whatever its name, but for one that holds no lines."""
    return "/" not in name and not SEGMENT_REGEX.fullmatch(name) and path.rstrip("/").endswith(place.root.rstrip("/"))
