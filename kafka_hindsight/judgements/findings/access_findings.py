"""Findings about clients and brokers that others refused or held back, and about tasks that were killed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Annotated

import pyarrow as pa

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Finding
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.reasoning.evidence import MAX_QUOTES, quote
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.patterns.fragments import UNKNOWN_HOST, UNRESOLVED
from kafka_hindsight.knowledge.rules import access_rules as declared
from kafka_hindsight.shared.arrow_tables import among, ends
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.plain import shortened
from kafka_hindsight.shared.words import duration, listed

_NAMED = 3


@dataclass(frozen=True)
class _Refusal:
    """The lines that a rule reads: their kinds, what they say, and the name that each is about."""

    rule: Rule
    kinds: tuple[Kind, ...]
    say: Callable[[Sequence[Event]], Iterable[str | None]]
    name: Callable[[Event], str | None] = lambda line: line.client_id or line.host

    def subject(self, line: Event) -> str:
        """The name that a line is about."""
        return self.name(line) or "unknown"


def _of_each(says: Callable[[Event], str | None]) -> Callable[[Sequence[Event]], Iterable[str | None]]:
    return lambda lines: map(says, lines)


def _longest(lines: Sequence[Event]) -> Iterator[str]:
    yield f"up to {duration(max(line.took_ms or 0 for line in lines))}"


def _denial(line: Event) -> str | None:
    resource = f"group {line.group_id}" if line.group_id else f"topic {line.topic}" if line.topic else "the cluster"
    return line.error or f"{str(line.reason).partition(chr(10))[0]} on {resource}"


def _is_shown(line: Event) -> bool:
    """Whether the line shows what is wrong: a connection fails for other reasons too than an unknown name."""
    return line.kind != Kind.CLIENT_CONNECT_FAILED or line.error in (UNKNOWN_HOST, UNRESOLVED)


_REFUSALS = (
    _Refusal(
        declared.CLIENT_NOT_AUTHENTICATED,
        (Kind.CLIENT_NOT_AUTHENTICATED, Kind.AUTHENTICATION_FAILED),
        _of_each(lambda line: line.error),
    ),
    _Refusal(
        declared.BROKER_NOT_AUTHENTICATED,
        (Kind.AUTHENTICATION_REFUSED,),
        _of_each(lambda line: f"node {line.node}: {line.error}"),
        lambda line: str(line.broker),
    ),
    _Refusal(
        declared.ACCESS_DENIED,
        (Kind.GROUP_DENIED, Kind.ACCESS_DENIED, Kind.CLIENT_ACCESS_DENIED),
        _of_each(_denial),
        lambda line: line.detail or line.client_id,
    ),
    _Refusal(
        declared.INSTANCE_SHARED,
        (Kind.STATIC_MEMBER_FENCED, Kind.CLIENT_INSTANCE_FENCED),
        _of_each(lambda line: line.group_id and f"group {line.group_id}"),
        lambda line: line.instance_id or line.client_id,
    ),
    _Refusal(declared.CLIENT_THROTTLED, (Kind.CLIENT_THROTTLED,), _longest),
    _Refusal(declared.NAME_UNKNOWN, (Kind.CLIENT_CONNECT_FAILED,), _of_each(lambda line: line.host)),
    _Refusal(
        declared.TASK_KILLED,
        (Kind.CLIENT_TASK_KILLED,),
        _of_each(lambda line: line.error),
        lambda line: line.detail,
    ),
)


def refusal_lines(events: pa.Table) -> pa.Table:
    """Keep the first and the last line about each that was refused or held back, and what it was refused."""
    lines = events.filter(among(events["kind"], {kind for refusal in _REFUSALS for kind in refusal.kinds}))
    by = ("kind", "broker", "node", "client_id", "host", "detail", "group_id", "topic", "error")
    return ends(lines, by, ("happened_at", "source", "order"))


def _refused(cluster: str, refusals: Annotated[Sequence[Event], refusal_lines]) -> Iterator[Finding]:
    """One finding for each rule, however many are refused: a wrong password in a deployment is one trouble."""
    for refusal in _REFUSALS:
        of_rule = (line for line in refusals if line.kind in refusal.kinds and _is_shown(line))
        lines = sorted(of_rule, key=lambda line: (line.happened_at, line.source, line.order))
        if lines:
            first, last = lines[0].happened_at, lines[-1].happened_at
            by_name = grouped(lines, refusal.subject)
            each_in_turn = filter(None, chain(*zip_longest(*by_name.values())))
            details = dict.fromkeys(shortened(text) for text in refusal.say(lines) if text)
            clock = "%H:%M:%S" if first.date() == last.date() else "%Y-%m-%d %H:%M:%S"
            yield finding_of(
                cluster,
                refusal.rule,
                list(by_name),
                [first, last],
                map(quote, islice(each_in_turn, MAX_QUOTES)),
                span=f" from {first:{clock}} to {last:{clock}}" if first < last else f" at {first:{clock}}",
                details=listed(list(details), _NAMED) or "its lines say no more",
            )


RULES = (_refused,)
