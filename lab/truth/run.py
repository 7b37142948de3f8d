"""How right audits of labelled public logs are: `make truth`, or `python -m lab.truth.run [NAME...] [--keep]`.

Exit code 0: everything that could be fetched was scored; 2: a file of labels cannot be read, or nothing was fetched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from kafka_hindsight.shared.exits import BadInput
from lab.drill import calibration
from lab.drill.rows import read_gold
from lab.truth.audits import audit
from lab.truth.folders import NotFetched, fetch, text_of
from lab.truth.labels import LABELS, Truth, read_truth
from lab.truth.score import BLAMES, EXACT, SECOND_STARTS, Answer, Calm, answers, calms
from lab.truth.tables import as_text, misses, section


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetches, audits and scores every folder, or those named; prints misses, figures and tables."""
    parser = argparse.ArgumentParser(prog="python -m lab.truth.run", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="files of labels in tests/truth, such as owner+name; default: all")
    parser.add_argument("--keep", action="store_true", help="write the tables into docs/calibration.md")
    options = parser.parse_args(arguments)
    try:
        paths = [LABELS / f"{name}.toml" for name in options.names] or sorted(LABELS.glob("*.toml"))
        truths = [read_truth(path) for path in paths]
    except (BadInput, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    scored = [own for truth in truths if (own := _scored(truth))]
    if not scored:
        print("nothing was fetched: a network is needed, or TRUTH_FOLDERS=folder of git repositories", file=sys.stderr)
        return 2
    labelled, quiet = [a for own, _ in scored for a in own], [c for _, own in scored for c in own]
    print("\n".join(("", *misses(labelled, quiet), "", section(labelled, quiet))))
    if options.keep:
        calibration.STRANGERS.write_text(as_text(labelled, quiet), encoding="utf-8")
        calibration.write_page()
    return 0


def _scored(truth: Truth) -> tuple[list[Answer], list[Calm]] | None:
    """The answers of one folder; None where it could not be fetched."""
    try:
        folder = fetch(truth)
        texts = text_of(folder, truth.lines())
    except (NotFetched, OSError) as error:
        print(f"{truth.name}: not fetched, left out of the figures: {error}", flush=True)
        return None
    lake, output = audit(truth, folder)
    why = " ".join(output.split())[-300:]
    tables = read_gold(str(lake), (*BLAMES, SECOND_STARTS))
    own = answers(truth, tables, texts, why or "no row")
    print(f"{truth.name}: {sum(a.outcome == EXACT for a in own)} of {len(own)} exact. {why}", flush=True)
    return own, calms(truth, tables)


if __name__ == "__main__":
    sys.exit(main())
