"""One pass over log files: it reads those that the ledger does not have, and leaves out sources that change."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.file_ledger import Ledger, consult, fingerprints
from kafka_hindsight.intake.record_reader import Reading, write_records
from kafka_hindsight.intake.survey import changed_sources, survey
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.parts import File
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.clocks import comes_again
from kafka_hindsight.logs.file_facts import FileFacts, Survey, Tail
from kafka_hindsight.logs.file_order import OUT_OF_ORDER, Span, Turn, copies, in_turn, is_young, sharing
from kafka_hindsight.logs.files import Listing, LogFile
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, NEVER, REPEATED


@dataclass(frozen=True)
class Waiting:
    """The part of a pass that waits for a later run: whole files, and the last records of others."""

    files: frozenset[int] = frozenset()
    tails: Mapping[int, Tail] = field(default_factory=dict)

    def __contains__(self, file: int) -> bool:
        return file in self.files or file in self.tails


NOTHING = Waiting()

_GOES_ON = timedelta(minutes=15)
"""The longest time between two files of a log that goes on without a break."""

COPIES = "landing/unwrapped"
"""The folder of the lake that keeps the unwrapped lines of wrapped files, from one pass to the next."""


@dataclass(frozen=True)
class Pass:
    """The result of one pass: facts of all files of the settled sources, and the pieces of those that were read.

    A source is unsettled if one of its files vanished, shrank or was replaced before it was read to its end: its bytes
    may be of two files. `still` are the files that were not written to meanwhile.
    """

    facts: Mapping[int, FileFacts]
    survey: Survey
    ledger: Ledger
    marks: Mapping[LogFile, str]
    unsettled: frozenset[str]
    still: frozenset[int]

    @property
    def cluster_ids(self) -> dict[str, frozenset[str]]:
        """The ids of clusters that the files name, by the files' origin."""
        ids: dict[str, frozenset[str]] = {"broker": frozenset(), "client": frozenset()}
        for fact in self.facts.values():
            ids[fact.file.origin] |= fact.cluster_ids
        return ids

    @property
    def names(self) -> frozenset[str]:
        """The clusters under which the ledger has some of the files."""
        files = {fact.file for fact in self.facts.values()}
        return frozenset(name for file, name in self.ledger.clusters.items() if file in files)

    @property
    def fresh(self) -> dict[int, FileFacts]:
        """The files that the ledger does not have."""
        return {n: fact for n, fact in self.facts.items() if fact.file not in self.ledger.facts}

    def without(self, source: str) -> Pass:
        """The same pass with one more unsettled source."""
        facts = {n: fact for n, fact in self.facts.items() if fact.file.source != source}
        return replace(self, facts=facts, unsettled=self.unsettled | {source}, still=self.still & facts.keys())

    def waiting(self, run_at: datetime) -> Waiting:
        """The records that may still grow: the last ones of young files that no record follows, and copies."""
        young = {n for n, fact in self.facts.items() if is_young(fact.file.modified_at, run_at)}
        copied = copies(_spans(self.facts), young)
        turns = self.turns(run_at, copied)
        tails = {n: tail for n, tail in self.survey.tails.items() if n in young and n in turns}
        return Waiting(
            files=frozenset(copied),
            tails={n: tail for n, tail in tails.items() if self.facts[n].damage or not turns[n].is_followed},
        )

    def turns(self, run_at: datetime, without: Collection[int]) -> dict[int, Turn]:
        """The order of the files. The newest of a source has no end while it is young.

        A copy of old files is written in any order, so their records decide which file is the newest.
        """
        facts = {n: fact for n, fact in self.facts.items() if n not in without}
        newest = {fact.file.source: n for n, fact in sorted(facts.items(), key=lambda f: _newness(f[1]))}
        growing = {n for n in newest.values() if is_young(facts[n].file.modified_at, run_at)}
        return in_turn({n: replace(f.span, last_at=NEVER) if n in growing else f.span for n, f in facts.items()})

    def write(self, engine: Engine, store: Store, cluster: str, run_at: datetime, waiting: Waiting) -> list[File]:
        """Write the records of the files that the ledger does not have, as files that no commit names yet.

        Records that wait, and those that the lake has, are left out.
        """
        turns = self.turns(run_at, waiting.files)
        files = {n: self.facts[n].file for n in turns if n in self.survey.pieces}
        new = [n for n in files if files[n] not in self.ledger.facts and self.survey.pieces[n]]
        ends = {n: tail.place for n, tail in waiting.tails.items()}
        pieces = {n: self.survey.pieces[n] for n in files}
        reading = Reading(files, pieces, turns, new, ends, f"{store.lake}/{COPIES}")
        return write_records(engine, store, cluster, reading, run_at)


