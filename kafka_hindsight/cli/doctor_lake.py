"""`hindsight doctor --lake`: what is not whole in a lake's tables; with --repair, what can be mended without a loss is.

Prints what it finds as JSON: state, what, and what to do.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from functools import partial

from deltalake import DeltaTable

from kafka_hindsight.catalog import Table
from kafka_hindsight.lake import check as lake_check
from kafka_hindsight.lake import publication
from kafka_hindsight.lake.damage import damages
from kafka_hindsight.lake.lock import held
from kafka_hindsight.lake.repair import repair
from kafka_hindsight.lake.version import lake_version
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.start import launch

Told = tuple[str, str, str]


def main(arguments: list[str] | None = None) -> int:
    """Checks one lake. Gives: 0; what was found is in what is printed."""
    parser = argparse.ArgumentParser(prog="hindsight doctor --lake", description=__doc__.splitlines()[0])
    parser.add_argument("lake")
    parser.add_argument("--repair", action="store_true")
    given = parser.parse_args(arguments)
    launch.keep_private()
    lake = given.lake.rstrip("/") if is_uri(given.lake) else os.path.abspath(given.lake)
    lake_version(lake)
    print(json.dumps([*(_mended(lake) if given.repair else _found(lake)), *_checked(lake)]))
    return 0


def _found(lake: str) -> Iterator[Told]:
    again = f"hindsight doctor --lake {masked(lake)} --repair"
    for damage in damages(lake):
        how = f" What to do: run `{again}`, or any step, which mends it first." if damage.mend else ""
        yield "missing", damage.kind.value, damage.says + how


def _mended(lake: str) -> Iterator[Told]:
    """Edge case: delta-rs restores here, as a second kind of writer; the lock keeps every step away meanwhile."""
    with held(lake, "step", "doctor --repair"):
        mended, left = repair(lake, partial(_restore, lake))
    yield from (("good", damage.kind.value, f"Mended. {damage.says}") for damage in mended)
    yield from (("missing", damage.kind.value, damage.says) for damage in left)


def _restore(lake: str, table: Table, version: int) -> None:
    DeltaTable(f"{lake}/{table.layer}/{table.name}").restore(version)


def _checked(lake: str) -> Iterator[Told]:
    problems = list(lake_check.check(lake))
    yield from (("missing", "tables", f"{said}\nWhat to do: {_TO_DO}") for said in problems)
    if not problems:
        count = len(publication.newest_versions(lake))
        yield "good", "tables", f"{count} tables: each commit and each file is whole, and what was published is there"


_TO_DO = (
    "bring that file back from a copy of the lake. A table of gold may be moved out of the lake instead, one of"
    " silver or quality together with quality.parsed_hours; then run `hindsight audit` with FROM and TO for each window"
    " to keep."
)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # Threads of delta-rs may outlive the interpreter, and abort the process as it ends.
