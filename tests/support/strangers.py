"""Changes of the logs of a recorded night's brokers, to what logs of others have: what rules must not rest on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.taken_away import records_of

Files = dict[str, list[str]]
"""The texts of the records of each file, by its path within the folder."""

Row = dict[str, Any]

_HEAD = len("[2026-11-21 01:44:29,117] ")
_HEAD_AT = re.compile(r"(?<=^\[)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}")
_UUID = r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CLIENT = re.compile(rf"(?<![\w.-])([\w.-]+?)(?={_UUID})")
_INSTANCE = re.compile(r"(?:\b[gG]roupInstanceId=|group instance id Some\()([\w.-]+)")
_LOGGER = re.compile(r"(?m)(?= \([\w.$]+\)$)")

_ID = r"(?<![\w.-])[1-3](?!\w|\.\d)"
_NAMES_BROKERS = re.compile(
    r"\bleader: -?\d -> -?\d|\b(?i:broker|node|controller|leader|voter|replica|local)(?:id|Id|\.id| id)?"
    r"(?:=|: | = | is | )(?:Some\(|OptionalInt\[)?"
    rf"{_ID}|\bid(?:=|: ){_ID}"
    rf"|Previous leader Some\({_ID}|(?:Connection|(?<=partition \d)) to {_ID}|\w+Shutdown\[{_ID}\]"
    rf"|{_ID}(?==(?:Voter|Replica)|@\d)"
    r"|\b(?:[iI]sr|replicas|voters|[eE]lr|lastKnownElr)(?:=|: )\[[\d, ]*\](?: -> \[[\d, ]*\])?"
    r"|\bISR (?:updated to |\[)[\d,]+"
)
"""Where the lines of the recorded night name brokers by their ids."""

_BROKERS = ("broker", "leader_from", "leader_to", "controller_from", "controller_to", "coordinator", "suspected_broker")
"""The columns of claims that name a broker."""


@dataclass(frozen=True)
class Change:
    """A change of all files, in words; what becomes of the names in a row of gold by it."""

    words: str
    of_files: Callable[[Files], Files]
    of_row: Callable[[Row], Row] = lambda row: row

    def __repr__(self) -> str:
        return self.words


def read_files(logs: Path) -> Files:
    """The records of all logs below a folder."""
    paths = sorted(p for p in logs.rglob("*.log*") if p.is_file())
    return {p.relative_to(logs).as_posix(): [r.text for r in records_of(p)] for p in paths}


def write_files(files: Files, folder: Path) -> Path:
    """Write files of records into a folder; one without any record is not there."""
    for name, texts in files.items():
        if texts:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(texts), encoding="utf-8", newline="")
    return folder


def with_blanks(place: str) -> Change:
    """Blanks behind each line, behind the first line of each record, or behind each message."""
    put = {
        "each line": lambda text: text.replace("\n", " \t\n"),
        "each first line": lambda text: text.replace("\n", "  \n", 1),
        "each message": lambda text: _LOGGER.sub("  ", text),
    }[place]
    return Change(f"blanks behind {place}", lambda files: _each(files, put))


def with_other_clients(name_of: Callable[[int], str], words: str) -> Change:
    """Other client ids: `name_of` gets the number of each among all. Instance ids stay."""

    def change(files: Files) -> Files:
        all_texts = [text for texts in files.values() for text in texts]
        static = {i for text in all_texts for i in _INSTANCE.findall(text)}
        found = sorted({c for text in all_texts for c in _CLIENT.findall(text)} - static)
        names = {client: name_of(number) for number, client in enumerate(found)}
        any_name = re.compile(
            rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(found, key=len)[::-1]))})(?![\w.]|-\w(?!\w{{7}}-))"
        )
        return _each(files, lambda text: any_name.sub(lambda m: names[m[0]], text))

    return Change(words, change)


def without_files(name: str, brokers: Sequence[str]) -> Change:
    """Some brokers' logs of one name are missing."""
    lost = {f"{broker}/{name}.log" for broker in brokers}
    return Change(
        f"{name}.log of {', '.join(brokers)} is missing",
        lambda files: {path: texts for path, texts in files.items() if path not in lost},
    )


