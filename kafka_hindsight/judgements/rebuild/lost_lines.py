"""The judgement of the times in which the lines of all brokers were lost, by the breaks that lie across them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.judgements.brokers.log_witnesses import LINES_WITHIN, silences_of_cluster, with_lost_lines
from kafka_hindsight.judgements.rebuild.brokers import WITNESSES
from kafka_hindsight.judgements.rebuild.events import EVENTS
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS
from kafka_hindsight.judgements.rebuild.sources import Judgement, narrowed
from kafka_hindsight.shared.arrow_tables import distinct


@dataclass(frozen=True)
class WindowWitnesses:
    """The witnesses of the window, without what lost lines would have shown."""

    witnesses: list[rows.Witness]


def judge_lost_lines(
    witnesses: list[rows.Witness],
    spans: list[rows.InputInstant],
    leadership_gaps: list[rows.LeadershipGap],
    generation_gaps: list[rows.GenerationGap],
) -> WindowWitnesses:
    """Find the silences of all brokers across which leader epochs or generations do not join."""
    breaks = [*_breaks_of_leaders(leadership_gaps), *_breaks_of_groups(generation_gaps)]
    silences = silences_of_cluster(row.happened_at for row in spans)
    return WindowWitnesses(with_lost_lines(witnesses, silences, breaks))


def _breaks_of_leaders(gaps: Sequence[rows.LeadershipGap]) -> Iterator[tuple[datetime, datetime]]:
    for gap in gaps:
        before = min((q.happened_at for q in gap.evidence if q.happened_at), default=None)
        if gap.explained_by is None and before:
            yield before, gap.seen_at


def _breaks_of_groups(gaps: Sequence[rows.GenerationGap]) -> Iterator[tuple[datetime, datetime]]:
    for gap in gaps:
        if gap.explained_by is None and gap.previous_seen_at:
            yield gap.previous_seen_at, gap.seen_at


def spans_with_lines(events: pa.Table) -> pa.Table:
    """The spans of each cluster in which a broker wrote a line, by their begins."""
    own = events.filter(pc.equal(events["origin"], str(Origin.BROKER)))
    begins = pc.floor_temporal(own["happened_at"], multiple=LINES_WITHIN.seconds, unit="second")
    return distinct(pa.table({"cluster": own["cluster"], "happened_at": begins}))


LOST_LINES = Judgement(
    "lost_lines",
    (judge_lost_lines,),
    ("cluster",),
    {
        "witnesses": WITNESSES.output("witnesses"),
        "spans": narrowed(spans_with_lines, EVENTS, again=distinct),
        "leadership_gaps": PARTITIONS.output("leadership_gaps"),
        "generation_gaps": GROUPS.output("gaps"),
    },
)
