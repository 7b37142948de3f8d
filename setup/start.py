"""`./hindsight VERB`: build what an audit lacks, and run the verb. Verbs that only read never build.

Standard library only: set-up may not have run yet.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kafka_hindsight.catalog.steps import BY_NAME, REPORT
from kafka_hindsight.start import launch
from kafka_hindsight.start.python_child import command_of, variables
from setup import build

BUILDERS = {"audit", "snapshot", *BY_NAME} - {REPORT.name}
"""The verbs that build what they lack: those that add to a lake. The verb `report` reads; `publish` runs that step."""

_HELP = {"--help", "--version"}


def main(arguments: Sequence[str]) -> int:
    """Replace this process by the verb's. Return 2 if something is missing and may not be built."""
    verb = next(iter(arguments), "")
    is_help = not _HELP.isdisjoint(arguments)
    if verb in BUILDERS and not is_help and (code := build.ensure(parts_for(arguments, os.environ))):
        return code
    module, python = f"kafka_hindsight.cli.{'doctor' if verb == 'doctor' else 'main'}", launch.spark_python()
    if not python.exists():
        if not is_help and verb and verb != "doctor":
            print(f"Found: no {python}. Needed: set-up. What to do: ./hindsight audit, or make setup.", file=sys.stderr)
            return 2
        module, python = module.replace(".main", ".verbs"), Path(sys.executable)
    words = arguments[1:] if verb == "doctor" else arguments
    sys.stdout.flush()
    os.execve(python, command_of(module, *words, python=python), {**os.environ, **variables()})


def parts_for(arguments: Sequence[str], environment: Mapping[str, str]) -> list[build.BuildPart]:
    """The parts that a verb needs, and those that were built before: they stay current. The installer builds others."""
    engines = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    engines.add_argument("--engine", default=environment.get("ENGINE") or "auto")
    engine = engines.parse_known_args(arguments)[0].engine
    names = {"samples", "spark" if launch.uses_spark(engine, is_large=False) else "local"}
    names |= {part.name for part in build.PARTS if build.stamp_of(part).exists()}
    names = names - {"uv", "local"} | {"jars"} if "spark" in names else names - {"uv"}
    needed = [part for part in build.PARTS if part.name in names]
    return needed if all(map(build.is_current, needed)) else [build.PARTS[0], *needed]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
