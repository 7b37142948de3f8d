"""The truth as it comes about: every act is written down just before it is done."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TruthRow = dict[str, Any]


class TruthFile:
    """truth.jsonl of one drill. Threads may share it. At every instant the file on disk is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[TruthRow] = []
        self._lock = threading.Lock()

    def write(self, action: str, **fields: Any) -> TruthRow:
        """One act, now. Fields that are None are left out."""
        known_fields = {name: value for name, value in fields.items() if value is not None}
        with self._lock:
            row = {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "action": action, **known_fields}
            self._rows.append(row)
            self._save()
        return row

    def amend(self, row: TruthRow, **fields: Any) -> None:
        """Add facts to an act that are known only after it."""
        with self._lock:
            row.update(fields)
            self._save()

    def withdraw(self, row: TruthRow, note: str) -> None:
        """The act had not the effect that was expected of it: nothing is expected any more, and the note says why."""
        with self._lock:
            row.pop("expect", None)
            row["note"] = note
            self._save()

    def leave_open(self, row: TruthRow, note: str) -> None:
        """Whether the act had its effect is not known: nothing is expected, and its effect is not a false alarm."""
        row["undecided"] = row.get("expect")
        self.withdraw(row, note)

    def leave_open_since(self, action: str, note: str) -> None:
        """Leaves every act open that was done since the last one of that name."""
        with self._lock:
            last = max(n for n, row in enumerate(self._rows) if row["action"] == action)
            expecting = [row for row in self._rows[last:] if "expect" in row]
        for row in expecting:
            self.leave_open(row, note)

    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """Every act so far."""
        with self._lock:
            return tuple(dict(row) for row in self._rows)

    def _save(self) -> None:
        whole = self._path.with_suffix(".part")
        whole.write_text("".join(json.dumps(row) + "\n" for row in self._rows), encoding="utf-8")
        whole.replace(self._path)
