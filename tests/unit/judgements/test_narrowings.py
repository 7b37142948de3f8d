"""However the rows of a table lie in parts, what is narrowed part by part is what is narrowed at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.codes import StallKind, TruncationVerdict
from kafka_hindsight.catalog.gold import (
    COORDINATOR_MOVES,
    FAILOVERS,
    LEADER_IMBALANCE,
    PARTITION_STALLS,
    ROLLING_RESTARTS,
    SECOND_STARTS,
    TRUNCATIONS,
    UNAVAILABILITY,
)
from kafka_hindsight.catalog.quality import GENERATION_GAPS, LEADERSHIP_GAPS
from kafka_hindsight.engine.reduce import evaluate, judged_tables, narrow
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import RowSource, judgements_in_order
from kafka_hindsight.kafka_records.metadata_states import MetadataStart
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.shared.arrow_tables import completed
from tests.support.draws import drawn
from tests.support.nights import events
from tests.support.odd_night import HALF_MINUTES, HOUR, SCOPE, made_rows
from tests.support.rows import as_table, row


def made_outputs() -> dict[tuple[tuple[str, str], str], list[Any]]:
    """Outputs of which our rows give none, by judgement and output, and the table whose rows they are."""
    at = SCOPE.window.start
    return {
        (("metadata", "events"), "silver.events"): events("deletion-2.8"),
        (("groups", "moves"), "gold.coordinator_moves"): [
            row(COORDINATOR_MOVES, offsets_partition=n) for n in range(4)
        ],
        (("partitions", "leadership_gaps"), "quality.leadership_gaps"): [
            row(LEADERSHIP_GAPS, topic="orders", partition=n, explained_by=by, seen_at=at)
            for n, by in enumerate((None, "a", None))
        ],
        (("partitions", "truncations"), "gold.truncations"): [
            row(TRUNCATIONS, truncation_id=str(n), verdict=verdict, happened_at=at)
            for n, verdict in enumerate(TruncationVerdict)
        ],
        (("partitions", "failovers"), "gold.failovers"): [
            row(FAILOVERS, failover_id=f"{topic}-{kind}", topic=topic, kind=kind, happened_at=at, leaderless_ms=2_000)
            for topic in sorted({e.topic for e in events("crash-2.8") if e.topic is not None})
            for kind in ("broker_crash", "unclean_election")
        ],
        (("groups", "stalls"), "gold.partition_stalls"): [
            row(PARTITION_STALLS, group_id="g1", partition=n, stall_id=str(n), kind=kind, started_at=at)
            for n, kind in enumerate(StallKind)
        ],
        (("groups", "unavailability"), "gold.unavailability"): [
            row(UNAVAILABILITY, unavailability_id=str(n), group_id="g1", started_at=start, ended_at=end)
            for n, (start, end) in enumerate(((at - HOUR, at), (at - HOUR, None), (at, None)))
        ],
        (("readings", "imbalance"), "gold.leader_imbalance"): [
            row(LEADER_IMBALANCE, broker=n, over_threshold=n % 2 == 0, snapshot_at=at) for n in range(4)
        ],
        (("groups", "gaps"), "quality.generation_gaps"): [row(GENERATION_GAPS, seen_at=at), row(GENERATION_GAPS)],
        (("brokers", "second_starts"), "gold.second_starts"): [row(SECOND_STARTS, happened_at=at), row(SECOND_STARTS)],
        (("aftermath", "restarts"), "gold.rolling_restarts"): [
            row(ROLLING_RESTARTS, started_at=at),
            row(ROLLING_RESTARTS),
        ],
    }


@cache
def world() -> tuple[dict[str, pa.Table], dict[tuple[str, str], pa.Table], dict[str, Any]]:
    """The tables, the outputs of all judgements over them, and the values of those without a key."""
    tables = {name: as_table(rows, BY_NAME[name]) for name, rows in made_rows().items()}
    outputs = {place: as_table(rows, BY_NAME[name]) for (place, name), rows in made_outputs().items()}
    judged: dict[str, Any] = {"scope": SCOPE, "metadata_start": MetadataStart(HALF_MINUTES[3] - 2 * HOUR, 8, {})}
    for judgement in judgements_in_order(PUBLISHED.values()):
        parts = {
            name: [
                narrow(functions, rows_of_leaf(leaf, tables, outputs), judged) for leaf, functions in source.leaves()
            ]
            for name, source in judgement.reads.items()
        }
        if judgement.key:
            for name, rows in judged_tables(judgement, parts, judged).items():
                outputs.setdefault((judgement.name, name), rows)
        elif judgement.name not in judged:
            judged[judgement.name] = evaluate(judgement, parts, judged)
    return tables, outputs, judged


def rows_of_leaf(
    leaf: RowSource, tables: Mapping[str, pa.Table], outputs: Mapping[tuple[str, str], pa.Table]
) -> pa.Table:
    return tables[leaf.table] if leaf.table else outputs[leaf.judgement.name, leaf.output]  # type: ignore[union-attr]


def sources() -> dict[str, RowSource]:
    """Everything that a function makes, by who reads it: an input of a judgement, or a table that is published."""
    read = {
        f"{judgement.name}.{name}": s
        for judgement in judgements_in_order(PUBLISHED.values())
        for name, s in judgement.reads.items()
    }
    return {name: s for name, s in (read | PUBLISHED).items() if any(p.function for p in s.upstream())}


SOURCES = sources()


def as_rows(table: pa.Table) -> list[str]:
    """The rows in no order; a column without values is no column."""
    return sorted(repr(sorted((k, v) for k, v in row.items() if v is not None)) for row in table.to_pylist())


@pytest.mark.parametrize("name", SOURCES)
@drawn(0.2)
@given(cuts=st.lists(st.floats(0, 1), min_size=1, max_size=5), turn=st.randoms(use_true_random=True))
def test_narrowing_of_parts_equals_narrowing_of_the_whole(name: str, cuts: list[float], turn: Any) -> None:
    tables, outputs, judged = world()
    source = SOURCES[name]
    once, apart = [], []
    for leaf, functions in source.leaves():
        rows = rows_of_leaf(leaf, tables, outputs)
        order = list(range(rows.num_rows))
        turn.shuffle(order)
        shuffled = rows.take(pa.array(order, pa.int64()))
        bounds = sorted([0, rows.num_rows, *(int(cut * rows.num_rows) for cut in cuts)])
        parts = [shuffled.slice(a, b - a) for a, b in pairwise(bounds)]
        once.append(narrow(functions, rows, judged))
        apart += [narrow(functions, part, judged) for part in parts]
    whole, together = (pa.concat_tables(parts, promote_options="default") for parts in (once, apart))
    if (cls := next(source.leaves())[0].row_class) and source.again:
        schema = pa.schema([f for f in arrow_schema(cls.TABLE) if f.name in whole.column_names])
        whole, together = completed(whole, schema), completed(together, schema)
    if source.again:
        whole, together = (narrow([source.again], rows, judged) for rows in (whole, together))
    assert as_rows(together) == as_rows(whole)


def test_every_narrowing_has_rows_before_and_after_it() -> None:
    tables, outputs, judged = world()
    for name, source in SOURCES.items():
        narrowed = [
            (rows.num_rows, narrow(functions, rows, judged).num_rows)
            for leaf, functions in source.leaves()
            for rows in [rows_of_leaf(leaf, tables, outputs)]
        ]
        assert all(before for before, _ in narrowed), name
        assert any(after for _, after in narrowed), name


def test_narrowed_rows_of_keys_have_types_of_a_dry_run() -> None:
    """Rows for a judgement with a key have the columns of its class and its key, in the types of a dry run."""
    tables, outputs, judged = world()
    for judgement in judgements_in_order(PUBLISHED.values()):
        for name, source in judgement.reads.items():
            for leaf, functions in source.leaves() if judgement.key[1:] else ():
                rows = rows_of_leaf(leaf, tables, outputs)
                whole, dry = (narrow(functions, part, judged).schema for part in (rows, rows.slice(0, 0)))
                columns = arrow_schema(judgement.inputs[name].TABLE)  # type: ignore[union-attr]
                assert [(f.name, f.type) for f in whole] == [(f.name, f.type) for f in dry], (judgement.name, name)
                assert {*judgement.key} <= {*whole.names} <= {*columns.names, *judgement.key}, (judgement.name, name)
