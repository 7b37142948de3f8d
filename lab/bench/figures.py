"""The figures of the bench, in lab/bench/figures.json, and what follows from them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime

from kafka_hindsight.settings.home import HOME
from lab.bench import anchors
from lab.bench.works import BenchFigures

FIGURES = HOME / "lab" / "bench" / "figures.json"


def keep(part: str, figures: BenchFigures, cores: str) -> None:
    """Keep the figures of a part with the circumstances in which they were measured."""
    parts = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    parts[part] = {"measured": circumstances(cores), "figures": figures}
    FIGURES.write_text(json.dumps(parts, indent=1, sort_keys=True) + "\n")


def circumstances(cores: str) -> BenchFigures:
    """When, of which commit, and on what."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HOME, capture_output=True, text=True, check=True
    )
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit.stdout.strip(),
        "cores": cores,
        "cores_in_all": os.cpu_count(),
        "machine": platform.machine(),
        "load": round(os.getloadavg()[0], 1),
    }


def best(figures: BenchFigures) -> Mapping[str, BenchFigures]:
    """The round of each engine with the least wall time. The first round of a warm JVM does not count."""
    warm = figures["rounds"][1:] or figures["rounds"]
    names = [*anchors.WITH_SPARK, "ingest"]
    rounds = {**{n: figures[n] for n in anchors.WITHOUT_SPARK}, **{n: [r[n] for r in warm] for n in names}}
    return {name: min(rounds_of_engine, key=lambda used: used["wall_s"]) for name, rounds_of_engine in rounds.items()}


def ratios(figures: BenchFigures) -> list[str]:
    """How many times as long as each anchor our ingest takes."""
    engines = best(figures)
    ours = engines["ingest"]
    lines = [
        f"Ingest of {ours['read_mb']:.0f} MB, warm: {ours['wall_s']:.1f} s, {ours['cpu_s']:.1f} processor seconds."
    ]
    for name, used in engines.items():
        if name != "ingest":
            wall, cpu = ours["wall_s"] / used["wall_s"], ours["cpu_s"] / used["cpu_s"]
            lines.append(
                f"  {name:12} {used['wall_s']:7.2f} s: {wall:6.1f}x in wall time, {cpu:6.1f}x in processor time"
            )
    return [*lines, beside(figures)]


def beside(figures: BenchFigures) -> str:
    """How many times as long as the copy beside it ingest took, round by round: what a busy machine distorts least."""
    wall, cpu = (
        ", ".join(f"{r['ingest'][name] / r['spark copy'][name]:.1f}" for r in figures["rounds"])
        for name in ("wall_s", "cpu_s")
    )
    return (
        f"Ingest beside the copy of the same round, from the first on: {wall}x in wall time, {cpu}x in processor time."
    )
