"""Check this machine; with --lake its tables, with --bootstrap a cluster, with --logs a sample of the logs.

Standard library only: it runs where set-up has not run yet.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator

from kafka_hindsight.doctor import doctor_checks
from kafka_hindsight.doctor.doctor_checks import CheckResult
from kafka_hindsight.settings.home import LAKE

_MARKS = {"good": "✓", "missing": "✗", "later": "·"}

_LOGS = (("LOGS", "--logs", "PATTERN"), ("CLIENT_LOGS", "--client-logs", "CLIENT_PATTERN"))


def main(arguments: list[str] | None = None) -> int:
    """Print the results. Return 0, or 2 if something is missing: its line says what to do."""
    options = parser().parse_args(arguments)
    results = list(_checks(options))
    if options.json:
        print(json.dumps([check._asdict() for check in results], indent=2))
    else:
        _print(results)
    return 2 if any(check.state == "missing" for check in results) else 0


def parser() -> argparse.ArgumentParser:
    """The options, without Typer, which set-up installs. The default of each is the variable of its name."""
    options = argparse.ArgumentParser(prog="hindsight doctor", description=__doc__.splitlines()[0])
    options.add_argument("--bootstrap", default=os.environ.get("BOOTSTRAP", ""), help="brokers, host:port,host:port")
    options.add_argument("--config", default=os.environ.get("KAFKA_CONFIG", ""), help="file of librdkafka's settings")
    options.add_argument("--lake", default=os.environ.get("LAKE", ""), help="the lake; all its tables are checked")
    for variable, option, pattern in _LOGS:
        layout = f"--{pattern.lower().replace('_', '-')}"
        options.add_argument(option, default=os.environ.get(variable, ""), help=f"a sample of {variable} is read")
        options.add_argument(
            layout, default=os.environ.get(pattern, ""), help="the layout of their lines, where none is recognised"
        )
    options.add_argument(
        "--glob", default=os.environ.get("GLOB", ""), help="the names of their files, if chosen by name"
    )
    options.add_argument(
        doctor_checks.REPAIR, action="store_true", help="set damaged files of the lake aside; audits make them again"
    )
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    return options


def _checks(options: argparse.Namespace) -> Iterator[CheckResult]:
    lake = options.lake or str(LAKE)
    yield from doctor_checks.of_installation()
    if "://" not in lake:
        yield doctor_checks.of_lake(lake)
    if options.lake:
        yield from doctor_checks.of_tables(lake, options.repair)
    if options.bootstrap or options.config:
        yield from doctor_checks.of_cluster(options.bootstrap, options.config)
    yield from doctor_checks.of_logs("LOGS", options.logs, options.pattern, options.glob)
    yield from doctor_checks.of_logs("CLIENT_LOGS", options.client_logs, options.client_pattern, options.glob)


def _print(results: list[CheckResult]) -> None:
    width = max(len(check.what) for check in results)
    for check in results:
        first, *more_lines = check.says.splitlines()
        print(f"{_MARKS[check.state]} {check.what.ljust(width)}  {first}")
        print("".join(f"  {' ' * width}  {line}\n" for line in more_lines), end="")


if __name__ == "__main__":
    sys.exit(main())