def with_clock_step(broker: str, since: datetime, step: timedelta) -> Change:
    """The clock of a broker is set on or back at an instant."""

    def moved(text: str) -> str:
        at = _HEAD_AT.search(text)
        if not at or datetime.fromisoformat(f"{at[0]}+00:00") < since:
            return text
        later = (datetime.fromisoformat(at[0]) + step).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
        return f"{text[: at.start()]}{later}{text[at.end() :]}"

    def change(files: Files) -> Files:
        return {p: [moved(t) for t in texts] if p.startswith(f"{broker}/") else texts for p, texts in files.items()}

    return Change(f"the clock of {broker} steps by {step.total_seconds()} s at {since:%H:%M:%S}", change)


def with_copies(path: str, folder: str) -> Change:
    """A byte-equal copy of a file lies in another folder too."""
    copy = f"{folder}/{Path(path).name if folder == 'backup' else Path(path).stem + '-copy.log'}"
    return Change(f"{copy} is a copy of {path}", lambda files: {**files, copy: files[path]} if path in files else files)


def with_cut_ends(brokers: Sequence[str], records: int, characters: int) -> Change:
    """The logs of some brokers end earlier by some records, the last one within its line."""

    def change(files: Files) -> Files:
        cut = {p: texts[:-records] for p, texts in files.items() if p.split("/")[0] in brokers}
        return {**files, **{p: [*t[:-1], *(text[:characters] for text in t[-1:])] for p, t in cut.items()}}

    return Change(f"the last {records} records of {', '.join(brokers)} are missing", change)


def with_one_group(name: str, groups: Sequence[str]) -> Change:
    """Groups of one coordinator that lived one after another, under one name: each line until the next one begins.

    Its generations begin again, as after its metadata were removed, and its protocol may change.
    """
    of_group = {group: re.compile(rf"(?<![\w.-]){re.escape(group)}(?![\w.-])") for group in groups}

    def change(files: Files) -> Files:
        texts = [text for of_file in files.values() for text in of_file]
        begins = [min(_time_of(t) for t in texts if regex.search(t)) for regex in of_group.values()]
        lives = [*zip(of_group.values(), begins, [*begins[1:], "~"], strict=True)]

        def put(text: str) -> str:
            named = [life for life in lives if life[0].search(text)]
            if not named:
                return text
            regex, begin, end = named[0]
            return regex.sub(name, text) if begin <= _time_of(text) < end else ""

        return _each(files, put)

    def of_row(row: Row) -> Row:
        return {**row, "group_id": name} if row.get("group_id") in groups else row

    return Change(f"{', '.join(groups)} have one name", change, of_row)


def _time_of(text: str) -> str:
    at = _HEAD_AT.search(text)
    assert at, text
    return at[0]


def with_other_ids(ids: Mapping[int, int]) -> Change:
    """Brokers have other ids, in lines and in the names of their folders."""

    def put(text: str) -> str:
        head, message = text[:_HEAD], text[_HEAD:]
        return head + _NAMES_BROKERS.sub(lambda m: re.sub(_ID, lambda one: str(ids[int(one[0])]), m[0]), message)

    def change(files: Files) -> Files:
        return {
            re.sub(r"(?<=broker-)\d", lambda m: str(ids[int(m[0])]), p): texts for p, texts in _each(files, put).items()
        }

    def of_row(row: Row) -> Row:
        return {name: ids.get(value, value) if name in _BROKERS else value for name, value in row.items()}

    return Change(f"brokers are {', '.join(map(str, ids.values()))}", change, of_row)


def _each(files: Files, put: Callable[[str], str]) -> Files:
    return {path: [put(text) for text in texts] for path, texts in files.items()}
