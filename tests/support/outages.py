"""The absences of brokers in lines and readings as tests have them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, Event, LogFile
from kafka_hindsight.judgements.brokers.lives import lives_of
from kafka_hindsight.judgements.brokers.observed import observe
from kafka_hindsight.judgements.brokers.outages import find_outages
from kafka_hindsight.shared.windows import Window, in_order


def rebuild_outages(
    events: Iterable[Event],
    readings: Iterable[BrokerSnapshot],
    window: Window,
    files: Iterable[LogFile] = (),
    proofs: Iterable[Event] = (),
) -> list[BrokerOutage]:
    """Rows of gold.broker_outages. `proofs`: more lines that show a broker to serve."""
    ordered, readings = in_order(events), list(readings)
    observed = observe(ordered, in_order(proofs), readings, files) if ordered else None
    cluster = next(chain((e.cluster for e in ordered), (r.cluster for r in readings)), "")
    return find_outages(cluster, observed, lives_of(observed), readings, window)
