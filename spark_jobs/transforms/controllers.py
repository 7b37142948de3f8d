"""Who was the controller, from when to when: only the active one's word counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from spark_jobs.transforms.windows import Row, in_order

CONTROLLER_KINDS = ("controller_elected", "controller_resigned", "controller_known")


@dataclass(frozen=True)
class Term:
    """One controller's time in office. `until` is None while nobody followed it and it did not resign.

    `is_change` tells that a line shows the change itself, not a node that has just started and learned who it is.
    """

    epoch: int
    controller: int
    since: datetime
    until: datetime | None
    is_change: bool
    lines: tuple[Row, ...]


def terms_of(events: Iterable[Row]) -> tuple[Term, ...]:
    """The terms of all controllers that any line names, by epoch.

    Takes: silver.events of at least CONTROLLER_KINDS.
    Odd: a node says "in the new epoch N the leader is M" also after its own start, when that is old news; it counts
    as news only where the same node had spoken of an earlier epoch, or of this one without a leader.
    """
    spoken: dict[int, list[tuple[int, bool, Row]]] = {}
    last_heard: dict[int | None, tuple[int, bool]] = {}
    resigned: list[Row] = []
    for event in in_order(e for e in events if e["kind"] in CONTROLLER_KINDS):
        if event["kind"] == "controller_resigned":
            resigned.append(event)
            continue
        epoch = event["controller_epoch"]
        if epoch is None:
            continue
        elected = event["kind"] == "controller_elected"
        controller = event["broker"] if elected else event["node"]
        heard = last_heard.get(event["broker"])
        last_heard[event["broker"]] = (epoch, controller is not None)
        if controller is not None:
            is_news = elected or (heard is not None and (heard[0] < epoch or heard == (epoch, False)))
            spoken.setdefault(epoch, []).append((controller, is_news, event))
    return _ended([_term(epoch, spoken[epoch]) for epoch in sorted(spoken)], resigned)


def _term(epoch: int, spoken: list[tuple[int, bool, Row]]) -> Term:
    elected = next((s for s in spoken if s[2]["kind"] == "controller_elected"), None)
    news = [s for s in spoken if s[1]]
    controller = (elected or spoken[0])[0]
    told = [s[2] for s in (news or spoken) if s[0] == controller]
    since = (elected[2] if elected else told[0])["happened_at"]
    return Term(epoch, controller, since, None, bool(news), tuple(told))


def _ended(terms: list[Term], resigned: list[Row]) -> tuple[Term, ...]:
    ended = []
    for i, term in enumerate(terms):
        ends = [t.since for t in terms[i + 1 : i + 2]]
        own = (r["happened_at"] for r in resigned if r["broker"] == term.controller)
        ends += [at for at in own if at >= term.since][:1]
        ended.append(replace(term, until=min(ends, default=None)))
    return tuple(ended)


def active_at(terms: Sequence[Term], instant: datetime) -> int | None:
    """The active controller at an instant; None where nobody is known to have been it."""
    term = next((t for t in reversed(terms) if t.since <= instant), None)
    return term.controller if term and (term.until is None or instant < term.until) else None


def speaks_for_cluster(terms: Sequence[Term], event: Row) -> bool:
    """Whether a controller's line is the word of the active controller.

    Odd: a controller that was paused fences brokers in its first instant awake, before it learns that another one
    has long taken over; and every controller prints old changes again when it starts. What stands in the metadata log
    was committed, whoever wrote it.
    """
    return event["origin"] == "record" or active_at(terms, event["happened_at"]) in (None, event["broker"])
