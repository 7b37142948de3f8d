"""The input of the bench: the recorded night many times over, in the same files, the copies an hour apart.

The recorded night is the last, since no audit looks at hours to come. Groups of a copy have names of its own, so
nothing is a copy to ingest, and every line is kept.
"""

from __future__ import annotations

import json
import re
import tarfile
from datetime import datetime, timedelta
from pathlib import Path

from kafka_hindsight.settings.home import HOME

NIGHT = HOME / "samples" / "night-4.1.tar.gz"
APART = timedelta(hours=1)
"""Between two copies: longer than the recorded night, so that they follow one another."""

BYTES = 7_986_754
"""Of the night's logs."""

_STAMP = r"(?<=^\[)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
_EPOCH = r"(?<=^%\d\|)\d{9,11}(?=\.\d{3}\|)"
_READ_AT = r'(?<="at": ")[^"]+'


def make_night(folder: Path, megabytes: float) -> Path:
    """Make a night of about so many megabytes of logs below the folder, if it is missing. Returns its path."""
    times = max(1, round(megabytes * 1e6 / BYTES))
    target = folder / f"night-x{times}"
    if not target.exists():
        base = folder / "night"
        with tarfile.open(NIGHT) as archive:
            archive.extractall(base, filter="data")
        multiply(base, target.with_suffix(".part"), times).rename(target)
    return target


def logs_of(night: Path) -> list[Path]:
    """The logs that hold lines, in order."""
    return sorted(p for p in night.rglob("*.log") if p.stat().st_size)


def multiply(night: Path, target: Path, times: int) -> Path:
    """The night several times over in the same files.

    Each copy is later than the one before, the last as recorded. Each has groups of its own.
    """
    groups = sorted(groups_of(night), key=len, reverse=True)
    for path in sorted(p for p in night.rglob("*") if p.suffix in (".log", ".jsonl")):
        copy = target / path.relative_to(night)
        copy.parent.mkdir(parents=True, exist_ok=True)
        changing = [_READ_AT] if path.suffix == ".jsonl" else [_STAMP, _EPOCH]
        parts = re.split(f"({'|'.join([*changing, *map(re.escape, groups)])})", path.read_text(), flags=re.MULTILINE)
        with copy.open("w") as file:
            for n in range(times):
                new_names = {group: f"{group}-n{n}" for group in groups}
                changed = {
                    part: new_names.get(part) or moved(part, (n + 1 - times) * APART) for part in set(parts[1::2])
                }
                parts_of_copy = list(parts)
                parts_of_copy[1::2] = [changed[part] for part in parts[1::2]]
                file.write("".join(parts_of_copy))
    return target


def groups_of(night: Path) -> set[str]:
    """The groups that the night's snapshots show."""
    readings = map(json.loads, (night / "snapshots.jsonl").read_text().splitlines())
    return {group["group"] for reading in readings for group in reading.get("groups", ())}


def moved(instant: str, shift: timedelta) -> str:
    """An instant as a log or a reading writes it, later by `shift`, written in the same way."""
    if instant.isdigit():
        return str(int(instant) + int(shift.total_seconds()))
    return (datetime.fromisoformat(instant) + shift).isoformat(sep=instant[10])


def later(text: str, shift: timedelta) -> str:
    """A log whose clock runs later by `shift`."""
    return re.sub(f"{_STAMP}|{_EPOCH}", lambda m: moved(m[0], shift), text, flags=re.MULTILINE)


def snapshots_later(text: str, shift: timedelta) -> str:
    """Readings taken later by `shift`."""
    return re.sub(_READ_AT, lambda m: moved(m[0], shift), text)