def scan_files(
    engine: Engine, store: Store, log_files: Sequence[LogFile], look: Callable[[], Listing], cluster: str | None
) -> Pass:
    """Read the files that the ledger does not have, and those of its files that share an instant with them.

    `look` lists the files again when they have been read. The ledger is that of a cluster, or of all for None.
    """
    files = dict(enumerate(log_files))
    ledger = consult(store, files.values(), cluster)
    known_facts = {n: ledger.facts[f] for n, f in files.items() if f in ledger.facts}
    vanished = ledger.vanished(log_files)
    fresh = {n: f for n, f in files.items() if n not in known_facts and f.source not in vanished}
    copies = f"{store.lake}/{COPIES}"
    landing.remove(copies)
    new_survey = survey(engine, fresh, copies)
    near = {n: files[n] for n in sorted(sharing(_spans(new_survey.facts), _spans(known_facts)))}
    marks = {**ledger.marks, **fingerprints(near.values())}
    new_survey = new_survey.joined(survey(engine, near, copies)) if near else new_survey
    new_survey = _place_in_hours(engine, new_survey, files, known_facts, copies)
    files_read = {**fresh, **near}
    unread = {f.source for n, f in files_read.items() if n not in new_survey.facts}
    changed = changed_sources(files_read.values(), marks)
    relisted = {f.uri: f for f in look().files}
    unsettled = vanished | unread | changed | _rotated_sources(log_files, relisted, ledger.facts)
    settled = {n: fact for n, fact in {**known_facts, **new_survey.facts}.items() if fact.file.source not in unsettled}
    still = frozenset(n for n, fact in settled.items() if _state(fact.file) == _state(relisted.get(fact.file.uri)))
    return Pass(settled, new_survey, ledger, marks, frozenset(unsettled), still)


def _place_in_hours(
    engine: Engine, new_survey: Survey, files: Mapping[int, LogFile], known_facts: Mapping[int, FileFacts], copies: str
) -> Survey:
    """Read again each file that begins in the second time of an hour that comes twice, as such."""
    while True:
        facts = {**known_facts, **new_survey.facts}
        hours = {n: _is_second(fact, facts.values()) for n, fact in new_survey.facts.items() if fact.open_hour}
        again = {n: facts[n].first_at or LONG_AGO for n, is_second in hours.items() if is_second}
        first = {n: facts[n].without_open_hour() for n, is_second in hours.items() if is_second is False}
        if not again and not first:
            return new_survey
        new_survey = replace(new_survey, facts={**new_survey.facts, **first})
        new_survey = (
            new_survey.joined(survey(engine, {n: files[n] for n in again}, copies, again)) if again else new_survey
        )


def _is_second(fact: FileFacts, others: Iterable[FileFacts]) -> bool | None:
    """Whether a file begins in the second time of an hour that comes twice; None if nothing shows it.

    A process writes when it started. Otherwise the files of a log are written one after another, as their names show: a
    file in the second time follows one that reaches into the hour and ends before its second time, or one that ends
    later by the clock; a file in the first time goes on where one ended before the hour, or comes before one that
    begins earlier by the clock. Source: RollingFileAppender and DailyRollingFileAppender of log4j.
    """
    first = fact.first_at or LONG_AGO
    at, real = fact.started or (LONG_AGO, LONG_AGO)
    if first <= at <= first + _GOES_ON and comes_again(fact.file.zone, at):
        is_second = real - at > REPEATED / 2
        if abs(real - at - is_second * REPEATED) <= CLOCK_SKEW:
            return is_second
    of_log = [
        o for o in others if (o.file.source, o.file.zone) == (fact.file.source, fact.file.zone) and o.file != fact.file
    ]
    if any(o.last_at and o.last_at > first + OUT_OF_ORDER for o in of_log if _is_older(o.file, fact.file)):
        return True
    begins = (o.first_at + REPEATED * bool(o.open_hour) for o in of_log if o.first_at and _is_older(fact.file, o.file))
    if any(begin < first + REPEATED - OUT_OF_ORDER for begin in begins):
        return False
    spans = [(o.first_at, o.last_at) for o in of_log if o.first_at and o.last_at and not o.open_hour]
    if any(begin < first < end <= first + REPEATED + OUT_OF_ORDER for begin, end in spans):
        return None if any(end >= (fact.last_at or NEVER) for begin, end in spans if begin < first) else True
    return False if any(first - _GOES_ON <= end <= first for _, end in spans) else None


def _is_older(file: LogFile, other: LogFile) -> bool:
    """Whether a file was written before another of its log, by their names: `.2` before `.1`, dates in their order."""
    suffixes = [f.name.removeprefix(f.source) for f in (file, other)]
    numbers, numbers_of_other = ([int(n) for n in re.findall(r"\d+", suffix)] for suffix in suffixes)
    if len(numbers) == len(numbers_of_other) == 1:
        return numbers > numbers_of_other
    is_live = suffixes[1] == "" != suffixes[0]
    return is_live or (len(numbers) == len(numbers_of_other) and numbers < numbers_of_other)


def _spans(facts: Mapping[int, FileFacts]) -> dict[int, Span]:
    return {n: fact.span for n, fact in facts.items()}


def _newness(fact: FileFacts) -> tuple[datetime, datetime, datetime]:
    return fact.first_at or LONG_AGO, fact.last_at or LONG_AGO, fact.file.modified_at


def _rotated_sources(
    files: Iterable[LogFile], relisted: Mapping[str, LogFile], in_ledger: Container[LogFile]
) -> set[str]:
    """The sources in which a name is new, or now names another file than the known one.

    A folder is listed name by name, so a rotation meanwhile can hide a file behind a name that was listed before. A
    known file that is gone was deleted: after a rename its content would have another's name now, or a new one.
    """
    names = {f.uri for f in files}
    sources = {f.source for f in files}
    replaced = {
        f.source for f in files if f in in_ledger and f.uri in relisted and _state(relisted[f.uri]) != _state(f)
    }
    return replaced | {f.source for uri, f in relisted.items() if uri not in names and f.source in sources}


def _state(file: LogFile | None) -> tuple[int, datetime] | None:
    return None if file is None else (file.size, file.modified_at)
