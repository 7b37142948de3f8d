"""How far the newest file of each log was read, and which files were cut or replaced before the rest of them was read.

A log is written at its end. So as long as a file has the bytes that were read, under whatever name, nothing is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.intake.file_register import begins_with
from kafka_hindsight.knowledge.layouts import folder_of, is_of_console
from kafka_hindsight.lake import landing
from kafka_hindsight.logs.file_facts import FileFacts, newness
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.settings.retention import LATE_DAYS
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import counted

_AT_ONCE = 16
"""Files that are asked at once: a store takes a moment to answer."""

FILES = "files"
"""The folder of `landing` with a file for each cluster."""

Loss = Mapping[str, Any]
"""Lines that are lost: log, sentence, since and until, as the losses of a source; found_at is that of the run."""


@dataclass(frozen=True)
class ReadEnd:
    """The state of a file after it was read: its size and the fingerprint of its bytes.

    Attributes:
        place: The hash of the folder whose files a run reads.
        name: The name as seen from there.
        source: The log.
        size: The bytes that were read.
        fingerprint: The hash of those, as the register has it.
        waiting_lines: The lines of the last record, if it waits for the next run.
        first_at: The first instant of its records; None if none has one.
        last_at: The last one.
        read_at: The instant of the run.
    """

    place: str
    name: str
    source: str
    size: int
    fingerprint: str
    waiting_lines: int
    first_at: str | None
    last_at: str | None
    read_at: str

    @property
    def key(self) -> tuple[str, str]:
        """The file, whatever it holds."""
        return self.place, self.name


@dataclass(frozen=True)
class FileStates:
    """The files of a cluster's logs, as JSON in the lake: their ends, and the losses of the last weeks."""

    ends: Sequence[ReadEnd] = ()
    losses: Sequence[Loss] = field(default_factory=tuple)


def states_of(lake: str, cluster: str) -> FileStates:
    """The states that the last run left."""
    value = landing.read_json(_place(lake, cluster)) or {"ends": [], "losses": []}
    return FileStates([ReadEnd(**end) for end in value["ends"]], value["losses"])


def clusters_with_states(lake: str) -> list[str]:
    """The clusters of which a run left states, by the names of their files: a name of other characters is changed."""
    return sorted(name.removesuffix(".json") for name in landing.names_in(landing.landing_folder(lake, FILES)))


def keep_states(lake: str, cluster: str, states: FileStates) -> None:
    """Write states in place of those before."""
    value = {"ends": [asdict(end) for end in states.ends], "losses": [*states.losses]}
    landing.write_json(_place(lake, cluster), value)


def _place(lake: str, cluster: str) -> str:
    return f"{landing.landing_folder(lake, FILES)}/{landing.safe_name(cluster)}.json"


