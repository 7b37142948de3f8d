"""The files that a run reads, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.kafka_records.metadata_log import FOLDER, file_name
from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX, source_of
from kafka_hindsight.lake.landing import is_there
from kafka_hindsight.logs.file_bytes import Bytes, FilePart, is_packed
from kafka_hindsight.logs.files import Listing, LogFile, LogPlace, Members
from kafka_hindsight.logs.found_files import Archive, Found, files_at, is_archive, walk
from kafka_hindsight.settings.config import is_source, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import of_millis

if TYPE_CHECKING:
    from kafka_hindsight.settings.models import Settings

NO_LOG = "not named like a log; if it has lines of Kafka, name it in GLOB"
"""Why most files are not read."""

_LOOKS = 3


def places_of(settings: Settings) -> list[LogPlace]:
    """The places of a run's logs. One that is named twice is one of clients."""
    places = [LogPlace(settings.logs, "broker", settings.logs_tz, "LOGS", settings.pattern)]
    if settings.client_logs is not None:
        clients = LogPlace(settings.client_logs, "client", settings.client_tz, "CLIENT_LOGS", settings.client_pattern)
        places = [place for place in places if place.root != clients.root]
        places.append(replace(clients, may_be_empty=bool(places)))
    return places


def list_places(
    engine: Engine | None, places: Sequence[LogPlace], glob: str | None, archive_files: Members | None = None
) -> Listing:
    """List every file of these places. A file in two of them belongs to the last.

    `archive_files` has the files of archives that were listed before. New archives are added: listing one unpacks it.
    Without an engine none is unpacked, and each counts as a log.

    Raises:
        BadInput: A place is missing, empty, or has no log by its name; one sentence for each.
    """
    problems: list[str] = []
    listings: list[Listing] = []
    for place in places:
        try:
            listings.append(_list(engine, place, glob, {} if archive_files is None else archive_files))
        except BadInput as problem:
            problems += problem.sentences
    if problems:
        raise BadInput(*problems)
    listing = Listing(
        tuple({f.uri: f for listing in listings for f in listing.files}.values()),
        tuple(name for listing in listings for name in listing.not_read),
        tuple({f.uri: f for listing in listings for f in listing.metadata}.values()),
        tuple(sentence for listing in listings for sentence in listing.warnings),
    )
    origins = {f.origin for f in listing.files}
    shared = [place for place, own in zip(places, listings, strict=True) if own.files and place.origin not in origins]
    if problems := [*map(_shared, shared)]:
        raise BadInput(*problems)
    return listing


def _shared(place: LogPlace) -> str:
    return (
        f"{place} and CLIENT_LOGS names all of its files as well. Needed: the brokers' logs in one place and the "
        "clients' in another. Give each its own folder."
    )


def _empty(place: LogPlace) -> str:
    return (
        f"{place} and that folder is empty. A slow poll, a pause or an error inside a client shows in its own log "
        "alone, so fewer causes of rebalances are certain."
    )


def _list(engine: Engine | None, place: LogPlace, glob: str | None, archive_files: Members) -> Listing:
    """List every file below a place, in order of its name. Raises: BadInput, see `list_places`."""
    entries = sorted(_entries(place))
    if engine:
        entries = _with_archive_files(engine, entries, archive_files)
    readable = [entry for entry in entries if not entry.why_not]
    if not entries and place.may_be_empty:
        return Listing((), (), (), (_empty(place),))
    if not entries:
        raise BadInput(
            f"{place} and that folder is empty. "
            f"Needed: the {place.origin}s' log files. Check the path, and that the logs were copied there."
        )
    files = tuple(
        replace(_file(entry, place), source=source_of(entry.name), pattern=place.pattern)
        for entry in readable
        if _is_log(source_of(entry.name) if is_source(place.root) else entry.name, glob)
        or _is_place_itself(entry.name, entry.uri, place)
        or is_archive(entry.name)
    )
    metadata = tuple(_file(entry, place) for entry in readable if file_name(entry.name) and not entry.archive)
    if not files:
        raise _no_log(place, entries, glob)
    names = {f.name for f in (*files, *metadata)}
    return Listing(files, tuple(_not_read(entry) for entry in entries if entry.name not in names), metadata)


def _with_archive_files(engine: Engine, entries: Sequence[Found], archive_files: Members) -> list[Found]:
    """Replace archives by their files, in the order in which they are read."""
    archives = [
        entry for entry in entries if is_archive(entry.name) and not entry.why_not and entry not in archive_files
    ]
    if archives:
        archive_files |= members(engine, archives)
    return [file for entry in entries for file in archive_files.get(entry, [entry])]


def _no_log(place: LogPlace, entries: Sequence[Found], glob: str | None) -> BadInput:
    some = ", ".join(_not_read(entry, why="") for entry in entries[:5])
    return BadInput(
        f"{place} and no file there is a log by its name ({some}). "
        f"Needed: {glob or '*.log, *.log.*, *.gz or kafka*.out'}. Check the path, or name the files in GLOB."
    )


