"""A recorded night laid end to end for weeks, with files missing, audited and compared with what was done.

    python -m lab.drill.month .drill/20261123T081500-4.3.1-7 --days 28 --missing 0.1 --seed 7

writes a folder below .drill/; given that folder, it compares its lake again. The night is played once a day: each time
goes on by a day, and each epoch by more than a night takes it. At the end of each night all brokers go, as they did. A
log is rotated as Kafka does it, each hour, or more often.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from lab.answers import WRONG, Answer
from lab.drill.absences import AGREEING, NIGHT_ENDS, PLAYED, Away, away_of
from lab.drill.record import DRILLS
from lab.drill.rows import GoldRow, read_gold
from lab.drill.truth import read_truth
from lab.expectations import answer_to

EPOCHS_A_DAY = 100_000
"""How far each epoch is on at the same hour of the next day."""

MONTH = "month.json"
"""What a month was made of."""

_MOVES = re.compile(
    r"^\[(?P<day>\d{4}-\d\d-\d\d)(?= \d\d:)"
    r"|(?P<words>[Ee]poch(?: was| of| to| from| will become)?[^\w\n-]{0,2}(?:Optional(?:Int)?\[|Some\()?)(?P<epoch>\d+)"
    r"(?P<to> -> (?P<next>\d+))?",
    re.MULTILINE,
)
"""What is another one on each day: the date of a head, and epochs of every kind."""

_HEAD = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),", re.MULTILINE)


def lay(night: Path, month: Path, days: int, missing: float, minutes: int, seed: int) -> None:
    """Write the logs of a month, less a share of all files, their truth, and month.json, which names what is missing.

    The last day is that of the night.
    """
    files: list[Path] = []
    for log in sorted((night / "logs").rglob("*.log")):
        text = log.read_text(encoding="utf-8", errors="surrogateescape")
        for day in range(days):
            for name, part in _rotated(moved(text, day, days), minutes):
                file = month / log.relative_to(night).with_name(f"{log.name}.{name}")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(part, encoding="utf-8", errors="surrogateescape")
                files.append(file)
    missing_files = random.Random(seed).sample(files, int(len(files) * missing))
    for file in missing_files:
        file.unlink()
    rows = acts_of(night, range(1 - days, 1))
    (month / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    cluster = json.loads((night / "cluster.json").read_text(encoding="utf-8"))
    layout = {"days": days, "minutes": minutes, "seed": seed, "files": len(files)}
    missed = sorted(file.relative_to(month / "logs").as_posix() for file in missing_files)
    (month / MONTH).write_text(json.dumps({**cluster, **layout, "missing": missed}, indent=1) + "\n", encoding="utf-8")


def acts_of(night: Path, days: Iterable[int]) -> list[dict[str, object]]:
    """The truth of a night on other days, so many after its own."""
    rows = [json.loads(line) for line in (night / "truth.jsonl").read_text(encoding="utf-8").splitlines()]
    brokers = [int(folder.name.removeprefix("broker-")) for folder in sorted(night.glob("logs/broker-*"))]
    starts = [{"at": _first_line(night, b), "action": "broker_start", "broker": b} for b in brokers]
    ends = [{"at": rows[-1]["at"], "action": NIGHT_ENDS, "broker": b} for b in brokers]
    return [_on(row, day) for day in days for row in (*starts, *rows, *ends)]


def moved(text: str, day: int, days: int) -> str:
    """A log as it would be on another day."""
    earlier, more = timedelta(days=day - days + 1), day * EPOCHS_A_DAY

    def move(match: re.Match[str]) -> str:
        if match["day"]:
            return f"[{datetime.fromisoformat(match['day']) + earlier:%Y-%m-%d}"
        later = f" -> {int(match['next']) + more}" if match["to"] else ""
        return f"{match['words']}{int(match['epoch']) + more}{later}"

    return _MOVES.sub(move, text)


def _rotated(text: str, minutes: int) -> Iterator[tuple[str, str]]:
    """The files of a log, each with what ends its name."""
    parts: dict[str, list[str]] = defaultdict(list)
    heads = list(_HEAD.finditer(text))
    for head, after in zip(heads, [*(h.start() for h in heads[1:]), len(text)]):
        at = datetime.fromisoformat(head[1])
        start = at.replace(minute=at.minute // minutes * minutes)
        parts[f"{start:%Y-%m-%d-%H-%M}"].append(text[head.start() : after])
    yield from ((name, "".join(part)) for name, part in parts.items())


def _first_line(night: Path, broker: int) -> str:
    """The instant of a broker's first start, which is not in the truth."""
    heads = (_HEAD.search(log.read_text(errors="replace")) for log in night.glob(f"logs/broker-{broker}/*.log"))
    return min(f"{head[1]}+00:00" for head in heads if head)


