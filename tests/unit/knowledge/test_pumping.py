"""No line, however it was made, holds a pattern up: no regex backtracks without end, in Python or in Java.

The one test that measures time: a regex that runs away passes these bounds by orders of magnitude. It counts processor
seconds, so that a busy machine does not matter.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns import PATTERNS
from tests.support.pumping import looped_groups, pumped, units
from tools.pages.samples import samples_of
from tools.plain_reader import read_line

pytestmark = pytest.mark.long

SHORT, LONG = 4_000, 100_000
MOST_SECONDS = 4.0
"""A linear regex needs at most a second for the long lines, on a busy machine two; a quadratic one more than ten."""
SLOWEST = 3
SHAPES = 2

each_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.pattern_id)


class RunsAway(Exception):
    pass


@contextmanager
def processor_seconds(most: float) -> Iterator[None]:
    """Ends what needs more; Python's regexes look for signals while they match."""

    def late(*_: object) -> None:
        raise RunsAway

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(compiled: re.Pattern[str], text: str) -> float:
    began = time.process_time()
    compiled.match(text)
    return time.process_time() - began


def run_away(regex: re.Pattern[str], message: str, most: float = MOST_SECONDS) -> str | None:
    """The line on which a regex runs away, if there is one: short ones all, long ones where the short were slowest."""
    text = ""
    try:
        with processor_seconds(most * 5):
            took = []
            for number, text in pumped(regex, message, SHORT):
                took.append((seconds(regex, text), number))
        slowest = {number for _, number in sorted(took)[-SLOWEST:]}
        for _, text in pumped(regex, message, LONG, slowest):
            with processor_seconds(most):
                regex.match(text)
    except RunsAway:
        return text
    return None


def one_of_each_shape(pattern: Pattern) -> list[str]:
    """Messages of samples, one for each set of groups that take part."""
    shapes: dict[frozenset[str], str] = {}
    for sample in samples_of(pattern):
        message = read_line(sample.record).message
        if matched := pattern.compiled.match(message):
            shapes.setdefault(frozenset(k for k, v in matched.groupdict().items() if v is not None), message)
    return list(shapes.values())[:SHAPES]


@each_pattern
def test_pattern_is_linear_on_lines_made_of_its_own_pieces(pattern: Pattern) -> None:
    for message in one_of_each_shape(pattern):
        line = run_away(pattern.compiled, message)
        assert line is None, f"{pattern.pattern_id} runs away on {line[:500]!r} ..." if line else ""


def test_no_group_is_repeated_by_recursion() -> None:
    assert {p.pattern_id for p in PATTERNS if list(looped_groups(p.compiled.pattern))} == set()


KEPT = (
    r"^Skipped partition registration PartitionRegistration\(replicas=\[(?P<replicas>[\d, ]*)\], directories=\[.*?\], "
    r"isr=\[(?P<isr>[\d, ]*)\], removingReplicas=\[.*?\], addingReplicas=\[.*?\], elr=\[.*?\], lastKnownElr=\[.*?\], x$"
)
CHANGED = r"^isr=List\((?P<isr>[\d, ]*|BrokerState\(.*?\)(?:, BrokerState\(.*?\))*)\)$"


def regexes() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The regexes by which modules look into what strangers wrote."""
    for room in ("shared", "knowledge", "kafka_records", "logs", "judgements", "report", "alerts"):
        folder = importlib.import_module(f"kafka_hindsight.{room}")
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    yield f"{module.name}.{name}", value


OF_OURS = {"kafka_hindsight.logs.layout_names._WITHIN"}
"""It looks at names of layouts, which are ours."""
OF_NAMES = {
    "kafka_hindsight.knowledge.layouts.LOG_NAME_REGEX",
    "kafka_hindsight.knowledge.layouts.GC_LOG_REGEX",
    "tools.plain_reader.LOG_NAME_REGEX",
    "kafka_hindsight.logs.found_files._ARCHIVE_REGEX",
}
"""They look at names of files alone, of which file systems allow 255 bytes."""


@pytest.mark.parametrize(("name", "regex"), [*regexes()], ids=lambda value: str(value).rpartition(".")[2])
def test_search_is_linear_on_text_made_of_its_regex_pieces(name: str, regex: re.Pattern[str]) -> None:
    size = 255 if name in OF_NAMES | OF_OURS else LONG // 5
    pieces = units(regex.pattern)
    for unit in pieces[:: len(pieces) // 60 + 1]:
        for begin in ("", pieces[-1]):
            text = begin + unit * (size // len(unit)) + "\0"
            with processor_seconds(MOST_SECONDS):
                deque(regex.finditer(text), maxlen=0)


def test_quadratic_regex_is_detected() -> None:
    line = "Skipped partition registration PartitionRegistration(replicas=[1], directories=[], isr=[1],"
    line += " removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], x"
    assert run_away(re.compile(KEPT, re.DOTALL | re.ASCII), line, most=0.2) is not None
    assert run_away(re.compile(KEPT.replace(".*?", "[^]]*"), re.DOTALL | re.ASCII), line, most=0.2) is None
    assert list(looped_groups(CHANGED)) != []
    assert list(looped_groups(CHANGED.replace(")*)", ")*+)").replace(".*?", "[^)]*"))) == []
