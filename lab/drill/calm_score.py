"""What an audit says of a calm day, ten minutes at a time: `python -m lab.drill.calm_score FOLDER --score first`.

Each ten minutes are audited as a night is, one after the other into one lake, from the folder of a drill or of a
recording. `docs/calm.jsonl` keeps what each said; `docs/calm_reasons.toml` says of each sentence whether it is right.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from kafka_hindsight.alerts.sightings import of_findings, of_incidents
from kafka_hindsight.catalog.codes import FindingSeverity, Urgency
from kafka_hindsight.catalog.rows import Finding, Incident, NightSummary
from kafka_hindsight.knowledge.rules import STANDING_RULES
from kafka_hindsight.report.figures import needs
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.grouping import grouped, split_by
from kafka_hindsight.sql.lake import Lake, open_lake
from lab.drill.harms import truth_lines
from lab.drill.truth import read_truth
from tools.pages.markdown import as_table, prose

KEPT = HOME / "docs" / "calm.jsonl"
REASONS = HOME / "docs" / "calm_reasons.toml"
WINDOW = timedelta(minutes=10)
SCORES = ("first", "later")
HEADS = ("from", "badge", "pages", "asks to look", "findings", "standing facts")


@dataclass(frozen=True)
class CalmWindow:
    """Ten minutes of a calm day, as their audit judged them.

    `score`: `first`, with the code that had never met the day, or `later`. `asks`: the headlines of the incidents that
    ask for something; `findings`: those about what happened, with their severity; `standing`: those about settings.
    """

    recording: str
    kafka: str
    score: str
    start: str
    badge: str
    pages: int
    asks: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()


class Reason(NamedTuple):
    """The judgement of a person about a sentence that begins with `words`."""

    words: str
    is_right: bool
    why: str


def windows_of(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The stretches of ten minutes between two instants, the last one as short as it is."""
    while start < end:
        yield start, min(start + WINDOW, end)
        start += WINDOW


def score(folder: Path, which: str) -> list[CalmWindow]:
    """Audit a calm day, ten minutes at a time."""
    acts = read_truth(truth_lines(folder / "truth.jsonl"))
    kafka = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))["kafka"]
    windows = [*windows_of(acts[0].at, acts[-1].at)]
    with tempfile.TemporaryDirectory() as temporary:
        lake = f"{temporary}/lake"
        for start, end in windows:
            _audit(folder, lake, start, end)
        with open_lake(lake) as opened:
            return [_judged(opened, folder.name, kafka, which, *window) for window in windows]


def _audit(folder: Path, lake: str, start: datetime, end: datetime) -> None:
    inputs = {"logs": "logs", "client-logs": "clients", "snapshots": "snapshots.jsonl"}
    options = [word for name, path in inputs.items() for word in (f"--{name}", str(folder / path))]
    times = ["--from", start.isoformat(), "--to", end.isoformat()]
    command = [sys.executable, "-m", "kafka_hindsight.cli.main", "audit", "--engine", "local", "--lake", lake]
    subprocess.run([*command, *options, *times], cwd=HOME, env={**os.environ}, check=True, stdout=subprocess.DEVNULL)


def _judged(lake: Lake, recording: str, kafka: str, which: str, start: datetime, end: datetime) -> CalmWindow:
    night = next(n for n in lake.rows(NightSummary) if n.window_from.astimezone(UTC) == start)
    incidents = [i for i in lake.rows(Incident) if start <= i.started_at < end]
    findings = [f for f in lake.rows(Finding) if start <= f.first_at < end]
    standing, events = split_by(findings, lambda f: f.rule_id in STANDING_RULES)
    return CalmWindow(
        recording,
        kafka,
        which,
        start.isoformat(timespec="seconds"),
        str(night.state),
        _pages(incidents, findings, night),
        tuple(i.headline or "" for i in incidents if needs(i) is not Urgency.CALM),
        tuple(f"{f.severity}: {f.message}" for f in events),
        tuple(f.message for f in standing),
    )


def _pages(incidents: Sequence[Incident], findings: Iterable[Finding], night: NightSummary) -> int:
    """The number of alerts of a window that call on-call."""
    windows = [{"cluster": night.cluster, "window_from": night.window_from, "window_to": night.window_to}]
    rows = [finding.as_dict() for finding in findings]
    sightings = [*of_incidents(incidents, windows), *of_findings(rows, windows, (), incidents)]
    return sum(s.severity == FindingSeverity.CRITICAL and not (s.declared or s.calm_reason) for s in sightings)


def read_windows(text: str) -> list[CalmWindow]:
    """The windows that are kept."""
    return [CalmWindow(**_with_tuples(json.loads(line))) for line in text.splitlines()]


def _with_tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def with_windows(windows: Sequence[CalmWindow], scored: Sequence[CalmWindow]) -> list[CalmWindow]:
    """The windows that are kept from now on: a first score stays, a later one takes the place of the one before."""
    places = {(w.recording, w.score) for w in scored}
    firsts = {(w.recording, w.score) for w in windows if w.score == SCORES[0]}
    stay = [w for w in windows if (w.recording, w.score) not in places or (w.recording, w.score) in firsts]
    return [*stay, *(w for w in scored if (w.recording, w.score) not in firsts)]


def calm_parts(windows: Sequence[CalmWindow], reasons: Sequence[Reason]) -> Iterator[str]:
    """The parts of the page of calibration about calm days."""
    for recording, which in dict.fromkeys((w.recording, w.score) for w in windows):
        own = [w for w in windows if (w.recording, w.score) == (recording, which)]
        yield f"### {recording} ({own[0].kafka}), {which} score"
        yield as_table(HEADS, map(_cells, own))
        sentences = [s for w in own for s in (*w.asks, *w.findings, *w.standing)]
        by_judgement = grouped(sentences, lambda s: _judgement(s, reasons))
        rows = [(prose(of[0]), str(len(of)), *judgement) for judgement, of in by_judgement.items()]
        heads = ("sentence, the first of its kind", "times", "right", "why")
        yield as_table(heads, rows) if rows else "It says nothing that could be wrong."


def _cells(window: CalmWindow) -> tuple[str, ...]:
    counts = (window.pages, len(window.asks), len(window.findings), len(window.standing))
    return window.start[11:16], window.badge.upper(), *map(str, counts)


def _judgement(sentence: str, reasons: Sequence[Reason]) -> tuple[str, str]:
    reason = next((r for r in reasons if r.words in sentence), None)
    return ("yes" if reason.is_right else "**no**", prose(reason.why)) if reason else ("not judged", "")


def read_reasons(text: str) -> list[Reason]:
    """The judgements of people about sentences."""
    rows: Sequence[Mapping[str, object]] = tomllib.loads(text).get("reason", [])
    return [Reason(str(r["words"]), bool(r["is_right"]), str(r["why"])) for r in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    """Score a calm day and keep what was said of it."""
    parser = argparse.ArgumentParser(prog="python -m lab.drill.calm_score", description="Score a calm day.")
    parser.add_argument("folder", type=Path, help="the folder of a drill or of a recording")
    parser.add_argument("--score", choices=SCORES, default=SCORES[1])
    options = parser.parse_args(arguments)
    scored = score(options.folder.resolve(), options.score)
    windows = read_windows(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    lines = (json.dumps(asdict(window)) + "\n" for window in with_windows(windows, scored))
    KEPT.write_text("".join(lines), encoding="utf-8")
    for window in scored:
        print(" | ".join(_cells(window)))
        print("\n".join(f"    {s}" for s in (*window.asks, *window.findings, *window.standing)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
