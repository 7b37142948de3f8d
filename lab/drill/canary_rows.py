"""The rows of canaries: their successes, the gaps between them, and the records that are missing at the end."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

WRITE_ALL, WRITE_ONE, READ = "write_all", "write_one", "read"
ACKS: Mapping[str, str] = {WRITE_ALL: "all", WRITE_ONE: "1"}

EVERY_MS = 150
THRESHOLD_MS = 600
STALL_MS = 250
"""A round of this process that takes longer is a stall of its own."""

CanaryRow = dict[str, Any]
Place = tuple[str, int]


def now() -> float:
    """The canaries' clock, in seconds since 1970: no correction of the machine's clock moves it."""
    return _WALL + time.monotonic() - _STARTED


_WALL, _STARTED = time.time(), time.monotonic()


def iso(at: float | None) -> str | None:
    """An instant as the rows have it."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def in_ms(seconds: float) -> int:
    """Seconds in milliseconds."""
    return round(seconds * 1000)


@dataclass
class Stalls:
    """The times in which this process itself came to nothing: what it measured then is not the brokers' doing."""

    spans: list[tuple[float, float]] = field(default_factory=list)

    def add(self, start: float, end: float) -> None:
        """Keep a round that took too long."""
        if in_ms(end - start) > STALL_MS:
            self.spans.append((start, end))

    def within(self, start: float, end: float) -> int:
        """How many milliseconds of a time were stalls."""
        return in_ms(sum(max(0.0, min(end, b) - max(start, a)) for a, b in self.spans))


@dataclass
class Series:
    """The successes of one canary, and what came between them."""

    topic: str
    partition: int
    kind: str
    stalls: Stalls
    first_at: float | None = None
    last_at: float = 0.0
    ok: int = 0
    failed: int = 0
    gaps: list[int] = field(default_factory=list)
    normal: list[float] = field(default_factory=list)
    first_failure_at: float | None = None
    errors: Counter[str] = field(default_factory=Counter)

    def succeed(self, at: float) -> CanaryRow | None:
        """Count a success. Returns the gap that it ends, if there is one."""
        gap = self._gap(at, at)
        if self.first_at is None:
            self.first_at = at
        elif gap is None:
            self.normal.append(at - self.last_at)
        self.ok += 1
        self.last_at = at
        self.first_failure_at = None
        self.errors.clear()
        return gap

    def fail(self, at: float, error: str) -> None:
        """Count a failure: librdkafka's name of the error."""
        self.failed += 1
        self.first_failure_at = self.first_failure_at or at
        self.errors[error] += 1

    def end(self, at: float) -> list[CanaryRow]:
        """End the series. Returns the open gap, if there is one, and the summary."""
        gap = self._gap(None, at)
        normal = sorted(self.normal) or [0.0]
        summary = {
            **self._head("summary"),
            "first_at": iso(self.first_at),
            "last_at": iso(self.last_at) if self.ok else None,
            "until": iso(at),
            "ok": self.ok,
            "failed": self.failed,
            "normal_p50_ms": in_ms(statistics.median(normal)),
            "normal_p99_ms": in_ms(normal[int(len(normal) * 0.99)]),
            "normal_max_ms": in_ms(normal[-1]),
            "gaps": len(self.gaps),
            "gap_ms": sum(self.gaps),
        }
        return [*([gap] if gap else []), summary]

    def _gap(self, to: float | None, until: float) -> CanaryRow | None:
        length = in_ms(until - self.last_at)
        if self.first_at is None or length <= THRESHOLD_MS:
            return None
        self.gaps.append(length)
        return {
            **self._head("gap"),
            "from": iso(self.last_at),
            "to": iso(to),
            "ms": length,
            "first_failure_at": iso(self.first_failure_at),
            "errors": dict(self.errors),
            "own_stall_ms": self.stalls.within(self.last_at, until),
        }

    def _head(self, row: str) -> CanaryRow:
        return {"row": row, "topic": self.topic, "partition": self.partition, "kind": self.kind}


def value_of(kind: str, number: int) -> bytes:
    """The value of a canary's record."""
    return f"canary {kind} {number}".encode()


def missing(acked: Mapping[str, Mapping[int, int]], values: set[bytes]) -> CanaryRow:
    """The acknowledged records of one partition, and the offsets of those that it does not hold."""
    offsets = {k: sorted(o for n, o in of.items() if value_of(k, n) not in values) for k, of in acked.items()}
    acks = {kind: kind.removeprefix("write_") for kind in acked}
    return {
        **{f"acked_{acks[k]}": len(of) for k, of in acked.items()},
        **{f"missing_{acks[k]}": len(of) for k, of in offsets.items()},
        **{f"offsets_{acks[k]}": of for k, of in offsets.items()},
    }
