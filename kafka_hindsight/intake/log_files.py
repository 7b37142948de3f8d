"""The files that are read, wherever they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.archive_members import members
from kafka_hindsight.knowledge.layouts import GC_LOG_REGEX, LOG_NAME_REGEX, SEGMENT_REGEX, source_of
from kafka_hindsight.knowledge.metadata_log import FOLDER, named
from kafka_hindsight.lake.landing import is_there
from kafka_hindsight.logs.archives import is_archive
from kafka_hindsight.logs.files import Listing, LogFile, Members, Place
from kafka_hindsight.logs.found_files import Found, files_at
from kafka_hindsight.settings.config import is_source, masked
from kafka_hindsight.shared.exits import BadInput


def list_places(engine: Engine, places: Sequence[Place], glob: str | None, known: Members | None = None) -> Listing:
    """Every file of these places. A file that two of them hold belongs to the last.

    Takes: `known`, what archives were found to hold, which grows: to list a packed one is to unpack it.
    Raises: BadInput with a sentence for each place that is missing, empty, or holds no log by its name.
    """
    problems: list[str] = []
    listings: list[Listing] = []
    for place in places:
        try:
            listings.append(_list(engine, place, glob, {} if known is None else known))
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


def _list(engine: Engine, place: Place, glob: str | None, known: Members) -> Listing:
    """Every file below a place, in order of its name.

    Raises: BadInput where the place is missing, is empty, or holds no file that is a log by its name.
    """
    lies_there = _unfolded(engine, sorted(_everything(place)), known)
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


def _unfolded(engine: Engine, found: Sequence[Found], known: Members) -> list[Found]:
    """What lies there, with what archives hold instead of these, in the order in which it is read."""
    archives = [entry for entry in found if is_archive(entry.name) and not entry.why_not and entry not in known]
    if archives:
        known |= members(engine, archives)
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
        entry.name,
        entry.size,
        entry.modified_at,
        folder,
        place.origin,
        place.zone,
        archive=entry.archive,
    )


def _everything(place: Place) -> list[Found]:
    """Everything that lies in the folders of a place. Raises: BadInput where nothing is in any of them."""
    found = [_walk(place, folder) for folder in place.folders or (place.root,)]
    there = [entries for entries in found if entries is not None]
    if not there:
        raise _nothing_in(place)
    return [entry for entries in there for entry in entries]


def _walk(place: Place, folder: str) -> list[Found] | None:
    """Everything below a folder; None where it is not there.

    Edge case: a folder below it that vanishes meanwhile makes us look again.
    """
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


def _nothing_in(place: Place) -> BadInput:
    folders = place.folders or ()
    where = f" in its {len(folders)} folders from {masked(folders[0])} to {masked(folders[-1])}" if folders[1:] else ""
    return BadInput(
        f"{place} and nothing is there{where}. "
        f"Needed: a folder, a file, a URI or a source with the {place.origin}s' logs. Check it."
    )


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
    return _is_log(name, glob) or _is_place_itself(entry.name, entry.uri, place)


def _is_log(name: str, glob: str | None) -> bool:
    file = name.rpartition("/")[2]
    if file.startswith(("_", ".")) or SEGMENT_REGEX.fullmatch(file):
        return False
    if glob is None:
        return LOG_NAME_REGEX.fullmatch(file) is not None and not GC_LOG_REGEX.fullmatch(file)
    return any(fnmatchcase(file, g.strip()) or fnmatchcase(name, g.strip()) for g in glob.split(","))


def _is_place_itself(name: str, uri: str, place: Place) -> bool:
    """A file that the user names is read whatever its name, but for one that holds no lines."""
    return "/" not in name and not SEGMENT_REGEX.fullmatch(name) and uri.rstrip("/").endswith(place.root.rstrip("/"))
