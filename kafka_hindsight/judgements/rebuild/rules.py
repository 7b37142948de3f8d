"""The judgement of the rules: each function takes the rows that its parameters name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pyarrow as pa

from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.judgements.findings.rule_inputs import Extent
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.last_reading import SETTINGS_IN_FORCE, of_last_reading
from kafka_hindsight.judgements.rebuild.sources import (
    Judgement,
    Narrow,
    RowSource,
    each,
    inputs_of,
    lake_table,
    narrowed,
)
from kafka_hindsight.shared.arrow_tables import inside


def judgement_of(rules: Sequence[Callable[..., Iterator[Finding]]], judged: Mapping[str, RowSource]) -> Judgement:
    """The judgement that runs rules over the tables that judgements fill, by full name, and those of the lake.

    Raises:
        TypeError: Two rules name other rows by one parameter.
    """
    hints: dict[str, Any] = {}
    for rule in rules:
        of_rule = get_type_hints(rule, include_extras=True)
        for name in inputs_of(rule):
            if hints.setdefault(name, of_rule[name]) != of_rule[name]:
                raise TypeError(f"Rules read {hints[name]} and {of_rule[name]} as '{name}': give one another name.")
    classes = {name: cls for rule in rules for name, cls in inputs_of(rule).items() if cls}
    reads = {name: _source(cls.TABLE, *_forms(hints[name]), judged) for name, cls in classes.items()}
    return Judgement("findings", tuple(rules), ("cluster",), reads, needs=(SETTINGS_IN_FORCE,))


def _forms(hint: Any) -> tuple[Extent, list[Narrow]]:
    """The extent of a parameter, and the functions that narrow its table."""
    forms = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    extent = next((form for form in forms if isinstance(form, Extent)), Extent.WINDOW)
    return extent, [form for form in forms if not isinstance(form, Extent)]


def _source(rows: Table, extent: Extent, functions: Sequence[Narrow], judged: Mapping[str, RowSource]) -> RowSource:
    if extent is Extent.LAST_READING:
        source = of_last_reading(rows.full_name)
    elif rows.full_name not in judged:
        source = lake_table(rows.full_name, span="window" if extent is Extent.WINDOW else "wide_window")
    elif extent is Extent.WINDOW and rows.time_column:
        source = each(partial(_begun_in_window, time_column=rows.time_column), judged[rows.full_name])
    else:
        source = judged[rows.full_name]
    for function in functions:
        source = narrowed(function, source)
    return source


def _begun_in_window(rows: pa.Table, scope: Scope, time_column: str) -> pa.Table:
    return inside(rows, scope.window, time_column)
