"""One flipped bit in one file of a lake: doctor, readers or the next audit name it, or all tables stay as they are.

`python -m lab.chaos.flips LAKE` asks one lake: what doctor says, and the answers to five questions.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from deltalake import DeltaTable

from kafka_hindsight.doctor import lake_check
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.sql.lake_views import open_views
from lab.chaos.kills import KillCount
from lab.chaos.lakes import Hashes, contents, others
from lab.chaos.worker import Worker

QUESTIONS = (
    "SELECT headline, harm_rank FROM gold.incidents ORDER BY ALL",
    "SELECT group_id, to_generation, cause, confidence FROM gold.rebalances ORDER BY ALL",
    "SELECT topic, partition, epoch_to, kind FROM gold.failovers ORDER BY ALL",
    "SELECT source, lines_in, events, ignored, unparsed, quarantined FROM quality.coverage ORDER BY ALL",
    "SELECT kind, count(*) FROM silver.events GROUP BY ALL ORDER BY ALL",
)


class Answers(NamedTuple):
    """What doctor and readers say of a lake: sentences about damage, and answers."""

    sentences: list[str]
    answers: list[Any]


def flips(
    worker: Worker, rng: random.Random, lake: Path, steps: Sequence[str], settings: Mapping[str, Any], count: int
) -> Iterator[KillCount]:
    """Flip as many bits in a lake, half of them after maintenance. Files of all kinds take turns.

    What neither doctor nor a question shows is audited again: then the tables are those of an undisturbed audit, or the
    audit names the damage.
    """
    for state in ("as it was written", "compacted"):
        if state == "compacted":
            worker.do("maintain", {**settings, "lake": str(lake)})
            for log in lake.glob("*/*/_delta_log"):
                DeltaTable(str(log.parent)).create_checkpoint()
        outcome = KillCount(f"flipped bits in a lake {state}")
        before, again = _ask(lake), _audited(worker, shutil.copytree(lake, lake.parent / "again"), steps, settings)
        for name in _draw(rng, lake, count // 2):
            place = Path(shutil.copytree(lake, lake.parent / "flipped"))
            _flip(rng, place / name)
            _judge(outcome, worker, place, name, steps, settings, before, again)
            shutil.rmtree(place)
        shutil.rmtree(lake.parent / "again")
        yield outcome


def _draw(rng: random.Random, lake: Path, count: int) -> Iterator[Path]:
    """Draw files, one of each kind in turn."""
    files = sorted(p.relative_to(lake) for p in lake.rglob("*") if p.is_file() and p.stat().st_size)
    by_kind = grouped(files, _kind)
    for number in range(count):
        kinds = sorted(by_kind)
        yield rng.choice(by_kind[kinds[number % len(kinds)]])


def _kind(name: Path) -> str:
    if "_delta_log" in name.parts:
        return "checkpoint" if "checkpoint" in name.name else "commit"
    return f"{name.parts[0]}{name.suffix}"


def _flip(rng: random.Random, file: Path) -> None:
    content = bytearray(file.read_bytes())
    bit = rng.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


def _judge(
    outcome: KillCount,
    worker: Worker,
    place: Path,
    name: Path,
    steps: Sequence[str],
    settings: Mapping[str, Any],
    before: Answers,
    again: Hashes,
) -> None:
    outcome.attempts += 1
    now = _ask(place)
    sentences = [s for s in now.sentences if s not in before.sentences]
    is_whole = bool(sentences) or now.answers == before.answers
    is_equal = bool(sentences)
    if not sentences:
        try:
            hashes = _audited(worker, place, steps, settings)
            is_equal = hashes == again
            if not is_equal:
                outcome.note(f"{name}: other rows in {others(hashes, again)}")
        except RuntimeError as refusal:
            sentences, is_equal = [str(refusal)], True
    outcome.reported += bool(sentences)
    outcome.equal += is_equal
    outcome.whole += is_whole
    if not is_whole:
        outcome.note(f"{name}: other answers without a sentence")
    print(f"  {name}: {sentences[0][:150] if sentences else 'harmless'}", file=sys.stderr, flush=True)


def _audited(worker: Worker, lake: Path | str, steps: Sequence[str], settings: Mapping[str, Any]) -> Hashes:
    """The contents of a lake after another audit. Raises RuntimeError if a step names a problem."""
    for step in steps:
        worker.do(step, {**settings, "lake": str(lake), "run_id": "chaos-again"})
    return contents(lake)


def _ask(lake: Path) -> Answers:
    """Ask a lake by a process of its own, which has checked nothing of it before."""
    command = [sys.executable, "-m", "lab.chaos.flips", str(lake)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=HOME)
    if process.returncode:
        return Answers([process.stderr.strip().splitlines()[-1]], [])
    return Answers(**json.loads(process.stdout))


def main(lake: str) -> None:
    """Print what doctor and readers say of a lake."""
    results, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(results):
        lake_check.main(lake)
    sentences = [text for state, what, text in json.loads(results.getvalue()) if state != "good"]
    answers = list[Any]()
    with contextlib.redirect_stderr(errors), open_views(lake) as connection:
        for question in QUESTIONS:
            try:
                answers.append(connection.execute(question).fetchall())
            except Exception as refusal:
                sentences.append(str(refusal))
    sentences += errors.getvalue().splitlines()
    print(json.dumps({"sentences": sentences, "answers": answers}, default=str))


if __name__ == "__main__":
    main(sys.argv[1])
