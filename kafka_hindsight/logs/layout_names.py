"""Layouts by the names that records carry: their patterns, and the envelopes that a name begins with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED
from kafka_hindsight.logs.conversion_patterns import CompiledPattern, compile_pattern

_BY_NAME = {layout.name: layout.pattern for layout in (*PATTERN_LAYOUTS, *UNDATED)}

_WITHIN = re.compile(r"(?:[a-z0-9-]+>)*")


def layout_within(envelopes: Sequence[str], layout: str) -> str:
    """The name of a layout within envelopes: docker>compose>strimzi."""
    return "".join(f"{name}>" for name in envelopes) + layout


def without_envelopes(name: str) -> str:
    """The layout alone, without the envelopes that `layout_within` puts before its name."""
    return _WITHIN.sub("", name, count=1)


def layout_pattern(name: str) -> CompiledPattern:
    """The pattern of a layout by its name; any other name is a pattern that a user gave."""
    return compile_pattern(_BY_NAME.get(name, name))


def is_without_logger(name: str) -> bool:
    """Whether it is one of these layouts and its lines name no logger."""
    pattern = layout_pattern(name)
    return name in _BY_NAME and not any(p and "logger" in p.groupindex for p in (pattern.head, pattern.tail))
