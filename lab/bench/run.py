"""The bench: `python -m lab.bench.run [--only PART ...] [--short]`, on the cores that --cores names.

Each part measures one thing; its figures are kept in lab/bench/figures.json with date and commit, and docs/speed.md and
its picture are made from all of them. --short takes about a minute, prints ratios and keeps nothing.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab.bench import anchors, cluster, commits, forms, judgements, nights, page
from lab.bench.figures import keep, ratios
from lab.bench.works import BenchFigures, measured

MB = 600
"""The input on which engines are compared."""

GROWTH = (100, 300, 1000, 3000)
NIGHTS = (1, 11, 111)
"""How often the recorded night's 18 groups are multiplied: 18, 198 and 1,998 groups."""

FORMS_MB = 100
CLUSTER_MB, WORKERS = 1000, 3
ROUNDS = 5
COMMITS_ROUNDS = 2
SHORT_MB, SHORT_ROUNDS = 50, 2


class Bench:
    """Where the bench runs: its cores, the folder of its inputs, and the largest input that it makes."""

    def __init__(self, cores: str, folder: Path, most_mb: float) -> None:
        self.cores, self.folder, self.most_mb = cores, folder, most_mb

    def engines(self, rounds: int = ROUNDS) -> BenchFigures:
        """Every engine on the same bytes. Ingest takes turns with the copy, in a process that has done both before."""
        night = str(nights.make_night(self.folder, min(MB, self.most_mb)))
        figures: BenchFigures = {
            name: [self._do("engine", name=name, night=night) for _ in range(rounds)] for name in anchors.WITHOUT_SPARK
        }
        figures["rounds"] = self._do("warm", night=night, rounds=rounds)["rounds"]
        return figures

    def forms(self) -> BenchFigures:
        """Ingest of one night in other layouts and envelopes."""
        return self._do(
            "forms", night=str(nights.make_night(self.folder, min(FORMS_MB, self.most_mb))), names=forms.INGESTED
        )

    def growth(self) -> BenchFigures:
        """Ingest of more and more bytes, each in a process of its own."""
        return {str(mb): self._cold(nights.make_night(self.folder, mb)) for mb in GROWTH if mb <= self.most_mb}

    def groups(self) -> BenchFigures:
        """Both steps by Spark on nights of more and more groups, with readings of the cluster: what sizing rests on."""
        sizes = {times: times * nights.BYTES / 1e6 for times in NIGHTS}
        return {str(n): self._both(nights.make_night(self.folder, mb)) for n, mb in sizes.items() if mb <= self.most_mb}

    def judgements(self) -> BenchFigures:
        """One huge key of a judgement, as one Python worker gets it."""
        return {
            what: {str(size): self._do("judgement", what=what, size=size) for size in sizes}
            for what, sizes in judgements.SIZES.items()
        }

    def commits(self, count: int = commits.COUNT) -> BenchFigures:
        """The same commits live, in segments and in JSON lines, by turns."""
        with tempfile.TemporaryDirectory() as folder:
            self._do("lay_commits", folder=folder, count=count)
            return {
                way: [self._do("commits", way=way, folder=folder, count=count) for _ in range(COMMITS_ROUNDS)]
                for way in commits.WAYS
            }

    def audit(self) -> BenchFigures:
        """Whole audits of the recorded night: into a fresh lake, then into the same lake again."""
        with tempfile.TemporaryDirectory() as lake:
            return {name: self._do("audit", lake=lake) for name in ("fresh lake", "same lake")}

    def cluster(self) -> BenchFigures:
        """Both steps on several workers, on all cores of this machine."""
        return cluster.measure(nights.make_night(self.folder, min(CLUSTER_MB, self.most_mb)), WORKERS)

    def _cold(self, night: Path) -> BenchFigures:
        with tempfile.TemporaryDirectory() as lake:
            return self._do("cold", night=str(night), lake=lake)

    def _both(self, night: Path) -> BenchFigures:
        with tempfile.TemporaryDirectory() as lake:
            ingest = self._do("cold", night=str(night), lake=lake, with_snapshots=True, with_spark=True)
            return {"ingest": ingest, "rebuild": self._do("rebuild", night=str(night), lake=lake)}

    def _do(self, work: str, **arguments: Any) -> BenchFigures:
        return measured(work, self.cores, **arguments)


PARTS: Mapping[str, Callable[[Bench], BenchFigures]] = {
    p.__name__: p
    for p in (
        Bench.engines,
        Bench.forms,
        Bench.growth,
        Bench.groups,
        Bench.judgements,
        Bench.commits,
        Bench.audit,
        Bench.cluster,
    )
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="these parts and no others")
    parser.add_argument("--short", action="store_true", help="a minute, ratios only")
    parser.add_argument("--cores", default=",".join(map(str, sorted(os.sched_getaffinity(0))[-2:])))
    parser.add_argument("--up-to", type=float, default=max(GROWTH), help="megabytes of the largest input", metavar="MB")
    parser.add_argument("--inputs", type=Path, help="where inputs stay for the next run; default: nowhere")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.cores, options.inputs or Path(temporary), SHORT_MB if options.short else options.up_to)
        if options.short:
            print("\n".join(ratios(bench.engines(SHORT_ROUNDS))))
            return
        for name in options.only:
            keep(name, PARTS[name](bench), options.cores)
            page.write()
            print("\n".join((f"{name}: done", *page.printed(name))), flush=True)


if __name__ == "__main__":
    main()