@dataclass(frozen=True)
class FilesOfRun:
    """The files that a run has read.

    Attributes:
        facts: Facts about those that it has taken.
        fingerprints: Their hashes.
        held_back: The lines of last records that wait, by name.
        run_at: The instant of the run.
    """

    facts: Sequence[FileFacts]
    fingerprints: Mapping[ListedFile, str]
    held_back: Mapping[str, int]
    run_at: datetime

    def ends(self) -> Iterator[ReadEnd]:
        """The newest file of each log, which may grow, and those whose last record waits.

        What the console of a process repeats has no end: it begins again with each start, and the logs beside it stay.
        """
        plain = [fact for fact in self.facts if _is_plain(fact.file)]
        folders = {folder_of(fact.file.source) for fact in self.facts if not is_of_console(fact.file.source)}
        for source, own in sorted(grouped(plain, lambda fact: fact.file.source).items()):
            if is_of_console(source) and folder_of(source) in folders:
                continue
            newest = max(own, key=newness)
            yield from (self._end(fact) for fact in own if fact is newest or fact.file.name in self.held_back)

    def _end(self, fact: FileFacts) -> ReadEnd:
        file = fact.file
        return ReadEnd(
            place=place_of(file),
            name=file.name,
            source=file.source,
            size=file.size,
            fingerprint=self.fingerprints[file],
            waiting_lines=self.held_back.get(file.name, 0),
            first_at=fact.first_at.isoformat() if fact.first_at else None,
            last_at=fact.last_at.isoformat() if fact.last_at else None,
            read_at=self.run_at.isoformat(),
        )

    def cut(self, ends: Iterable[ReadEnd], log_files: Collection[ListedFile]) -> list[ReadEnd]:
        """The ends of earlier runs after which lines are lost: no file of the log has what was read and followed.

        A file that is gone counts where its last record waited. `log_files` are those that are there.
        """
        names, places = {(place_of(file), file.name) for file in log_files}, {place_of(file) for file in log_files}
        files = grouped(log_files, lambda file: file.source)
        facts = grouped(self.facts, lambda fact: fact.file.source)
        candidates = [
            end
            for end in ends
            if end.source in facts and (end.key in names or (end.place in places and end.waiting_lines))
        ]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            are_there = pool.map(lambda end: _has_bytes(end, files.get(end.source, ())), candidates)
            return [
                end
                for end, is_there in zip(candidates, are_there, strict=True)
                if not is_there and not _goes_on(end, facts[end.source])
            ]

    def loss(self, end: ReadEnd) -> Loss:
        """The loss after an end. Its lines were written before the first one of the file that has the name now."""
        now = next((fact for fact in self.facts if (place_of(fact.file), fact.file.name) == end.key), None)
        since = end.last_at or end.read_at
        first_at = now.first_at.isoformat() if now and now.first_at else None
        until = self.run_at.isoformat()
        return {
            "log": end.source,
            "sentence": _sentence(end, now),
            "since": since,
            "until": first_at if first_at and since < first_at < until else max(since, until),
            "found_at": until,
        }

    def after(self, before: FileStates, losses: Iterable[Loss]) -> FileStates:
        """The states after this run. Those of logs that it has not taken, and of other folders, stay for a while."""
        own_logs = {(place_of(fact.file), fact.file.source) for fact in self.facts}
        oldest = (self.run_at - timedelta(days=2 * LATE_DAYS)).isoformat()
        others = [end for end in before.ends if (end.place, end.source) not in own_logs and end.read_at >= oldest]
        recent = [loss for loss in before.losses if loss["found_at"] >= oldest]
        return FileStates([*others, *self.ends()], [*recent, *losses])


def place_of(file: ListedFile) -> str:
    """The hash of the folder in which a run finds a file: the lake holds no path of a machine."""
    return row_id(file.uri.removesuffix(file.name))


def _has_bytes(end: ReadEnd, files: Iterable[ListedFile]) -> bool:
    """Whether a file has the bytes that were read, under whatever name, or cannot be opened."""
    return any(
        file.size >= end.size and begins_with(file, end.size, end.fingerprint) is not False
        for file in sorted(files, key=lambda file: file.name != end.name)
        if _is_plain(file)
    )


def _goes_on(end: ReadEnd, own: Iterable[FileFacts]) -> bool:
    """Whether another file of the log has its last record, by its instants, and so what followed.

    A packed file, and one that begins elsewhere, such as a new export, have other bytes.
    """
    return any(
        _reaches_over(fact, end.last_at) and not fact.damage
        for fact in own
        if not _is_plain(fact.file) or (fact.first_at and fact.first_at.isoformat() != end.first_at)
    )


def _is_plain(file: ListedFile) -> bool:
    return not file.is_packed and file.archive is None


def _reaches_over(fact: FileFacts, at: str | None) -> bool:
    if at is None or fact.first_at is None or fact.last_at is None:
        return False
    return fact.first_at <= datetime.fromisoformat(at) <= fact.last_at


def _sentence(end: ReadEnd, now: FileFacts | None) -> str:
    at = f"{datetime.fromisoformat(end.read_at):%F %T} UTC"
    reading = f"{end.name} was read to {counted(end.size, 'byte')} at {at}"
    if now is None:
        what = f"{reading}, and is gone."
    elif now.file.size < end.size:
        what = f"{reading}, and shrank to {now.file.size:,}."
    else:
        what = f"{reading}, and was replaced, or cut and written again."
    record = f", with {counted(end.waiting_lines, 'line')} of its last record," if end.waiting_lines else ""
    return (
        f"{what} No other file of this log holds these bytes. What was added to it after that reading{record} is lost."
    )
