"""The lines that the judgement of brokers reads: few of each broker, however much the brokers wrote."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.judgements.brokers.controller_changes import WHY_CONTROLLERS_CHANGE
from kafka_hindsight.judgements.brokers.controllers import ACTS, CONTROLLER_KINDS
from kafka_hindsight.judgements.brokers.liveness import (
    ACTIVE_KINDS,
    MEMBER_KINDS,
    PRESENCE_KINDS,
    SERVING_KINDS,
    SIGNAL_KINDS,
)
from kafka_hindsight.judgements.rebalances.topic_changes import TOPIC_CHANGE_KINDS
from kafka_hindsight.judgements.rebuild.metadata import EVENTS
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, narrowed
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.arrow_tables import FIRST, among, as_scalar, distinct, ends, repeated, with_columns
from kafka_hindsight.shared.windows import broker_ids

BROKER_KINDS = frozenset({
    *PRESENCE_KINDS,
    *CONTROLLER_KINDS,
    *WHY_CONTROLLERS_CHANGE,
    *TOPIC_CHANGE_KINDS,
    Kind.BROKER_CONFIGURED,
})  # fmt: skip

_QUOTED = ("line_id", "cluster", "origin", "source", "happened_at", "order", "broker", "kind", "pattern_id", "text")
"""The columns of a line that only shows a sign of life."""

_IN_ORDER = ("happened_at", "source", "order")

Instants = npt.NDArray[np.int64]
"""Microseconds since 1970, in order, each once."""


def signals_in(events: pa.Table) -> pa.Table:
    """The instants of signals about any broker that no client wrote, each once: happened_at."""
    is_signal = pc.and_(among(events["kind"], SIGNAL_KINDS), pc.not_equal(events["origin"], str(Origin.CLIENT)))
    return distinct(events.filter(is_signal).select(["happened_at"]))


def instants_of(signals: pa.Table) -> Instants:
    """The instants of signals in order."""
    return np.unique(signals["happened_at"].cast(pa.int64()).to_numpy())


SIGNALS = Judgement("signals", instants_of, (), {"signals": narrowed(signals_in, EVENTS, again=distinct)})
"""The instants of signals about the life of any broker."""


def about_brokers(events: pa.Table) -> pa.Table:
    """Keep the events about brokers, controllers and topics that no client wrote."""
    return events.filter(
        pc.and_(pc.not_equal(events["origin"], str(Origin.CLIENT)), among(events["kind"], BROKER_KINDS))
    )


def signs_of_life(events: pa.Table, signals: Instants) -> pa.Table:
    """Keep each broker's first and last line between two signals, in each hour, with and without proof of activity."""
    is_other = pc.and_(pc.equal(events["origin"], str(Origin.BROKER)), pc.invert(among(events["kind"], BROKER_KINDS)))
    lines = events.filter(is_other).select(_QUOTED)
    return _between(with_columns(lines, is_active=among(lines["kind"], ACTIVE_KINDS)), signals, "is_active")


def proofs_of_service(events: pa.Table, signals: Instants) -> pa.Table:
    """Keep lines that prove that a broker served: of each sort the first and last between two signals, in each hour.

    The broker that serves is the one that writes the line, or the leader that a follower names.
    """
    is_proof = pc.and_(pc.equal(events["origin"], str(Origin.BROKER)), among(events["kind"], SERVING_KINDS))
    lines = events.filter(is_proof).select([*_QUOTED, "leader"])
    leader = pc.if_else(pc.equal(lines["kind"], str(Kind.FOLLOWER_STARTED)), lines["leader"], None)
    lines = with_columns(lines, leader=leader, is_member=among(lines["kind"], MEMBER_KINDS))
    return _between(lines, signals, "is_member", "leader")


def _between(lines: pa.Table, signals: Instants, *sort: str) -> pa.Table:
    """The first and the last line of each broker and sort between two signals, in each hour."""
    at = lines["happened_at"].cast(pa.int64()).to_numpy()
    intervals = np.searchsorted(signals, at, "left") + np.searchsorted(signals, at, "right")
    numbered = with_columns(
        lines, hour=pc.floor_temporal(lines["happened_at"], unit="hour"), interval=pa.array(intervals, pa.int64())
    )
    return ends(numbered, ("broker", "hour", "interval", *sort), _IN_ORDER).drop_columns(["hour", "interval"])


def namings(events: pa.Table) -> pa.Table:
    """Keep the first and the last line that names each broker as a leader or in an ISR."""
    is_naming = pc.and_(
        pc.not_equal(events["origin"], str(Origin.CLIENT)),
        pc.or_(pc.is_valid(events["isr"]), pc.is_valid(events["leader"])),
    )
    lines = events.filter(is_naming).select([*_QUOTED, "isr", "leader"])
    pairs = zip(lines["isr"].to_pylist(), lines["leader"].to_pylist(), strict=True)
    broker_sets = [{*(broker_ids(isr) or ()), *_as_list(leader)} for isr, leader in pairs]
    of_each = repeated(lines, [len(ids) for ids in broker_sets])
    of_each = with_columns(of_each, named_broker=pa.array([i for ids in broker_sets for i in sorted(ids)], pa.int32()))
    outermost = ends(of_each, ("named_broker",), _IN_ORDER).drop_columns(["named_broker"])
    return ends(outermost, ("line_id",), _IN_ORDER, (FIRST,))


def controller_sightings(events: pa.Table) -> pa.Table:
    """Keep the first line of each hour that shows a controller in ZooKeeper mode at work, as one that names it."""
    acts = events.filter(among(events["pattern_id"], ACTS)).select([*_QUOTED, "node", "controller_epoch"])
    sightings = with_columns(
        acts,
        kind=pa.array([str(Kind.CONTROLLER_KNOWN)] * acts.num_rows, pa.string()),
        node=pc.coalesce(acts["node"], acts["broker"]),
        hour=pc.floor_temporal(acts["happened_at"], unit="hour"),
    )
    return ends(sightings, ("node", "controller_epoch", "hour"), _IN_ORDER, (FIRST,)).drop_columns(["hour"])


def _as_list(number: int | None) -> Iterable[int]:
    return () if number is None else (number,)


def files_in_scope(files: pa.Table, scope: Scope) -> pa.Table:
    """Keep the files of brokers' logs that reach into the window with its look-back and look-ahead."""
    first, last = files["first_at"], files["last_at"]
    reaches = pc.and_(
        pc.greater_equal(last, as_scalar(last, scope.wide_window.start)),
        pc.less(first, as_scalar(first, scope.wide_window.end)),
    )
    return files.filter(pc.and_(pc.equal(files["origin"], str(Origin.BROKER)), reaches))
