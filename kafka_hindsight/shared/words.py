"""Numbers, durations, instants and lists in words, the same in explanations, the report and alerts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches

MORE = re.compile(r" and (\d+) more$")
"""The end of a finding's subject that stands for several."""

_SECOND = 1_000
_ONE_MS = timedelta(milliseconds=1)


def number(value: float) -> str:
    """A number that is easy to read: `34,587`, from a million on `1.9 million`."""
    if abs(value) >= 999_950_000:
        return f"{value / 1e9:,.1f} billion"
    if abs(value) >= 1_000_000:
        return f"{value / 1e6:.1f} million"
    return f"{value:,.0f}"


def counted(value: int, singular: str, plural: str = "") -> str:
    """A number with its noun: `no lines`, `1 line`, `2 lines`."""
    noun = singular if value == 1 else plural or f"{singular}s"
    return f"{number(value) if value else 'no'} {noun}"


def times(count: int) -> str:
    """A count of times: `never`, `once`, `twice`, `3 times`."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{number(count)} times")


def verb(value: int, singular: str, plural: str) -> str:
    """The form of a verb that agrees with a number."""
    return singular if value == 1 else plural


def duration(length: timedelta | float | None) -> str:
    """A length of time in words: `240 ms`, `3.2 s`, `2 min 14 s`, `1 h 5 min`.

    Args:
        length: A length, or its number of milliseconds. Less than 0 counts as 0: two brokers' clocks may differ.

    Returns:
        The words; empty if the length is not known.
    """
    if length is None:
        return ""
    ms = max(0, length / _ONE_MS if isinstance(length, timedelta) else length)
    if ms < _SECOND:
        return f"{ms:.0f} ms"
    if ms < 59.95 * _SECOND:
        return f"{f'{ms / _SECOND:.1f}'.removesuffix('.0')} s"
    seconds = round(ms / _SECOND)
    for unit, name, smaller, smaller_name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= unit:
            rest = seconds % unit // smaller
            return f"{seconds // unit} {name}" + (f" {rest} {smaller_name}" if rest else "")
    return f"{seconds} s"


def between(low: float | None, high: float | None) -> str:
    """A duration between bounds: `1.2 s`, `1.2 s to 4.0 s`, `at least 1.2 s`. Empty if both are 0 or not known."""
    if not low and not high:
        return ""
    if high is None:
        return f"at least {duration(low)}"
    if low == high:
        return duration(high)
    return f"{duration(low)} to {duration(high)}" if low else f"at most {duration(high)}"


def number_range(low: float, high: float) -> str:
    """A number between bounds: `2`, or `0–60`."""
    return number(low) if low == high else f"{number(low)}–{number(high)}"


def bounded(low: float | None, high: float | None) -> str:
    """A length between bounds; one number if they differ by a tenth at most. Empty if none is known."""
    return duration(low) if low and high and high <= 1.1 * low else between(low, high)


def stands_for(subject: str) -> int:
    """The number of subjects that a finding's subject stands for."""
    others = MORE.search(subject)
    return 1 + int(others[1]) if others else 1


def elapsed_ms(start: datetime | None, end: datetime | None) -> float | None:
    """Milliseconds from one instant to another; None if one of them is not known."""
    if start is None or end is None:
        return None
    return (end - start).total_seconds() * 1_000


def instant(at: datetime | None, day: date | None = None, precise: bool = False) -> str:
    """An instant in UTC, without its date if that is `day`. Empty if not known."""
    if at is None:
        return ""
    utc = at.astimezone(UTC)
    clock = utc.strftime("%H:%M:%S") + (f".{utc.microsecond // 1_000:03d}" if precise else "")
    return clock if utc.date() == day else f"{utc:%Y-%m-%d} {clock}"


def minute(at: datetime, day: date | None = None) -> str:
    """An instant in UTC to the minute: `02:13`."""
    utc = at.astimezone(UTC)
    return f"{utc:%H:%M}" if utc.date() == day else f"{utc:%Y-%m-%d %H:%M}"


def percent(ratio: float | None) -> str:
    """A ratio in percent. Empty if it is not known."""
    return "" if ratio is None else f"{f'{100 * ratio:.1f}'.removesuffix('.0')}%"


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A sentence that suggests similar names, after a space; empty if there are none."""
    near = get_close_matches(name.lower(), names := {k.lower(): k for k in choices}, n=2)
    return f" Did you mean {' or '.join(names[n] for n in near)}?" if near else ""


def listed(items: Sequence[str], at_most: int = 0, last: str = "and") -> str:
    """A list in a sentence: `a, b and c`; with `at_most`, `a, b and 7 more`. `last` joins the last one."""
    parts = list(items)
    if at_most and len(parts) > at_most:
        parts = [*parts[:at_most], f"{number(len(items) - at_most)} more"]
    return f" {last} ".join(([", ".join(parts[:-1])] if parts[1:] else []) + parts[-1:])


def ranges(numbers: Sequence[int]) -> str:
    """Whole numbers as ranges: `0-3, 7`."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def leader(broker: int | None) -> str:
    """A leader: a broker's id, `none`, or `?` if it is not known."""
    return "?" if broker is None else "none" if broker == -1 else str(broker)


def sentence(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def exact(value: float | None) -> str:
    """A number to the last digit: `1,893,400`. Empty if it is not known."""
    return "" if value is None else f"{value:,.0f}"
