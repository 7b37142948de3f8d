"""Judgements name kinds of events by `Kind`, so that mypy sees a typo; `Kind` has their names as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from kafka_hindsight.catalog.codes import FailoverKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.settings.home import HOME

ROOMS = ("judgements", "kafka_records")
ALSO_CODES = frozenset(map(str, FailoverKind))


def texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield f"{file.name}:{node.lineno} {node.value}" if node.value in {*Kind} - ALSO_CODES else ""


def test_no_kind_of_event_is_a_text() -> None:
    files = [file for room in ROOMS for file in (HOME / "kafka_hindsight" / room).rglob("*.py")]
    assert len(files) > 50
    assert [text for file in files for text in texts(file) if text] == []
