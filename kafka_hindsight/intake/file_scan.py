"""One pass over log files: it reads those that the register does not have, and leaves out sources that change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kafka_hindsight.engine.work import Engine
from kafka_hindsight.intake.file_register import FileRegister, consult, fingerprints
from kafka_hindsight.intake.record_reader import ReadPlan, RecordFiles, write_records
from kafka_hindsight.intake.survey import changed_sources, survey
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_facts import FileFacts, Survey, Tail, newness
from kafka_hindsight.logs.file_order import FileSpan, Turn, copies, is_young, sharing, turns_of
from kafka_hindsight.logs.files import ListedFile, Listing
from kafka_hindsight.shared.durations import NEVER


@dataclass(frozen=True)
class Remainder:
    """The part of a pass that waits for a later run: whole files, and the last records of others."""

    files: frozenset[int] = frozenset()
    tails: Mapping[int, Tail] = field(default_factory=dict)

    def __contains__(self, file: int) -> bool:
        return file in self.files or file in self.tails


_COPIES = "unwrapped"
"""The folder that keeps the unwrapped lines of wrapped files, from one pass to the next."""


@dataclass(frozen=True)
class Pass:
    """The result of one pass: facts of all files of the settled sources, and the pieces of those that were read.

    A source is unsettled if one of its files vanished, shrank or was replaced before it was read to its end: its bytes
    may be of two files. `still` are the files that were not written to meanwhile.
    """

    facts: Mapping[int, FileFacts]
    survey: Survey
    register: FileRegister
    marks: Mapping[ListedFile, str]
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
        """The clusters under which the register has some of the files."""
        files = {fact.file for fact in self.facts.values()}
        return frozenset(name for file, name in self.register.clusters.items() if file in files)

    @property
    def fresh(self) -> dict[int, FileFacts]:
        """The files that the register does not have."""
        return {n: fact for n, fact in self.facts.items() if fact.file not in self.register.facts}

    def without(self, replaced: Collection[int]) -> Pass:
        """The same pass, with the sources of replaced files unsettled."""
        sources = {self.facts[n].file.source for n in replaced}
        facts = {n: fact for n, fact in self.facts.items() if fact.file.source not in sources}
        return replace(self, facts=facts, unsettled=self.unsettled | sources, still=self.still & facts.keys())

    def waiting(self, run_at: datetime, to_end: bool) -> Remainder:
        """The records that may still grow: the last ones of young files that no record follows, and copies.

        The last record of a file that was written to meanwhile waits whatever follows, also if files are read `to_end`:
        it may be cut where the file ended when it was listed.
        """
        young = {n for n, fact in self.facts.items() if not to_end and is_young(fact.file.modified_at, run_at)}
        copied = copies(_spans(self.facts), young)
        turns = self.turns(run_at, copied)
        open_ended = {n for n in turns if n in young and (self.facts[n].damage or not turns[n].is_followed)}
        waiting = open_ended | (turns.keys() - self.still)
        return Remainder(
            files=frozenset(copied), tails={n: tail for n, tail in self.survey.tails.items() if n in waiting}
        )

    def turns(self, run_at: datetime, without: Collection[int]) -> dict[int, Turn]:
        """The order of the files. The newest of a source has no end while it is young.

        A copy of old files is written in any order, so their records decide which file is the newest.
        """
        facts = {n: fact for n, fact in self.facts.items() if n not in without}
        newest = {fact.file.source: n for n, fact in sorted(facts.items(), key=lambda f: newness(f[1]))}
        growing = {n for n in newest.values() if is_young(facts[n].file.modified_at, run_at)}
        return turns_of({n: replace(f.span, last_at=NEVER) if n in growing else f.span for n, f in facts.items()})

    def write(self, engine: Engine, store: Store, cluster: str, run_at: datetime, waiting: Remainder) -> RecordFiles:
        """Write the records of the files that the register does not have.

        Records that wait, and those that the lake has, are left out.
        """
        turns = self.turns(run_at, waiting.files)
        files = {n: self.facts[n].file for n in turns if n in self.survey.pieces}
        new = [n for n in files if files[n] not in self.register.facts and self.survey.pieces[n]]
        ends = {n: tail.place for n, tail in waiting.tails.items()}
        pieces = {n: self.survey.pieces[n] for n in files}
        reading = ReadPlan(files, pieces, turns, new, ends, _copies_in(store))
        return write_records(engine, store, cluster, reading, run_at)


def scan_files(
    engine: Engine, store: Store, log_files: Sequence[ListedFile], look: Callable[[], Listing], cluster: str | None
) -> Pass:
    """Read the files that the register does not have, and those of its files that share an instant with them.

    `look` lists the files again when they have been read. The register is that of a cluster, or of all for None.
    """
    files = dict(enumerate(log_files))
    register = consult(store, files.values(), cluster)
    known_facts = {n: register.facts[f] for n, f in files.items() if f in register.facts}
    vanished = register.vanished(log_files)
    fresh = {n: f for n, f in files.items() if n not in known_facts and f.source not in vanished}
    copies = _copies_in(store)
    landing.remove(copies)
    new_survey = survey(engine, fresh, copies)
    near = {n: files[n] for n in sorted(sharing(_spans(new_survey.facts), _spans(known_facts)))}
    marks = {**register.marks, **fingerprints(near.values())}
    new_survey = new_survey.joined(survey(engine, near, copies)) if near else new_survey
    files_read = {**fresh, **near}
    unread = {f.source for n, f in files_read.items() if n not in new_survey.facts}
    changed = changed_sources(files_read.values(), marks)
    relisted = {f.uri: f for f in look().files}
    unsettled = vanished | unread | changed | _rotated_sources(log_files, relisted, register.facts)
    settled = {n: fact for n, fact in {**known_facts, **new_survey.facts}.items() if fact.file.source not in unsettled}
    still = frozenset(n for n, fact in settled.items() if _state(fact.file) == _state(relisted.get(fact.file.uri)))
    return Pass(settled, new_survey, register, marks, frozenset(unsettled), still)


def _copies_in(store: Store) -> str:
    return f"{landing.scratch(store.lake)}/{_COPIES}"


def _spans(facts: Mapping[int, FileFacts]) -> dict[int, FileSpan]:
    return {n: fact.span for n, fact in facts.items()}


def _rotated_sources(
    files: Iterable[ListedFile], relisted: Mapping[str, ListedFile], in_register: Container[ListedFile]
) -> set[str]:
    """The sources in which a name is new, or now names another file than the known one.

    A folder is listed name by name, so a rotation meanwhile can hide a file behind a name that was listed before. A
    known file that is gone was deleted: after a rename its content would have another's name now, or a new one.
    """
    names = {f.uri for f in files}
    sources = {f.source for f in files}
    replaced = {
        f.source for f in files if f in in_register and f.uri in relisted and _state(relisted[f.uri]) != _state(f)
    }
    return replaced | {f.source for uri, f in relisted.items() if uri not in names and f.source in sources}


def _state(file: ListedFile | None) -> tuple[int, datetime] | None:
    return None if file is None else (file.size, file.modified_at)
