"""Needs of scenarios that not every machine meets: clocks that differ, hosts with addresses of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lab.drill import guards, hosts
from lab.drill.guards import GUARDS

CLOCKS = "clocks that differ"
HOSTS = "members on hosts of their own"

_FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


def lacking(needs: Iterable[str]) -> dict[str, str]:
    """The needs that this machine does not meet, each with the reason."""
    return {name: why for name in sorted(needs) if (why := _CHECKS[name]())}


def clock_ahead(seconds: int) -> Mapping[str, str]:
    """The environment of a process whose clock is so many seconds ahead. Its monotonic clock does not change.

    A JVM waits by the monotonic clock. The fix would take it for the other one: no wait would last.
    """
    variables = {"FAKETIME": f"{seconds:+d}", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_FORCE_MONOTONIC_FIX": "0"}
    return {"LD_PRELOAD": str(_FAKETIME), **variables} if seconds else {}


def _why_no_clocks() -> str | None:
    return None if _FAKETIME else "Found: no libfaketime. Install it (Debian: libfaketime) to play them."


_CHECKS: Mapping[str, Callable[[], str | None]] = {
    CLOCKS: _why_no_clocks,
    HOSTS: hosts.why_none,
    GUARDS: guards.why_none,
}
