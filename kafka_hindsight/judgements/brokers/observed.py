"""What lines, readings and files show of all brokers: what their absences are rebuilt from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.rows import BrokerSnapshot, Event, LogFile
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, controller_epochs_of
from kafka_hindsight.judgements.brokers.liveness import NEW_ON_KRAFT, SESSION, LivenessSignal, signals_by_broker
from kafka_hindsight.judgements.brokers.logs_at_hand import ELECTED_WITHIN, LogsAtHand
from kafka_hindsight.judgements.brokers.signs_of_life import SignsOfLife
from kafka_hindsight.knowledge.kinds import Kind

_OF_ZOOKEEPER = (Kind.BROKERS_CHANGED, Kind.BROKER_FAILED, Kind.BROKER_CAME)


@dataclass(frozen=True)
class Observed:
    """What absences are rebuilt from, beside the broker's own signals."""

    signs: SignsOfLife
    logs: LogsAtHand
    terms: Sequence[ControllerEpoch]
    session: timedelta
    since: datetime
    until: datetime
    uses_zookeeper: bool
    signals: Mapping[int, Sequence[LivenessSignal]]

    @property
    def missed_within(self) -> timedelta:
        """How soon a broker that is gone is missed: after its session, by the next controller where there is none."""
        return self.session + ELECTED_WITHIN

    def first_service(
        self, broker: int, after: datetime, start: LivenessSignal | None, *, is_over: bool
    ) -> Event | None:
        """The first proof after an instant that a broker serves again. Takes: its last start, until it served.

        Edge case: on KRaft a process takes up leaderships and replicas as its metadata of before have them, and is let
        in only later: as long as its log would show that, these lines prove nothing. Source: BrokerServer.startup,
        BrokerMetadataPublisher.
        """
        life = self.signs.first_service(broker, after, is_over=is_over)
        while life and life.broker == broker and start and self._is_fenced(start, life.happened_at):
            life = self.signs.first_service(broker, life.happened_at, is_over=is_over)
        return life

    def first_led(self, broker: int, after: datetime, start: LivenessSignal | None) -> Event | None:
        """The first line after an instant in which a broker becomes a leader that its controllers have let in."""
        line = self.signs.first_led(broker, after)
        return None if line and start and self._is_fenced(start, line.happened_at) else line

    def _is_fenced(self, start: LivenessSignal, at: datetime) -> bool:
        """Whether a process that started on KRaft, and has not logged that it was let in, is known not to be."""
        is_kraft = start.event.pattern_id == NEW_ON_KRAFT
        return is_kraft and start.at <= at and self.logs.is_own_whole(start.broker, start.at, at)


def observe(
    ordered: Sequence[Event], proofs: Iterable[Event], readings: Iterable[BrokerSnapshot], files: Iterable[LogFile]
) -> Observed:
    """What lines, readings and files show of all brokers. Takes: events in order, at least one; more proofs of life."""
    uses_zookeeper = any(e.kind in _OF_ZOOKEEPER for e in ordered)
    terms = controller_epochs_of(ordered)
    return Observed(
        signs=SignsOfLife(ordered, proofs, readings),
        logs=LogsAtHand(ordered, files, terms),
        terms=terms,
        session=SESSION[uses_zookeeper],
        since=ordered[0].happened_at,
        until=ordered[-1].happened_at,
        uses_zookeeper=uses_zookeeper,
        signals=signals_by_broker(ordered, terms),
    )
