"""Lines, names and readings that are broken or hostile: each is counted once, and none ends the run."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from kafka_hindsight.kafka_records.group_record_values import Malformed, decode_group_record
from kafka_hindsight.knowledge.layouts import LAYOUTS
from kafka_hindsight.logs.reading import read_record
from lab.chaos.kills import KillCount
from lab.chaos.worker import Worker

NAMES = (
    "server.log.2026-11-20T10:00", "a:b.log", "it's.log", 'a"b.log', "*.log", "[a].log", "{a,b}.log", "%41.log",
    "a\\b.log", "a b.log", "a#b?.log", "\u202elog.log", "<img src=x onerror=alert(1)>.log", "-rf.log", "$(id).log",
    "a\nb.log", "é.log", f"{'n' * 240}.log", ";drop table.log", "..log.log",
)  # fmt: skip
"""Names of files that Hadoop, a shell, a glob, a browser or SQL would take for something else."""

_YEARS = (b"9999", b"0001", b"0000", b"2926", b"1969")
_SCRAPS = (
    b"\x00", b"\xff\xfe", b"\x1b[2J", b"\xe2\x80\xae", b"[", b"]", b"{", b"=", b", ", b"\t", b"\r", b"-", b"-1",
    b"1e999", b"99999999999999999999", b"null", b"Some(null)", b"'; DROP TABLE gold.rebalances; --",
    b"<script>alert(1)</script>",
)  # fmt: skip
_WORDS = ("null", "-1", "1e999", "[]", "{}", '""', "9223372036854775808", "true", "[[[[]]]]", '"\\u0000"', "10" * 40)


_MOST_SECONDS = 1.0
"""Of processor time, for one line."""


def mutated(rng: random.Random, lines: Sequence[bytes], count: int) -> list[bytes]:
    """As many lines as asked for, each one of those given with one to four changes; none holds a line feed."""
    return [_mutated(rng, rng.choice(lines)).replace(b"\n", b" ") for _ in range(count)]


def _mutated(rng: random.Random, line: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(line) + 1)
        upto = min(len(line), at + rng.choice((0, 1, 1, 5, 40)))
        line = rng.choice(
            (
                line[:at] + line[upto:],
                line[:at] + rng.choice(_SCRAPS) + line[upto:],
                line[:at] + line[at:upto] * rng.choice((2, 50)) + line[upto:],
                line[:at] + bytes(rng.randrange(256) for _ in range(upto - at)) + line[upto:],
                line[:1] + rng.choice(_YEARS) + line[5:],
            )
        )
    return line


def one_by_one(rng: random.Random, lines: Sequence[bytes], count: int) -> KillCount:
    """As many mutated lines, each read as a worker of Spark reads a record: each has one fate, and none holds it up."""
    outcome = KillCount(f"{count:,} mutated lines, one by one", attempts=count)
    fates, slowest = Counter[str](), 0.0
    for line in mutated(rng, lines, count):
        text = line.decode(errors="replace")
        layout = next((layout_.name for layout_ in LAYOUTS if re.match(layout_.head, text)), None)
        began = time.process_time()
        fates[read_record(layout, text).fate.value] += 1
        slowest = max(slowest, time.process_time() - began)
    outcome.equal, outcome.whole = fates.total(), count if slowest < _MOST_SECONDS else 0
    outcome.note(f"{dict(sorted(fates.items()))}; the slowest took {slowest * 1000:.0f} ms of processor time")
    return outcome


def records(rng: random.Random, captured: Sequence[tuple[bytes, bytes]], count: int) -> KillCount:
    """As many records of `__consumer_offsets` with changed keys and values: each is read, or refused in a sentence."""
    outcome = KillCount(f"{count:,} mutated records of groups, one by one", attempts=count)
    ends = Counter[str]()
    for _ in range(count):
        key, value = rng.choice(captured)
        changed = (_mutated(rng, key), value) if rng.random() < 0.3 else (key, _mutated(rng, value))
        try:
            decode_group_record(*changed)
            ends["read"] += 1
        except Malformed as refusal:
            ends["refused" if str(refusal) else "refused without a word"] += 1
    outcome.equal = outcome.whole = ends["read"] + ends["refused"]
    outcome.note(str(dict(sorted(ends.items()))))
    return outcome


def captured_records(file: Path) -> list[tuple[bytes, bytes]]:
    """Keys and values that brokers wrote, tombstones left out."""
    samples = map(json.loads, file.read_text().splitlines())
    return [(bytes.fromhex(s["key"]), bytes.fromhex(s["value"])) for s in samples if s["value"]]


def lines_of(night: Path) -> list[bytes]:
    """All lines of a night's logs."""
    return [line for log in sorted((night / "logs").rglob("*.log")) for line in log.read_bytes().splitlines()]


