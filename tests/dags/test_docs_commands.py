"""What pages tell people to type is understood by the Airflow that is locked."""

from __future__ import annotations

import shlex

import pytest
from airflow.cli.cli_parser import get_parser

from tests.support.docs import PAGES, examples

COMMANDS = sorted({line for page in PAGES.values() for line in examples(page) if line.startswith("airflow ")})


@pytest.mark.parametrize("command", COMMANDS)
def test_airflow_command_in_docs_is_valid(command: str) -> None:
    assert callable(get_parser().parse_args(shlex.split(command)[1:]).func)
