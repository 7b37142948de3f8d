"""A pattern proposed for lines of an unknown layout: Kafka's own lines, laid out as strangers lay them out."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kafka_hindsight.doctor.logs import look_at
from kafka_hindsight.knowledge.layouts import APACHE
from kafka_hindsight.logs.proposals import Proposal, proposal_of
from kafka_hindsight.logs.reading import read_record
from lab.drill.render import LEVEL, abbreviated, trace_of
from tests.support.logs import unpack_night
from tools.plain_reader import PlainRecord, read_line, split

THREADS = (
    "main",
    "kafka-request-handler-3",
    "ReplicaFetcherThread-0-2",
    "data-plane-kafka-network-thread-1-ListenerName(PLAINTEXT)-PLAINTEXT-2",
    "kafka-producer-network-thread | producer-1",
    "quorum-controller-1-event-handler",
)
LINES = 1_500


class Parts:
    """What a logging library has of a record, by the names that the layouts below use."""

    def __init__(self, record: PlainRecord, number: int) -> None:
        level = LEVEL.match(record.text)
        assert level and record.logger and record.happened_at
        self.at: datetime = record.happened_at
        self.level, self.logger, self.message, self.trace = level[1], record.logger, record.message, trace_of(record)
        self.name = self.logger.rpartition(".")[2]
        self.short = abbreviated(self.logger)
        self.thread = THREADS[number % len(THREADS)]
        self.line = 11 + number * 7 % 1_900
        self.method = ("apply", "<init>", "$anonfun$startup$2", "doWork")[number % 4]

    def time(self, form: str, separator: str = "") -> str:
        """The instant by strftime, with milliseconds behind a separator."""
        return f"{self.at:{form}}" + (f"{separator}{self.at.microsecond // 1_000:03d}" if separator else "")


BERLIN = timezone(timedelta(hours=1))

STRANGERS: dict[str, Callable[[Parts], str]] = {
    "a search engine's": lambda p: (
        f"[{p.time('%Y-%m-%dT%H:%M:%S', ',')}][{p.level:5}][{p.short:25}] [kafka-0] {p.message}{p.trace}"
    ),
    "pipes and a zone": lambda p: (
        f"{p.at.astimezone(BERLIN):%Y-%m-%dT%H:%M:%S}.{p.at.microsecond // 1_000:03d}+01:00"
        f"|{p.level:5}|{p.thread}|{p.logger}|{p.message}{p.trace}"
    ),
    "loguru's": lambda p: (
        f"{p.time('%Y-%m-%d %H:%M:%S', '.')} | {p.level:8} | {p.logger}:{p.method}:{p.line} - {p.message}{p.trace}"
    ),
    "JUL on one line": lambda p: (
        f"{p.time('%Y-%m-%d %H:%M:%S', '.')} {p.level.replace('WARN', 'WARNING').replace('ERROR', 'SEVERE'):7}"
        f" [{p.logger} {p.method}] {p.message}{p.trace}"
    ),
    "like a syslog": lambda p: (
        f"{p.time('%Y-%m-%dT%H:%M:%S', '.')}Z kafka-01 kafka[4711] {p.level} {p.logger}: {p.message}{p.trace}"
    ),
    "commas and quotes": lambda p: (
        f'"{p.time("%Y-%m-%d %H:%M:%S", ".")}","{p.level}","{p.logger}","{p.thread}","{p.message}"{p.trace}'
    ),
    "day first, stars": lambda p: (
        f"{p.time('%d.%m.%Y %H:%M:%S', '.')} *{p.level}* [{p.thread}] {p.logger} {p.message}{p.trace}"
    ),
    "milliseconds of the epoch": lambda p: (
        f"{int(p.at.timestamp() * 1_000 + 0.5)} [{p.thread}] {p.level} {p.logger} - {p.message}{p.trace}"
    ),
    "a year of two digits": lambda p: f"{p.time('%y/%m/%d %H:%M:%S')} {p.level} {p.name}: {p.message}{p.trace}",
    "names and values": lambda p: (
        f"at={p.time('%Y-%m-%dT%H:%M:%S', '.')}Z lvl={p.level.lower()} src={p.logger} thr={p.thread}"
        f" text={p.message}{p.trace}"
    ),
    "the logger behind": lambda p: (
        f"{p.time('%d %b %Y %H:%M:%S', ',')} {p.level:5} {p.message} [{p.logger}] {{{p.thread}}}{p.trace}"
    ),
}
"""Layouts that no list of ours names, as programs' own settings have them."""


@cache
def night() -> tuple[PlainRecord, ...]:
    """Records of a broker's log of the recorded night."""
    with TemporaryDirectory() as folder:
        text = (unpack_night(Path(folder)) / "logs/broker-1/server.log").read_text()
    records = map(read_line, split("\n".join(text.split("\n")[:LINES])))
    return tuple(r for r in records if r.layout is APACHE and r.logger and r.happened_at)


