"""Facts about log files, and the warnings that follow from them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.rows.structs import ClockStep, ClusterNaming, RepeatedHour
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.logs.file_order import FileSpan
from kafka_hindsight.logs.files import ListedFile
from kafka_hindsight.logs.pieces import NOWHERE, Piece
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.durations import LONG_AGO, NEVER
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import counted, verb

_OF_BROKERS = re.compile(
    rb"kafka\.(?:server|controller|cluster|log|zk|zookeeper|network|raft|image|metadata|storage|coordinator\.(?:group|"
    rb"transaction|share))\.[\w.]*[A-Z]"
)
_STATE_CHANGES = b"state.change.logger"


def is_of_broker(data: bytes) -> bool:
    """Whether a line is of a logger that only brokers have."""
    return _STATE_CHANGES in data or _OF_BROKERS.search(data) is not None


_SHOWN = 3


@dataclass(frozen=True)
class FileFacts:
    """Facts about one file. Its instants are null where no line has a head.

    `is_kafka_log`: a line is of one of Kafka's loggers; `is_broker_log`: of one that only brokers have. `timeless`
    counts records without an instant. `steps` are the steps of its clock, `clusters` the ids that its lines name.
    `misfit` says how far its lines fit a layout where none has a head. `repeated` are the hours of its local time that
    come twice.
    """

    file: ListedFile
    lines: int
    timeless: int
    first_at: datetime | None
    last_at: datetime | None
    steps: tuple[ClockStep, ...]
    is_kafka_log: bool
    is_broker_log: bool
    damage: str | None
    clusters: tuple[ClusterNaming, ...] = ()
    misfit: str | None = None
    repeated: tuple[RepeatedHour, ...] = ()

    @property
    def cluster_ids(self) -> frozenset[str]:
        """The ids that its lines name."""
        return frozenset(naming.cluster_id for naming in self.clusters)

    @property
    def span(self) -> FileSpan:
        """The instants it covers; none where no line has a head."""
        return FileSpan(self.file.source, self.first_at or NEVER, self.last_at or NEVER, self.timeless > 0)


@dataclass(frozen=True)
class Tail:
    """The last record of a file: where it begins, and its physical lines."""

    place: int
    lines: int


@dataclass(frozen=True)
class Survey:
    """Pieces and facts by file, for the files that were read to the size they had when they were listed."""

    pieces: Mapping[int, tuple[Piece, ...]]
    facts: Mapping[int, FileFacts]

    @property
    def tails(self) -> dict[int, Tail]:
        """The last record of each file that has records."""
        tails = {}
        for n, pieces in self.pieces.items():
            holding = [i for i, p in enumerate(pieces) if p.first != NOWHERE]
            if holding:
                last, after = pieces[holding[-1]], pieces[holding[-1] + 1 :]
                tails[n] = Tail(last.last, last.lines_of_last + sum(p.lines for p in after))
        return tails

    def joined(self, other: Survey) -> Survey:
        """This survey and another one together."""
        return Survey({**self.pieces, **other.pieces}, {**self.facts, **other.facts})


def read_as(file: ListedFile) -> str:
    """A hash of everything that a file's facts depend on. Where it changes, the file is read again."""
    return row_id(version_of(READING), file.pattern) if file.pattern else version_of(READING)


def warnings_about(files: Iterable[FileFacts]) -> list[str]:
    """Warnings about files, one sentence each."""
    facts = sorted(files, key=lambda f: f.file.name)
    return [
        *(broken_off(f) for f in facts if f.damage),
        *(
            f"No line of {f.file.name} begins like a log line of a known layout: its {f.lines} lines are only counted."
            + (f" {f.misfit}" if f.misfit else "")
            + f" `{_doctor(f.file)}` shows how far they can be read."
            for f in facts
            if f.lines and not f.first_at
        ),
    ]


def broken_off(fact: FileFacts) -> str:
    """The warning about a damaged file."""
    return (
        f"{fact.file.name} cannot be unpacked to its end: {fact.damage}. The {fact.lines} lines before the break are "
        "kept. Needed: the whole file. Copy it again from where it was written, then audit again."
    )


def newness(fact: FileFacts) -> tuple[datetime, datetime, datetime]:
    """Give the order of files of one log: by their records, and by their age where no record has an instant."""
    return fact.first_at or LONG_AGO, fact.last_at or LONG_AGO, fact.file.modified_at


def are_of_clients(facts: Iterable[FileFacts]) -> bool:
    """Whether files that were passed as brokers' logs are all of clients."""
    files = [f for f in facts if f.is_kafka_log and f.first_at]
    return bool(files) and not any(f.is_broker_log or f.file.origin == "client" for f in files)


def refuse_foreign(facts: Iterable[FileFacts]) -> None:
    """Refuse input without a line of Kafka's in the brokers' files, or in the clients' where there are no others.

    Raises:
        BadInput: There is no such line.
    """
    every = list(facts)
    brokers = [f for f in every if f.file.origin == "broker"] or every
    if any(f.is_kafka_log and f.first_at for f in brokers):
        return
    lines = sum(f.lines for f in brokers)
    # What the lines are instead: each sentence once, with one file.
    misfits = {f.misfit: f.file.name for f in brokers if f.misfit}
    instead = "".join(f"{name}: {misfit} " for misfit, name in [*misfits.items()][:_SHOWN])
    some = ", ".join(f.file.name for f in brokers[:5])
    client, writer = ("CLIENT_", "a group's client") if brokers[0].file.origin == "client" else ("", "a Kafka broker")
    files = f"{counted(len(brokers), 'file')} of {client}LOGS ({some})"
    has = verb(len(brokers), "has", "have")
    what = f"None of the {counted(lines, 'line')} in the {files} is one" if lines > 1 else f"The {files} {has} no line"
    raise BadInput(
        f"{what} that {writer} wrote. {instead}Needed: its lines in a layout of docs/shipping_logs.md, or in one that "
        f"{client}PATTERN gives. Check the path. `{_doctor(brokers[0].file)}` shows how far they can be read."
    )


def _doctor(file: ListedFile) -> str:
    """The command that shows how the lines of a file are read, and proposes a pattern if it finds one."""
    option = "--client-logs" if file.origin == "client" else "--logs"
    return f"hindsight doctor {option} {shlex.quote(masked(file.archive.uri if file.archive else file.uri))}"
