"""The files that a run reads, wherever they lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.kafka_records.metadata_log import FOLDER, file_name
from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX, source_of
from kafka_hindsight.lake.landing import is_there
from kafka_hindsight.logs.contents import PEEK, why_no_log, why_not_of
from kafka_hindsight.logs.file_bytes import Bytes, FilePart, InMemory, is_packed, unpacked
from kafka_hindsight.logs.files import ListedFile, Listing, LogPlace, Members
from kafka_hindsight.logs.found_files import Archive, Found, Judge, files_at, is_archive, walk
from kafka_hindsight.settings.config import is_source, masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.instants import of_millis

if TYPE_CHECKING:
    from kafka_hindsight.settings.models import Settings

NOT_IN_GLOB = "GLOB does not name it"
HIDDEN = "hidden: its name begins with a dot or an underscore"

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
        BadInput: A place is missing, empty, or has no log; one sentence for each.
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
    judge = partial(why_no_member, pattern=place.pattern, glob=glob)
    if engine:
        entries = _with_archive_files(engine, entries, archive_files, judge)
    if not entries and place.may_be_empty:
        return Listing((), (), (), (_empty(place),))
    if not entries:
        raise BadInput(
            f"{place} and that folder is empty. "
            f"Needed: the {place.origin}s' log files. Check the path, and that the logs were copied there."
        )
    metadata = tuple(
        _file(entry, place) for entry in entries if _is_metadata(entry) and not entry.why_not and not entry.archive
    )
    reasons = {entry: why_not_read(entry, place, glob) for entry in entries}
    files = tuple(
        replace(_file(entry, place), source=source_of(entry.name), pattern=place.pattern)
        for entry, why_not in reasons.items()
        if not why_not
    )
    if not files:
        raise _no_log(place, reasons, glob)
    names = {f.name for f in (*files, *metadata)}
    not_read = (f"{entry.name} ({why_not})" for entry, why_not in reasons.items() if entry.name not in names)
    return Listing(files, tuple(not_read), metadata)


def why_not_read(entry: Found, place: LogPlace, glob: str | None) -> str:
    """Why an entry of a place is not read as a log; empty if it is.

    GLOB chooses by name. Without it a log is what is named like one, and what has lines of Kafka's by its first bytes.
    """
    name = source_of(entry.name) if is_source(place.root) else entry.name
    file, kind = name.rpartition("/")[2], _other_kind(entry)
    if entry.why_not or _is_metadata(entry) or SEGMENT_REGEX.fullmatch(file):
        return entry.why_not or kind
    if is_archive(entry.name) or _is_place_itself(entry, place):
        return ""
    if file.startswith(("_", ".")):
        return HIDDEN
    if glob is not None:
        return "" if _is_in(glob, name) else kind or NOT_IN_GLOB
    if kind or entry.archive or LOG_NAME_REGEX.fullmatch(file):
        return kind  # the files of an archive were judged while it was listed
    return why_no_log(entry, place.pattern)


def _with_archive_files(engine: Engine, entries: Sequence[Found], archive_files: Members, judge: Judge) -> list[Found]:
    """Replace archives by their files, in the order in which they are read."""
    archives = [
        entry for entry in entries if is_archive(entry.name) and not entry.why_not and entry not in archive_files
    ]
    if archives:
        archive_files |= members(engine, archives, judge)
    return [file for entry in entries for file in archive_files.get(entry, [entry])]


def _no_log(place: LogPlace, reasons: Mapping[Found, str], glob: str | None) -> BadInput:
    some = "; ".join(f"{entry.name}: {why_not}" for entry, why_not in [*reasons.items()][:5])
    needed = f"files that GLOB names ({glob})" if glob else f"log files of the {place.origin}s"
    return BadInput(f"{place} and no file there is a log ({some}). Needed: {needed}. Check the path.")


def _file(entry: Found, place: LogPlace) -> ListedFile:
    """An entry as a file whose source is its folder."""
    folder = entry.name.rpartition("/")[0]
    return ListedFile(
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


def _is_metadata(entry: Found) -> bool:
    return file_name(entry.name) is not None


def _other_kind(entry: Found) -> str:
    """The sort of a file by its name, if it is known and not a log; else empty."""
    folder, _, file = entry.name.rpartition("/")
    if _is_metadata(entry):
        return "cluster metadata within an archive: unpack it" if entry.archive else "cluster metadata"
    if GC_LOG_REGEX.fullmatch(file):
        return "a log of the JVM's garbage collector"
    if folder.rpartition("/")[2] == FOLDER:
        return "beside the metadata log: its segments and snapshots are enough"
    return "a partition's records, not log lines" if SEGMENT_REGEX.fullmatch(file) else ""


def _is_in(glob: str, name: str) -> bool:
    """Whether GLOB names a file."""
    file = name.rpartition("/")[2]
    return any(fnmatchcase(file, g.strip()) or fnmatchcase(name, g.strip()) for g in glob.split(","))


def _is_place_itself(entry: Found, place: LogPlace) -> bool:
    """Whether a file is the place itself: it is read whatever its name."""
    return "/" not in entry.name and entry.uri.rstrip("/").endswith(place.root.rstrip("/"))


_EMPTY = "an archive that holds no file"


def members(engine: Engine, archives: Sequence[Found], judge: Judge) -> Mapping[Found, list[Found]]:
    """The files of archives, each with the archive's name as its folder, in the order of the archive.

    An archive that breaks off is an entry itself, with the reason. If a name is there twice, the last one counts, as it
    does for tar.
    """
    units = [FilePart(archive.uri, (0, archive.size), {"archive": archive, "judge": judge}) for archive in archives]
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
    for name, begin, size, millis, why_not in walk(content, arguments["judge"]):
        if not name:
            yield archive, archive._replace(why_not=why_not)
            continue
        size = size if is_packed(archive.uri) else min(size, archive.size - begin)
        place = Archive(archive.uri, archive.size, begin)
        full_name, uri = f"{archive.name}/{name}", f"{archive.uri}!/{name}"
        yield archive, Found(full_name, uri, size, of_millis(millis), why_not, place)


def why_no_member(name: str, first_bytes: Callable[[], bytes], pattern: str | None, glob: str | None) -> str:
    """Why a file of an archive is not read, by its first bytes. Its name is judged where it is chosen."""
    if glob is not None or LOG_NAME_REGEX.fullmatch(name.rpartition("/")[2]):
        return ""
    data = first_bytes()
    return why_not_of(unpacked(InMemory(data), name, len(data)).between(0, PEEK), pattern)
