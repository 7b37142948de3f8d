"""Changes of the active controller: which node became active, and why the one before did not stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY, ControllerChangeCause, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, ControllerChange, Event
from kafka_hindsight.judgements.brokers.controller_rulings import (
    CONTROLLER_RULINGS,
    ControllerCase,
    is_in_vain,
    most_elections,
)
from kafka_hindsight.judgements.brokers.controllers import CONTROLLER_KINDS, ControllerEpoch, controller_epochs_of
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline, timelines
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, MS
from kafka_hindsight.shared.windows import Window, in_order

WHY_CONTROLLERS_CHANGE = (Kind.ZOOKEEPER_SESSION_EXPIRED, Kind.CONTROLLER_STEPPED_DOWN, Kind.ELECTION_STOOD)
"""Kinds that show why a controller resigned, beside those of CONTROLLER_KINDS."""

_PAUSE = timedelta(seconds=15)
"""A node that no majority answers stands for election again much sooner. Source: controller.quorum.election.timeout.ms,
its backoff and controller.quorum.fetch.timeout.ms, 1 to 2 s each by default."""

_WITHOUT = "no leader was elected, no topic changed, and no broker was let in or fenced."


def rebuild_controller_changes(
    events: Iterable[Event], outages: Sequence[BrokerOutage], window: Window
) -> list[ControllerChange]:
    """Rows of gold.controller_changes by epoch: one for each in which a line shows that a controller became active, and
    one for the last elections, where no line shows that a node won them.

    An epoch that no node won has no other row. Of a KRaft controller that is not a broker only its own lines report.
    """
    events = list(events)
    until = max((e.happened_at for e in events), default=LONG_AGO)
    ordered = in_order(e for e in events if e.kind in (*CONTROLLER_KINDS, *WHY_CONTROLLERS_CHANGE))
    return [_row(case) for case in _cases(ordered, outages, until) if window.holds(case.happened_at)]


def _cases(ordered: Sequence[Event], outages: Sequence[BrokerOutage], until: datetime) -> Iterator[ControllerCase]:
    away = Intervals(Interval(o.down_at, o.up_at, o) for o in outages)
    lines = timelines(ordered, lambda e: e.broker, lambda e: e.happened_at)
    stood = [e for e in ordered if e.kind == Kind.ELECTION_STOOD]
    epochs = controller_epochs_of(ordered)
    terms = timelines(epochs, lambda t: t.controller, lambda t: t.since)
    for before, term in pairwise([None, *epochs, *_without_winner(epochs[-1:], stood, ordered, outages, until)]):
        if term and term.is_change:
            # ZooKeeper counts epochs of controllers alone, a quorum those that no node won too.
            if before and term.is_zookeepers and term.epoch > before.epoch + 1:
                before = None
            own = lines.get(before.controller) if before else None
            yield ControllerCase(
                term=term,
                before=before,
                outages=_absences_at(term.since, away, terms),
                lines=own.between(before.since, term.since + CLOCK_SKEW) if before and own else (),
                stood=_until(term.since, stood, before.since if before else LONG_AGO),
            )


def _absences_at(
    at: datetime, away: Intervals[BrokerOutage], terms: Mapping[int, Timeline[ControllerEpoch]]
) -> list[BrokerOutage]:
    """The absences that lasted at an instant, but those during which the node became the active controller.

    However long no line shows its return, such a node lived: the absence is not why it, or a majority, is missing now.
    """
    lasting = [o.value for o in away.at(at, CLOCK_SKEW)]
    last = {o.broker: terms[o.broker].last_before(at) for o in lasting if o.broker in terms}
    return [o for o in lasting if not _began_before(o, last.get(o.broker))]


def _began_before(outage: BrokerOutage, term: ControllerEpoch | None) -> bool:
    says_so = outage.kind in (OutageKind.CONTROLLED_SHUTDOWN, OutageKind.FAILED_START)
    begun = outage.down_at + SHUTDOWN_LASTS if says_so else outage.detected_at
    return term is not None and begun is not None and begun < term.since


def _without_winner(
    last: Sequence[ControllerEpoch],
    stood: Sequence[Event],
    ordered: Sequence[Event],
    outages: Iterable[BrokerOutage],
    until: datetime,
) -> Iterator[ControllerEpoch]:
    """The epoch of the last elections, where no line shows a node to win it. Takes: the last epoch that a node won.

    Edge case: where a controller detected a broker as down meanwhile, there was one, and who stood did not reach it.
    """
    run = _until(stood[-1].happened_at, stood, last[0].since if last else LONG_AGO) if stood else []
    if not is_in_vain(run) or any(_follows(e, until) for e in ordered if e.happened_at > run[-1].happened_at):
        return
    if not any(o.detected_at and o.detected_at > run[0].happened_at + CLOCK_SKEW for o in outages):
        epochs = (*(t.epoch + 1 for t in last), *(e.controller_epoch or 0 for e in run))
        yield ControllerEpoch(max(epochs), NOBODY, run[-1].happened_at, None, True, ())


def _follows(event: Event, until: datetime) -> bool:
    """Whether a line names the active controller, and its node goes on with it: one that stands for election names the
    former controller between two elections, however dead that is.
    """
    is_named = event.kind == Kind.CONTROLLER_KNOWN and event.node is not None
    return is_named and until - event.happened_at > _PAUSE


def _until(elected_at: datetime, stood: Sequence[Event], since: datetime) -> Sequence[Event]:
    """The lines of elections up to one, from an instant on, without a pause between them."""
    run: list[Event] = []
    for event in reversed([e for e in stood if since < e.happened_at <= elected_at]):
        if (run[-1].happened_at if run else elected_at) - event.happened_at > _PAUSE:
            break
        run.append(event)
    return run[::-1]


def _row(case: ControllerCase) -> ControllerChange:
    verdict = judge(CONTROLLER_RULINGS, case)
    is_lost = verdict.code == ControllerChangeCause.NO_MAJORITY
    low, high = case.uncontrolled
    without = f"{'Meanwhile' if case.controller == NOBODY else 'Until then'} {_WITHOUT}"
    return ControllerChange(
        cluster=(case.term.lines or case.stood)[0].cluster,
        happened_at=case.happened_at,
        controller_from=case.former,
        controller_to=case.controller,
        epoch=case.term.epoch,
        cause=ControllerChangeCause(verdict.code),
        outage_id=verdict.facts.get("outage_id"),
        elections=most_elections(case.stood),
        uncontrolled_low_ms=None if low is None else low // MS,
        uncontrolled_high_ms=None if high is None else high // MS,
        confidence=verdict.confidence,
        explanation=f"{verdict.sentence} {without}" if is_lost and low else verdict.sentence,
        evidence=evidence_of([*map(quote, case.term.lines), *verdict.evidence]),
    )
