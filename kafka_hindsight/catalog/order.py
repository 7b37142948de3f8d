"""In which order tables are published: what others refer to comes first."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_hindsight.catalog.model import Table


def in_waves(tables: Iterable[Table]) -> list[list[Table]]:
    """The tables in waves: a table's rows name, by their id, only rows of tables in earlier waves.

    Order: within a wave as given.
    Raises: ValueError where tables refer to each other in a circle.
    """
    left = list(tables)
    names = {t.key[0]: t for t in left if len(t.key) == 1}
    waves: list[list[Table]] = []
    while left:
        wave = [t for t in left if not ({names[c.name] for c in t.columns if c.name in names} - {t}) & set(left)]
        if not wave:
            raise ValueError(f"These tables refer to each other in a circle: {', '.join(t.full_name for t in left)}.")
        waves.append(wave)
        left = [t for t in left if t not in wave]
    return waves