def meaning(layout: str, text: str, at: datetime | None) -> tuple[object, ...]:
    """What one record says, and in which second."""
    reading = read_record(layout, text)
    return (
        at and at.replace(microsecond=0),
        reading.fate,
        reading.pattern and reading.pattern.pattern_id,
        reading.groups,
    )


@pytest.mark.parametrize("name", STRANGERS)
def test_doctor_proposes_a_pattern_that_reads_a_strangers_layout(name: str, tmp_path: Path) -> None:
    text = "\n".join(STRANGERS[name](Parts(record, number)) for number, record in enumerate(night()))
    (tmp_path / "server.log").write_text(text + "\n")
    says = "\n".join(says for _, _, says in look_at("LOGS", str(tmp_path), None))
    proposed = re.search(r"--pattern '(.*)'$", says, re.MULTILINE)
    assert proposed, says
    pattern = proposed[1]
    records = [read_line(one, layouts=(pattern,)) for one in split(text, (pattern,))]
    actual = [meaning(pattern, record.text, record.happened_at) for record in records]
    expected = [meaning(APACHE.name, record.text, record.happened_at) for record in night()]
    assert len(actual) == len(expected), pattern
    assert sum(map(tuple.__eq__, actual, expected)) >= 0.99 * len(expected), pattern


def laid_out(form: Callable[[Parts], str]) -> list[str]:
    """Some lines of the night in a layout."""
    return [form(Parts(record, number)).partition("\n")[0] for number, record in enumerate(night()[:400])]


def test_open_order_of_day_and_month_is_shown_until_a_day_above_twelve() -> None:
    lines = laid_out(lambda p: f"03/04/2026 {p.time('%H:%M:%S')} {p.level} {p.name}: {p.message}")
    proposal = proposal_of(lines)
    assert isinstance(proposal, Proposal)
    assert [proposal.pattern, *proposal.others] == [
        f"%d{{{day}/yyyy HH:mm:ss}} %-5p %c: %m%n" for day in ("dd/MM", "MM/dd")
    ]
    closed = proposal_of([*lines[:-40], *(line.replace("03/04", "03/14") for line in lines[-40:])])
    assert isinstance(closed, Proposal)
    assert (closed.pattern, closed.others) == ("%d{MM/dd/yyyy HH:mm:ss} %-5p %c: %m%n", ())


@pytest.mark.parametrize(
    ("form", "lacks"),
    [
        (lambda p: f"{p.time('%H:%M:%S')} {p.level} {p.logger}: {p.message}", "No date"),
        (lambda p: f"{p.time('%d.%m.%Y %I:%M:%S %p')} {p.level} {p.logger}: {p.message}", "No date"),
        (lambda p: f"{p.time('%Y-%m-%d %H:%M:%S')} {p.level} {p.message}", "a logger"),
        (lambda p: f"\x1bM{p.time('%Y-%m-%d %H:%M:%S')} {p.level} {p.logger}: {p.message}", "a logger"),
    ],
    ids=["time alone", "twelve hours", "no logger", "control characters"],
)
def test_lines_without_a_needed_part_get_its_name_and_no_proposal(form: Callable[[Parts], str], lacks: str) -> None:
    sentence = proposal_of(laid_out(form))
    assert isinstance(sentence, str)
    assert lacks in sentence


def test_pattern_that_reads_too_few_lines_is_not_proposed() -> None:
    lines = laid_out(lambda p: f"{p.time('%Y-%m-%d %H:%M:%S')} <{p.level}> {p.logger}: {p.message}")
    others = ["2026-11-21 01:44:29 GET /health 200"] * len(lines)
    assert str(proposal_of([*lines, *others])).endswith("not enough to propose it.")


def test_proposal_for_wrapped_lines_is_for_what_is_inside(tmp_path: Path) -> None:
    lines = laid_out(STRANGERS["pipes and a zone"])
    (tmp_path / "all.log").write_text("".join(f"kafka-{n % 2}  | {line}\n" for n, line in enumerate(lines)))
    ((_, _, says),) = look_at("CLIENT_LOGS", str(tmp_path), None)
    assert f"--client-logs {tmp_path} --client-pattern '%d{{ISO8601}}|%-5p|%t|%c|%m%n'" in says


def test_unread_file_keeps_its_sentence_beside_a_proposal(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("\n".join(laid_out(STRANGERS["pipes and a zone"])))
    (tmp_path / "b.log").write_text("hello world\n" * 20)
    sentences = [says for _, _, says in look_at("LOGS", str(tmp_path), None)]
    for shows in ("reads 400 of 400 lines with a date", "no known layout begins like that"):
        assert len([says for says in sentences if shows in says]) == 1
