"""Kafka Hindsight as pip installs it: the project's folders as they are, inside this one package."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """The command `hindsight`."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from spark_jobs.commands import cli

    return cli.main()
