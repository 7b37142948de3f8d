"""One pass over log files: what the ledger does not know is read, and what changed meanwhile is set aside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake import file_ledger as ledger
from kafka_hindsight.intake.file_ledger import Ledger
from kafka_hindsight.intake.file_marks import fingerprints
from kafka_hindsight.intake.record_reader import Reading, Records, records_of
from kafka_hindsight.intake.survey import changed_sources, survey
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.clocks import comes_again
from kafka_hindsight.logs.facts import FileFacts, Survey, Tail
from kafka_hindsight.logs.file_order import OUT_OF_ORDER, Span, Turn, copies, in_turn, is_young, sharing
from kafka_hindsight.logs.files import Listing, LogFile
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, NEVER, REPEATED


@dataclass(frozen=True)
class Waiting:
    """What of a pass is left for a later run: whole files, and the last records of others."""

    files: frozenset[int] = frozenset()
    tails: Mapping[int, Tail] = field(default_factory=dict)

    def __contains__(self, file: int) -> bool:
        return file in self.files or file in self.tails


NOTHING = Waiting()

_GOES_ON = timedelta(minutes=15)
"""A log that was written so long ago goes on, and did not rest for an hour more."""

COPIES = "landing/unwrapped"
"""Where the lines of wrapped files lie in the lake, out of their envelopes, from one pass to the next."""


@dataclass(frozen=True)
class Pass:
    """What one pass found: facts of all files of the settled sources, and the pieces of those that were read.

    A source is unsettled where one of its files vanished, shrank or was replaced before it was read to its end: what
    was read of it may be of two files. `still` are the files that were not written to meanwhile.
    """

    facts: Mapping[int, FileFacts]
    survey: Survey
    ledger: Ledger
    marks: Mapping[LogFile, str]
    unsettled: frozenset[str]
    still: frozenset[int]

    @property
    def cluster_ids(self) -> dict[str, frozenset[str]]:
        """The ids of clusters that the files name, by who wrote them."""
        ids: dict[str, frozenset[str]] = {"broker": frozenset(), "client": frozenset()}
        for fact in self.facts.values():
            ids[fact.file.origin] |= fact.cluster_ids
        return ids

    @property
    def names(self) -> frozenset[str]:
        """The names under which the ledger has some of the files."""
        files = {fact.file for fact in self.facts.values()}
        return frozenset(name for file, name in self.ledger.clusters.items() if file in files)

    @property
    def fresh(self) -> dict[int, FileFacts]:
        """Those files that the ledger does not know."""
        return {n: fact for n, fact in self.facts.items() if fact.file not in self.ledger.known}

    def without(self, source: str) -> Pass:
        """What is left where one more source is unsettled."""
        facts = {n: fact for n, fact in self.facts.items() if fact.file.source != source}
        return replace(self, facts=facts, unsettled=self.unsettled | {source}, still=self.still & facts.keys())

    def waiting(self, run_at: datetime) -> Waiting:
        """What may still be written: the last records of young files that no record follows, and copies."""
        young = {n for n, fact in self.facts.items() if is_young(fact.file.modified_at, run_at)}
        copied = copies(_spans(self.facts), young)
        turns = self.turns(run_at, copied)
        tails = {n: tail for n, tail in self.survey.tails.items() if n in young and n in turns}
        return Waiting(
            files=frozenset(copied),
            tails={n: tail for n, tail in tails.items() if self.facts[n].damage or not turns[n].is_followed},
        )

    def turns(self, run_at: datetime, without: Collection[int]) -> dict[int, Turn]:
        """How the files follow one another. The newest of a source, while it is young, ends nowhere yet.

        Edge case: a copy of old files is written in any order, so records say which file is the newest.
        """
        taken = {n: fact for n, fact in self.facts.items() if n not in without}
        newest = {fact.file.source: n for n, fact in sorted(taken.items(), key=lambda f: _newness(f[1]))}
        growing = {n for n in newest.values() if is_young(taken[n].file.modified_at, run_at)}
        return in_turn({n: replace(f.span, last_at=NEVER) if n in growing else f.span for n, f in taken.items()})

    def records(self, engine: Engine, store: Store, cluster: str, run_at: datetime, waiting: Waiting) -> Records | None:
        """What reads the records of the files that the ledger does not know, without those that wait or that the lake
        holds; None where there is nothing to be read.
        """
        turns = self.turns(run_at, waiting.files)
        files = {n: self.facts[n].file for n in turns if n in self.survey.pieces}
        new = [n for n in files if files[n] not in self.ledger.known and self.survey.pieces[n]]
        ends = {n: tail.place for n, tail in waiting.tails.items()}
        pieces = {n: self.survey.pieces[n] for n in files}
        return records_of(
            engine, store, cluster, Reading(files, pieces, turns, new, ends, f"{store.lake}/{COPIES}"), run_at
        )


def scan_files(
    engine: Engine, store: Store, listed: Sequence[LogFile], look: Callable[[], Listing], cluster: str | None
) -> Pass:
    """Reads what the ledger does not know, with those known files that share an instant with it.

    Takes: the files, and what lists them again when they were read.
    """
    files = dict(enumerate(listed))
    book = ledger.consult(store, files.values(), cluster)
    known = {n: book.known[f] for n, f in files.items() if f in book.known}
    gone = book.vanished(listed)
    fresh = {n: f for n, f in files.items() if n not in known and f.source not in gone}
    copies = f"{store.lake}/{COPIES}"
    landing.remove(copies)
    found = survey(engine, fresh, copies)
    near = {n: files[n] for n in sorted(sharing(_spans(found.facts), _spans(known)))}
    marks = {**book.marks, **fingerprints(near.values())}
    found = found.joined(survey(engine, near, copies)) if near else found
    found = _in_their_hours(engine, found, files, known, copies)
    wanted = {**fresh, **near}
    unread = {f.source for n, f in wanted.items() if n not in found.facts}
    changed = changed_sources(wanted.values(), marks)
    now = {f.uri: f for f in look().files}
    moved = gone | unread | changed | _stirred(listed, now, book.known)
    settled = {n: fact for n, fact in {**known, **found.facts}.items() if fact.file.source not in moved}
    return Pass(settled, found, book, marks, frozenset(moved), _unwritten(settled, now))


def _in_their_hours(
    engine: Engine, found: Survey, files: Mapping[int, LogFile], known: Mapping[int, FileFacts], copies: str
) -> Survey:
    """The files, each that begins in the second time of an hour that comes twice read so."""
    while True:
        facts = {**known, **found.facts}
        hours = {n: _is_second(fact, facts.values()) for n, fact in found.facts.items() if fact.open_hour}
        again = {n: facts[n].first_at or LONG_AGO for n, is_second in hours.items() if is_second}
        first = {n: facts[n].without_open_hour() for n, is_second in hours.items() if is_second is False}
        if not again and not first:
            return found
        found = replace(found, facts={**found.facts, **first})
        found = found.joined(survey(engine, {n: files[n] for n in again}, copies, again)) if again else found


def _is_second(fact: FileFacts, others: Iterable[FileFacts]) -> bool | None:
    """Whether a file begins in the second time of an hour that comes twice; None where nothing shows it.

    A process that starts writes when that was.
    One file of a log is written after another: it begins after one that reaches into the hour, and that ends before
    its second time; or it goes on where one ended before its first time. Source: RollingFileAppender of log4j.
    """
    first = fact.first_at or LONG_AGO
    at, real = fact.started or (LONG_AGO, LONG_AGO)
    if first <= at <= first + _GOES_ON and comes_again(fact.file.zone, at):
        is_second = real - at > REPEATED / 2
        if abs(real - at - is_second * REPEATED) <= CLOCK_SKEW:
            return is_second
    own = [
        o for o in others if (o.file.source, o.file.zone) == (fact.file.source, fact.file.zone) and o.file != fact.file
    ]
    spans = [(o.first_at, o.last_at) for o in own if o.first_at and o.last_at and not o.open_hour]
    if any(begin < first < end <= first + REPEATED + OUT_OF_ORDER for begin, end in spans):
        return None if any(end >= (fact.last_at or NEVER) for begin, end in spans if begin < first) else True
    return False if any(first - _GOES_ON <= end <= first for _, end in spans) else None


def _spans(facts: Mapping[int, FileFacts]) -> dict[int, Span]:
    return {n: fact.span for n, fact in facts.items()}


def _newness(fact: FileFacts) -> tuple[datetime, datetime, datetime]:
    return fact.first_at or LONG_AGO, fact.last_at or LONG_AGO, fact.file.modified_at


def _unwritten(facts: Mapping[int, FileFacts], now: Mapping[str, LogFile]) -> frozenset[int]:
    """The files that have the size and the time of before."""
    return frozenset(n for n, fact in facts.items() if _state(fact.file) == _state(now.get(fact.file.uri)))


def _stirred(listed: Iterable[LogFile], now: Mapping[str, LogFile], known: Container[LogFile]) -> set[str]:
    """The sources in which a name is new, or stands for another file than the one that was taken for known.

    A folder is listed name by name: a rotation meanwhile hides a file behind a name that was listed before. A known
    file that is gone was deleted: renamed, it would be another's name now, or a new one.
    """
    names = {f.uri for f in listed}
    sources = {f.source for f in listed}
    replaced = {f.source for f in listed if f in known and f.uri in now and _state(now[f.uri]) != _state(f)}
    return replaced | {f.source for uri, f in now.items() if uri not in names and f.source in sources}


def _state(file: LogFile | None) -> tuple[int, datetime] | None:
    return None if file is None else (file.size, file.modified_at)
