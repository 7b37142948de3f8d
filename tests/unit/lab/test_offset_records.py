"""The records of `__consumer_offsets` that a drill keeps."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.drill import offset_records
from lab.drill.offset_records import RECORDS, keep_records


class Message:
    """A message of librdkafka's, whose length is that of its value."""

    def __init__(self, partition: int, offset: int | None, value: bytes | None = None) -> None:
        self._partition, self._offset, self._value = partition, offset, value

    def __len__(self) -> int:
        return len(self._value or b"")

    def error(self) -> str | None:
        return "end of partition" if self._offset is None else None

    def topic(self) -> str:
        return "__consumer_offsets"

    def partition(self) -> int:
        return self._partition

    def offset(self) -> int | None:
        return self._offset

    def timestamp(self) -> tuple[int, int]:
        return 1, 1796058343629

    def key(self) -> bytes:
        return b"key"

    def value(self) -> bytes | None:
        return self._value


def test_every_record_is_kept_tombstones_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [Message(0, 0, b"value"), Message(1, 0), Message(1, None), Message(0, 1, b"v"), Message(0, None)]
    topics = {"__consumer_offsets": SimpleNamespace(partitions={0: None, 1: None})}

    def consumer(_: dict[str, Any]) -> SimpleNamespace:
        return SimpleNamespace(
            list_topics=lambda *_, **__: SimpleNamespace(topics=topics),
            assign=lambda _: None,
            poll=lambda _: messages.pop(0),
            close=lambda: None,
        )

    monkeypatch.setattr(offset_records, "Consumer", consumer)
    keep_records("somewhere", tmp_path)
    rows = [json.loads(line) for line in (tmp_path / RECORDS).read_text().splitlines()]
    assert [(r["partition"], r["offset"], r["value"]) for r in rows] == [
        (0, 0, "dmFsdWU="),
        (1, 0, None),
        (0, 1, "dg=="),
    ]
    assert {(r["topic"], r["at"], r["key"]) for r in rows} == {("__consumer_offsets", 1796058343629, "a2V5")}