def _on(row: dict[str, object], days: int) -> dict[str, object]:
    ats = {k: datetime.fromisoformat(str(row[k])) + timedelta(days=days) for k in ("at", "ended") if k in row}
    return {**row, **{k: at.isoformat(timespec="milliseconds") for k, at in ats.items()}}


@dataclass(frozen=True)
class Agreement:
    """How an audit's absences agree with those that were played.

    Each row has its answer; `missed` are those that the audit should have, `played` in number, and has not.
    """

    answers: Sequence[tuple[GoldRow, Answer]]
    missed: Sequence[Away]
    played: int

    @property
    def counts(self) -> Counter[str]:
        """How many are right, doubtful, wrong."""
        return Counter(answer.outcome for _, answer in self.answers)


def agreement(rows: Sequence[GoldRow], truth: Sequence[Away]) -> Agreement:
    """How rows of gold.broker_outages agree with the truth."""
    tables, owed = {"broker_outages": rows}, [away for away in truth if away.is_owed]
    missed = [away for away in owed if not answer_to(PLAYED, away, truth, tables).is_met]
    return Agreement([(row, answer_to(AGREEING, row, truth, tables)) for row in rows], missed, len(owed))


def agreement_of(month: Path) -> Agreement:
    """How the absences in the lake of a month agree with its truth. Raises TruthError, OSError where one is missing."""
    acts = read_truth((month / "truth.jsonl").read_text(encoding="utf-8").splitlines())
    tables = read_gold(str(month / "lake"), needed="broker_outages")
    return agreement(tables["broker_outages"], away_of(acts))


def in_words(agreement: Agreement, missing: Sequence[str]) -> str:
    """How many absences are right; each other one, and each that was not found, in a line."""
    counts = [f"{number} {verdict}" for verdict, number in sorted(agreement.counts.items())]
    missed = f"{agreement.played} were played, {len(agreement.missed)} not found"
    head = f"{len(agreement.answers)} absences: {', '.join(counts)}; {missed}"
    doubted = (f"{a.outcome}: {_says(row)}: {why}" for row, a in agreement.answers for why in a.against)
    return "\n".join((head, *doubted, *(f"not found: {_missed(away, missing)}" for away in agreement.missed)))


def _says(row: GoldRow) -> str:
    until = f"{row['up_at']:%m-%d %H:%M:%S}" if row["up_at"] else "?"
    return f"broker {row['broker']} {row['kind']}, {row['confidence']}, {row['down_at']:%m-%d %H:%M:%S} to {until}"


def _missed(away: Away, missing: Sequence[str]) -> str:
    """With the files of that day that are missing."""
    files = ", ".join(file for file in missing if f"{away.gone_at:%Y-%m-%d}" in file)
    what = f"broker {away.broker} {' and '.join(sorted(away.kinds))} at {away.gone_at:%m-%d %H:%M:%S}"
    return f"{what}; missing that day: {files or 'no files'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Lay a month and audit it. Returns 0 where no absence is wrong, 1 where one is, or the audit's own exit code."""
    parser = argparse.ArgumentParser(prog="python -m lab.drill.month", description="Audit a month of a recorded night.")
    parser.add_argument("night", type=Path, help="a folder below .drill/, a recording, or a month of one")
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--missing", type=float, default=0.1, help="the share of all files that is taken out")
    parser.add_argument("--minutes", type=int, default=60, help="how often logs are rotated")
    parser.add_argument("--seed", type=int, default=1, help="says which files are missing")
    options = parser.parse_args(arguments)
    month = options.night
    if not (month / MONTH).exists():
        month = DRILLS / f"month-{month.name}-{options.days}-{options.minutes}-{options.seed}"
        lay(options.night, month, options.days, options.missing, options.minutes, options.seed)
        words = [word for name in ("logs", "lake") for word in (f"--{name}", str(month / name))]
        audited = subprocess.run([sys.executable, "-m", "kafka_hindsight.cli.main", "audit", *words], cwd=HOME)
        if audited.returncode:
            return audited.returncode
    agreement = agreement_of(month)
    print(month, in_words(agreement, json.loads((month / MONTH).read_text(encoding="utf-8"))["missing"]), sep="\n")
    return 1 if agreement.counts[WRONG] else 0


if __name__ == "__main__":
    sys.exit(main())
