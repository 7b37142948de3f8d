"""How right audits of labelled public logs are: `make truth`, or `python -m lab.truth.run [NAME...] [--keep]`.

Exit code 0: everything that could be fetched was scored; 2: a file of labels cannot be read, or nothing was fetched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from lab.answers import EXACT
from lab.drill.calibration import NEWEST, STRANGERS, write_page
from lab.drill.rows import read_gold
from lab.truth.audits import audit
from lab.truth.folders import NotFetched, fetch, text_of
from lab.truth.label_expectations import OF_LABELS
from lab.truth.labels import APART, LABELS, Truth, label_files, read_truth
from lab.truth.score import Calm, LabelAnswer, answers, calms
from lab.truth.tables import as_text, misses, section

KEPT = {LABELS: STRANGERS, APART: NEWEST}
"""Each set of labels → the file that keeps its newest score."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetches, audits and scores every folder, or those named; prints misses, figures and tables, each set apart."""
    parser = argparse.ArgumentParser(prog="python -m lab.truth.run", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="files of labels in tests/truth, such as owner+name; default: all")
    parser.add_argument("--keep", action="store_true", help="write the tables into docs/calibration.md")
    options = parser.parse_args(arguments)
    try:
        sets = {folder: [read_truth(path) for path in label_files(folder, options.names)] for folder in KEPT}
        _check_names(options.names, sets)
    except (BadInput, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    scores = {folder: own for folder, truths in sets.items() if (own := [s for t in truths if (s := _scored(t))])}
    if not scores:
        print("nothing was fetched: a network is needed, or TRUTH_FOLDERS=folder of git repositories", file=sys.stderr)
        return 2
    for folder, scored in scores.items():
        labelled, quiet = [a for own, _ in scored for a in own], [c for _, own in scored for c in own]
        print("\n".join(("", f"# {folder.relative_to(HOME)}", *misses(labelled, quiet), "", section(labelled, quiet))))
        if options.keep:
            KEPT[folder].write_text(as_text(labelled, quiet), encoding="utf-8")
    if options.keep:
        write_page()
    return 0


def _check_names(names: Sequence[str], sets: Mapping[Path, Sequence[Truth]]) -> None:
    """Raises BadInput where a name has no file of labels."""
    missing = sorted(set(names) - {truth.name for truths in sets.values() for truth in truths})
    if missing:
        raise BadInput(f"no file of labels has the name {', '.join(missing)}; tests/truth has them")


def _scored(truth: Truth) -> tuple[list[LabelAnswer], list[Calm]] | None:
    """The answers of one folder; None where it could not be fetched."""
    try:
        folder = fetch(truth)
        texts = text_of(folder, truth.lines())
    except (NotFetched, OSError) as error:
        print(f"{truth.name}: not fetched, left out of the figures: {error}", flush=True)
        return None
    lake, output = audit(truth, folder)
    why = " ".join(output.split())[-300:]
    tables = read_gold(str(lake), {table for e in OF_LABELS.values() for table in e.tables})
    own = answers(truth, tables, texts, why or "no row")
    print(f"{truth.name}: {sum(a.outcome == EXACT for a in own)} of {len(own)} exact. {why}", flush=True)
    return own, calms(truth, tables)


if __name__ == "__main__":
    sys.exit(main())