def broken_lines(
    worker: Worker, rng: random.Random, folder: Path, night: Path, settings: Mapping[str, Any], count: int
) -> KillCount:
    """A whole ingest of a night with as many mutated lines, spread over files with hostile names."""
    outcome = KillCount(f"ingest of {count:,} mutated lines in {len(NAMES)} files with hostile names", attempts=1)
    logs, lake = folder / "mutated", folder / "mutated-lake"
    _lay(rng, logs, night, count // len(NAMES))
    answer = worker.run("ingest", {**settings, "logs": str(logs), "lake": str(lake), "snapshots": None})
    if answer.sentences:
        outcome.note(f"exit code {answer.code}: {answer.sentences}")
        return outcome
    summary = json.loads((lake / "runs" / settings["run_id"] / "ingest.json").read_text())
    coverage = _rows(lake, "quality/coverage")
    fates = {name: sum(r[name] for r in coverage) for name in ("events", "ignored", "unparsed", "quarantined")}
    outcome.equal = int(sum(fates.values()) == sum(r["lines_in"] for r in coverage))
    ledger = {r["file"]: r["line_count"] for r in _rows(lake, "bronze/log_files")}
    not_read = _unread(logs, ledger)
    outcome.whole = int(
        all(any(sentence.startswith(name) for sentence in summary["files_not_read"]) for name in not_read)
    )
    outcome.note(
        f"{sum(fates.values()):,} lines in the window: {fates}; {sum(ledger.values()):,} lines were read in"
        f" {len(ledger)} files; not read and named: {not_read}; {len(summary['warnings'])} warnings"
    )
    return outcome


def _lay(rng: random.Random, logs: Path, night: Path, share: int) -> None:
    lines = lines_of(night)
    for name in NAMES:
        place = logs / f"broker-{rng.randrange(1, 4)}" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"".join(line + b"\n" for line in mutated(rng, lines, share)))


def _unread(logs: Path, ledger: Mapping[str, int]) -> list[str]:
    """The files of which the ledger does not hold each physical line."""
    line_counts = {str(f.relative_to(logs)): f.read_bytes().count(b"\n") for f in logs.rglob("*") if f.is_file()}
    return sorted(name for name, count in line_counts.items() if ledger.get(name) != count)


def broken_readings(
    worker: Worker, rng: random.Random, folder: Path, night: Path, settings: Mapping[str, Any], count: int
) -> KillCount:
    """A whole ingest with readings of the cluster in which values are replaced and texts are cut."""
    outcome = KillCount(f"ingest of {count} mutated readings of the cluster")
    sound = (night / "snapshots.jsonl").read_text().splitlines()
    file = folder / "mutated.jsonl"
    file.write_text("".join(_reading(rng, rng.choice(sound)).replace("\n", " ") + "\n" for _ in range(count)))
    lake = folder / "readings-lake"
    answer = worker.run("ingest", {**settings, "lake": str(lake), "snapshots": str(file)})
    outcome.attempts = 1
    if answer.sentences:
        outcome.note(f"exit code {answer.code}: {answer.sentences}")
        return outcome
    reading_count, broken = len(_rows(lake, "bronze/snapshot_readings")), _rows(lake, "quality/quarantine")
    outcome.equal = outcome.whole = 1
    outcome.note(f"{reading_count} readings are kept, {len(broken)} rows are in quarantine")
    return outcome


def _reading(rng: random.Random, text: str) -> str:
    kind = rng.randrange(4)
    if kind == 0:
        return text[: rng.randrange(len(text))]
    values = [i for i, c in enumerate(text) if c == ":"]
    for _ in range(rng.choice((1, 2, 8))):
        at = rng.choice(values)
        if at < len(text):
            ends = [i for i in (text.find(",", at), text.find("}", at), text.find("]", at)) if i > 0] or [at + 1]
            text = text[: at + 1] + rng.choice(_WORDS) + text[min(ends) :]
    return text


def _rows(lake: Path, table: str) -> list[dict[str, Any]]:
    return list(DeltaTable(str(lake / table)).to_pyarrow_table().to_pylist())
