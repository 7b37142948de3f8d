"""A recorded drill, written again in the local time of a zone whose change lies in the middle of the night.

`python -m lab.drill.local_time NIGHT NEW --zone Europe/Berlin --change 2026-10-25T01:00Z` moves every time by the same
length, so that the change comes halfway between the first and the last act. Times that name their zone stay in UTC, as
the truth and the readings are; those that name none become local. Audit NEW with LOGS_TZ and CLIENT_TZ of that zone.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

_TIME = re.compile(
    r"(?P<date>\d{4}(?P<dash>[-/])\d\d(?P=dash)\d\d)(?P<between>[ T])(?P<clock>\d\d:\d\d:\d\d)(?P<fraction>[.,]\d+)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_EPOCH = re.compile(r"(?m)(^%\d\||Kafka startTimeMs: )(\d{10})(?=\.\d{3}\||\d{3}\b)")
"""How librdkafka writes an instant, and Kafka the start of a process."""


def moved(text: str, by: timedelta, zone: ZoneInfo) -> str:
    """A text with each of its times later by a length, and in the zone where it names none."""

    def again(match: re.Match[str]) -> str:
        try:
            at_before = datetime.fromisoformat(f"{match['date'].replace('/', '-')}T{match['clock']}").replace(
                tzinfo=UTC
            )
        except ValueError:
            return match[0]
        at = at_before + by if match["zone"] else (at_before + by).astimezone(zone)
        date = f"{at:%Y-%m-%d}".replace("-", match["dash"])
        return f"{date}{match['between']}{at:%H:%M:%S}{match['fraction'] or ''}{match['zone'] or ''}"

    in_epochs = _EPOCH.sub(lambda match: f"{match[1]}{int(match[2]) + int(by.total_seconds())}", text)
    return _TIME.sub(again, in_epochs)


def rewrite(night: Path, new: Path, zone: ZoneInfo, change: datetime) -> None:
    """Write a night again. The zone's change, an instant, shall lie in its middle."""
    acts = [datetime.fromisoformat(json.loads(line)["at"]) for line in (night / "truth.jsonl").read_text().splitlines()]
    middle = acts[0] + (acts[-1] - acts[0]) / 2
    by = timedelta(seconds=round((change - middle).total_seconds()))
    for file in sorted(night.rglob("*")):
        place = file.relative_to(night)
        if file.is_file() and (file.suffix == ".jsonl" or place.parts[0] in ("logs", "clients")):
            (new / place).parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(errors="surrogateescape")
            (new / place).write_text(moved(text, by, zone), errors="surrogateescape")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a recorded night again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("night", type=Path, help="the folder of a drill: logs, clients, truth.jsonl, snapshots.jsonl")
    parser.add_argument("new", type=Path, help="the folder to write")
    parser.add_argument("--zone", type=ZoneInfo, required=True, help="such as Europe/Berlin")
    parser.add_argument("--change", type=datetime.fromisoformat, required=True, help="such as 2026-10-25T01:00Z")
    options = parser.parse_args(arguments)
    rewrite(options.night, options.new, options.zone, options.change)
    return 0


if __name__ == "__main__":
    sys.exit(main())
