"""Classes of values of which an audit makes millions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value_class(*, slots: bool = False, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """Make a class a dataclass whose values never change.

    Type checkers see to that. The class itself does not refuse it, as `dataclass(frozen=True)` does: then it would take
    twice as long to make a value.
    """
    return partial(dataclass, slots=slots, kw_only=kw_only, unsafe_hash=True)