def _file(entry: Found, place: LogPlace) -> LogFile:
    """An entry as a file whose source is its folder."""
    folder = entry.name.rpartition("/")[0]
    return LogFile(
        entry.uri,
        entry.name,
        entry.size,
        entry.modified_at,
        folder,
        place.origin,
        place.zone,
        archive=entry.archive,
    )


def _entries(place: LogPlace) -> list[Found]:
    """Everything in the folders of a place. Raises: BadInput if none of the folders exists."""
    by_folder = [_walk(place, folder) for folder in place.folders or (place.root,)]
    existing = [entries for entries in by_folder if entries is not None]
    if not existing:
        raise _nothing_in(place)
    return [entry for entries in existing for entry in entries]


def _walk(place: LogPlace, folder: str) -> list[Found] | None:
    """Everything below a folder; None if it is not there. If a folder below it vanishes meanwhile, look again."""
    for _ in range(_LOOKS):
        try:
            return files_at(folder) if is_there(folder) else None
        except BadInput as refusal:
            raise BadInput(*(f"{place} and {sentence}" for sentence in refusal.sentences)) from refusal
        except FileNotFoundError:
            continue
        except OSError as refusal:
            raise BadInput(
                f"{place} and {masked(refusal.filename or folder)} cannot be listed: {masked(str(refusal))}. Needed:"
                " a place that this machine reaches, and the right to read all that lies there. Give it, or name"
                " another folder."
            ) from refusal
    raise BadInput(
        f"{place} and folders below it vanish while they are listed. "
        "Needed: a place that stays as long as it is read. Give the folder above those that come and go."
    )


def _nothing_in(place: LogPlace) -> BadInput:
    folders = place.folders or ()
    where = f" in its {len(folders)} folders from {masked(folders[0])} to {masked(folders[-1])}" if folders[1:] else ""
    return BadInput(
        f"{place} and nothing is there{where}. "
        f"Needed: a folder, a file, a URI or a source with the {place.origin}s' logs. Check it."
    )


def _not_read(entry: Found, why: str = NO_LOG) -> str:
    """The name of an entry, with the reason why it is not read in brackets; `why` where that is its name."""
    folder, _, file = entry.name.rpartition("/")
    if entry.why_not:
        why = entry.why_not
    elif entry.archive and file_name(entry.name):
        why = "cluster metadata within an archive: unpack it"
    elif GC_LOG_REGEX.fullmatch(file):
        why = "a log of the JVM's garbage collector"
    elif folder.rpartition("/")[2] == FOLDER:
        why = "beside the metadata log: its segments and snapshots are enough"
    elif SEGMENT_REGEX.fullmatch(file):
        why = "a partition's records, not log lines"
    return f"{entry.name} ({why})" if why else entry.name


def _is_log(name: str, glob: str | None) -> bool:
    file = name.rpartition("/")[2]
    if file.startswith(("_", ".")) or SEGMENT_REGEX.fullmatch(file):
        return False
    if glob is None:
        return LOG_NAME_REGEX.fullmatch(file) is not None and not GC_LOG_REGEX.fullmatch(file)
    return any(fnmatchcase(file, g.strip()) or fnmatchcase(name, g.strip()) for g in glob.split(","))


def _is_place_itself(name: str, uri: str, place: LogPlace) -> bool:
    """Whether a file is the place itself: it is read whatever its name, unless it is a segment."""
    return "/" not in name and not SEGMENT_REGEX.fullmatch(name) and uri.rstrip("/").endswith(place.root.rstrip("/"))


_EMPTY = "an archive that holds no file"


def members(engine: Engine, archives: Sequence[Found]) -> Mapping[Found, list[Found]]:
    """The files of archives, each with the archive's name as its folder, in the order of the archive.

    An archive that breaks off is an entry itself, with the reason. If a name is there twice, the last one counts, as it
    does for tar.
    """
    units = [FilePart(archive.uri, (0, archive.size), {"archive": archive}) for archive in archives]
    by_archive: dict[Found, dict[str, Found]] = {archive: {} for archive in archives}
    for archive, entry in engine.spread(units, entries_in):
        by_archive[archive].pop(entry.name, None)
        by_archive[archive][entry.name] = entry
    return {
        archive: [*entries.values()] or [archive._replace(why_not=_EMPTY)] for archive, entries in by_archive.items()
    }


def entries_in(arguments: Mapping[str, Any], content: Bytes, _: Any) -> Iterator[tuple[Found, Found]]:
    """The archive, and each file in it."""
    archive = arguments["archive"]
    for name, begin, size, millis, why_not in walk(content):
        if not name:
            yield archive, archive._replace(why_not=why_not)
            continue
        size = size if is_packed(archive.uri) else min(size, archive.size - begin)
        place = Archive(archive.uri, archive.size, begin)
        full_name, uri = f"{archive.name}/{name}", f"{archive.uri}!/{name}"
        yield archive, Found(full_name, uri, size, of_millis(millis), why_not, place)
