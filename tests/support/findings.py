"""The rules over rows that a test made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args, get_type_hints

from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.catalog.rows import Finding
from kafka_hindsight.engine.reduce import narrow
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, SettingsInForce
from kafka_hindsight.judgements.findings import RULES
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.sources import inputs_of, values_of
from kafka_hindsight.knowledge.rules import STANDING_RULES
from kafka_hindsight.shared.arrow_rows import rows_of
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, as_table

DAY = Window(AT - timedelta(hours=12), AT + timedelta(hours=12))


def raised(
    cluster: str = "c",
    window: Window = DAY,
    settings: BrokerSettings | None = None,
    clocks: tuple[ClockError, ...] = (),
    **rows: Any,
) -> list[Finding]:
    """The findings on rows, by the name under which rules read them: the gravest first, those about settings last.

    Rows are narrowed as rules say. What is not named has no rows. `settings` are those in force at AT.
    """
    values = {
        "cluster": cluster,
        "scope": Scope(cluster, window, window, clocks=clocks),
        "settings_in_force": SettingsInForce(AT, settings or BrokerSettings()),
    }
    findings, names = list[Finding](), set[str]()
    for rule in RULES:
        own = {name: _narrowed(rule, name, rows.get(name, ()), values) for name in inputs_of(rule)}
        findings += rule(**own, **{name: values[name] for name in values_of(rule)})
        names |= own.keys()
    assert rows.keys() <= names, f"No rule reads {rows.keys() - names}."
    return sorted(findings, key=_rank)


def _narrowed(rule: Any, name: str, rows: Any, values: Mapping[str, Any]) -> Any:
    cls, forms = inputs_of(rule)[name], get_args(get_type_hints(rule, include_extras=True)[name])[1:]
    functions = [form for form in forms if callable(form)]
    if not functions or not rows or cls is None:
        return rows
    table = narrow(functions, as_table(rows, cls.TABLE), values)
    return rows_of(table.combine_chunks().to_batches(), cls)


def _rank(finding: Finding) -> tuple[Any, ...]:
    severity = [*FindingSeverity].index(finding.severity)
    return severity, finding.rule_id in STANDING_RULES, finding.first_at, finding.rule_id, finding.subject
