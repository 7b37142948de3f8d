"""Kafka Hindsight: the history of a Kafka cluster's rebalances and failovers, with their causes.

The public Python API is what `__all__` names; docs/api.md explains it. Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_hindsight.audit.audit_run import judge as judge
    from kafka_hindsight.catalog import TABLES as TABLES
    from kafka_hindsight.catalog.nouns.causes import Cause as Cause
    from kafka_hindsight.knowledge.patterns import PATTERNS as PATTERNS
    from kafka_hindsight.knowledge.rules import RULES as RULES
    from kafka_hindsight.shared.exits import BadInput as BadInput
    from kafka_hindsight.sql.lake import Lake as Lake
    from kafka_hindsight.sql.lake import open_lake as open_lake

__version__ = "0.1.0"

_MODULES = {
    "BadInput": "shared.exits",
    "Cause": "catalog.nouns.causes",
    "Lake": "sql.lake",
    "PATTERNS": "knowledge.patterns",
    "RULES": "knowledge.rules",
    "TABLES": "catalog",
    "judge": "audit.audit_run",
    "open_lake": "sql.lake",
}
"""The module that holds each public name."""

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
