"""How right audits of labelled public logs are: `make truth`, or `python -m lab.truth.run [NAME...] [--keep]`.

Exit code 0: everything that could be fetched was scored; 2: a file of labels cannot be read, or nothing was fetched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import chain

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from lab.drill.score import read_gold
from lab.truth.audits import audit
from lab.truth.folders import NotFetched, fetch, text_of
from lab.truth.labels import LABELS, Truth, read_truths
from lab.truth.score import BLAMES, EXACT, Answer, Calm, answers, calms, unanswered
from lab.truth.tables import figures, missed, section

LEDGER = HOME / "docs" / "truth.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetches, audits and scores every folder, or those named; prints figures, tables and misses."""
    parser = argparse.ArgumentParser(prog="python -m lab.truth.run", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="files of labels in tests/truth, such as owner+name; default: all")
    parser.add_argument("--keep", action="store_true", help="write the tables into docs/truth.md")
    options = parser.parse_args(arguments)
    try:
        truths = read_truths([LABELS / f"{name}.toml" for name in options.names] or LABELS.glob("*.toml"))
    except (BadInput, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    scored = [found for truth in truths if (found := _scored(truth))]
    if not scored:
        print("nothing was fetched: a network is needed, or TRUTH_FOLDERS=folder of git repositories", file=sys.stderr)
        return 2
    given, quiet = list(chain(*(a for a, _ in scored))), list(chain(*(c for _, c in scored)))
    print("\n".join(("", *missed(given, quiet), "", *figures(given, quiet), "", section(given, quiet))))
    if options.keep:
        LEDGER.write_text(section(given, quiet), encoding="utf-8")
    return 0


def _scored(truth: Truth) -> tuple[list[Answer], list[Calm]] | None:
    """The answers of one folder; None where it could not be fetched."""
    try:
        folder = fetch(truth)
        texts = text_of(folder, truth.lines())
    except (NotFetched, OSError) as error:
        print(f"{truth.name}: not fetched, left out of the figures: {error}", flush=True)
        return None
    lake, why = audit(truth, folder)
    tables = read_gold(str(lake), BLAMES)
    if "rebalances" not in tables:
        print(f"{truth.name}: no audit: {why.splitlines()[-1] if why else 'nothing was published'}", flush=True)
        return unanswered(truth, why), calms(truth, {})
    found = answers(truth, tables, texts)
    print(f"{truth.name}: {sum(a.outcome == EXACT for a in found)} of {len(found)} exact", flush=True)
    return found, calms(truth, tables)


if __name__ == "__main__":
    sys.exit(main())
