"""`hindsight doctor --lake`, as JSON: whether a lake can be written, its tables' problems, what its newest run took."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

from kafka_hindsight.catalog import Table
from kafka_hindsight.catalog.steps import NEWEST_RUN, STEPS
from kafka_hindsight.doctor.doctor_checks import REPAIR
from kafka_hindsight.doctor.lake_growth import growth, overdue
from kafka_hindsight.lake import landing, publication, state
from kafka_hindsight.lake.claims import hold_publication
from kafka_hindsight.lake.damage import digest_in
from kafka_hindsight.lake.landing import read_json, read_text, remove, write_atomically
from kafka_hindsight.lake.lock import hold_lock
from kafka_hindsight.lake.repair import set_aside
from kafka_hindsight.lake.table_files import check_file, read_file
from kafka_hindsight.lake.transactions import files_of, open_table
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.settings.models import LOOK_AHEAD_HOURS, LOOK_BACK_HOURS
from kafka_hindsight.settings.retention import retention_of
from kafka_hindsight.shared.exits import BadInput, sentences_of
from kafka_hindsight.shared.timings import described
from kafka_hindsight.shared.words import counted
from kafka_hindsight.start import launch


def main(place: str, *, is_repaired: bool = False) -> None:
    """Check one lake, and print the results. If it is repaired, damaged files are set aside first."""
    launch.keep_private()
    lake = place.rstrip("/") if is_uri(place) else os.path.abspath(place)
    state.require_version(lake)
    repairs = _repaired(lake) if is_repaired else []
    print(json.dumps([*repairs, *_checks(lake)]))


def _repaired(lake: str) -> list[tuple[str, str, str]]:
    """Set damaged files aside, while nothing is published."""
    with hold_publication(lake, "hindsight doctor"):
        return [("later", "repair", sentence) for sentence in set_aside(lake)]


def _checks(lake: str) -> Iterator[tuple[str, str, str]]:
    if is_uri(lake):
        yield _access(lake)
    newest = publication.newest_versions(lake)
    if note := publication.note(lake, newest):
        yield "missing", "publication", note
    problems = [
        f"{t.full_name} {problem}" for t, version in newest.items() for problem in _problems_of(lake, t, version)
    ]
    yield from (("missing", "tables", f"{problem}\n{state.TO_DO}") for problem in problems)
    if not newest:
        yield "later", "tables", "none is there yet"
    elif not problems:
        yield "good", "tables", f"{len(newest)} tables: all rows can be read, and every published version is there"
        files = {t: files_of(open_table(f"{lake}/{t.layer}/{t.name}", t, v), t, None) for t, v in newest.items()}
        if count := sum(digest_in(file.path) is None for own in files.values() for file in own):
            sentence = f"{counted(count, 'file')} of other programs have none; the step maintain writes them again"
            yield "later", "checksums", sentence
        if maintenance := overdue(files):
            yield "later", "maintenance", maintenance
        with suppress(BadInput):  # the check of settings says it
            keep = retention_of(os.environ.get("KEEP"), LOOK_BACK_HOURS, LOOK_AHEAD_HOURS)
            yield "good", "growth", "\n".join(growth(files, keep, datetime.now(UTC)))
    for place in landing.damaged_files(lake):
        sentence = f"{place} has other bytes than were landed: its lines are not read"
        yield "missing", "landing", f"{sentence}\nBring it back from a copy of the lake, or remove it."
    for name in publication.damaged_views(lake):
        sentence = f"{name} is not the one that the last publication wrote; the next publication writes it again"
        yield "later", "publication", sentence
    if run := (read_json(f"{lake}/runs/{NEWEST_RUN}") or {}).get("run_id"):
        yield from _newest_run(lake, run)


def _newest_run(lake: str, run: str) -> Iterator[tuple[str, str, str]]:
    """The time that each step of a run took, the longest first. A run of an earlier version has no lengths."""
    summaries = {step.name: read_json(f"{lake}/runs/{run}/{step.name}.json") or {} for step in STEPS}
    measured = [(step, summary) for step, summary in summaries.items() if "took_s" in summary]
    if lines := [described(*pair) for pair in sorted(measured, key=lambda pair: -pair[1]["took_s"])]:
        yield "good", "newest run", "\n".join([run, *lines])


def _access(lake: str) -> tuple[str, str, str]:
    """Take and free a lock of our own, then write an object, read it again and remove it."""
    name = f"doctor-{uuid4()}"
    place, text = f"{lake}/locks/{name}", "hindsight doctor"
    try:
        with hold_lock(lake, name, text):
            pass
        write_atomically(place, text)
        is_same = read_text(place) == text
        remove(place)
    except (BadInput, OSError) as refusal:
        reason = masked(sentences_of(refusal)[0])
        return "missing", "lake", f"{masked(lake)}: {reason}\nNeeded: the right to write, read and delete there."
    if not is_same:
        return "missing", "lake", f"{masked(lake)} gave back other bytes than were written. Needed: a consistent store."
    return "good", "lake", f"{masked(lake)} was written, read and cleared again"


def _problems_of(lake: str, table: Table, version: int) -> Iterator[str]:
    if state.is_cut_short(lake, table, version):
        yield f"has a newest commit, version {version}, that is cut short."
    published = publication.listed_version(lake, table)
    if published is not None and published > version:
        yield f"was published in version {published}; its newest version is {version}."
    yield from dict.fromkeys(
        f"cannot be read: {sentences_of(problem)[0]}"
        for number in dict.fromkeys((version, min(version, version if published is None else published)))
        for problem in _damage_of(f"{lake}/{table.layer}/{table.name}", table, number)
    )


def _damage_of(folder: str, table: Table, version: int) -> Iterator[Exception]:
    """The errors that a reader of a version of a table meets: in its log, and in each of its files."""
    try:
        delta = open_table(folder, table, version)
        files = files_of(delta, table, None)
    except Exception as problem:  # delta-rs has no common error of a damaged table
        yield problem
        return
    for file in files:
        try:
            check_file(folder, file, table)
            if digest_in(file.path) is None:
                for _ in read_file(folder, file, None, table):
                    pass
        except Exception as problem:  # pyarrow has none either
            yield problem


if __name__ == "__main__":
    main(sys.argv[1], is_repaired=REPAIR in sys.argv[2:])
    sys.stdout.flush()
    os._exit(0)  # Threads of delta-rs may outlive the interpreter, and abort the process as it ends.
