"""The order in which tables are published: a table comes before those that refer to it."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_hindsight.catalog.table_model import Table


def in_waves(tables: Iterable[Table]) -> list[list[Table]]:
    """The tables in waves: rows refer by id only to rows of tables in earlier waves. Within a wave the order stays.

    Raises:
        ValueError: Tables refer to each other in a circle.
    """
    remaining = list(tables)
    names = {t.key[0]: t for t in remaining if len(t.key) == 1}
    waves: list[list[Table]] = []
    while remaining:
        wave = [
            t for t in remaining if not ({names[c.name] for c in t.columns if c.name in names} - {t}) & set(remaining)
        ]
        if not wave:
            raise ValueError(
                f"These tables refer to each other in a circle: {', '.join(t.full_name for t in remaining)}."
            )
        waves.append(wave)
        remaining = [t for t in remaining if t not in wave]
    return waves
