"""The arrays that logs are read by."""

from __future__ import annotations

from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

NO_INSTANT = int(np.iinfo(np.int64).min)
"""Stands for the instant of a record without one."""


def repeats(keys: Any) -> Flags:
    """Which keys are there more than once."""
    by_key = np.argsort(keys, kind="stable")
    is_like_next = np.append(keys[by_key][1:] == keys[by_key][:-1], False)
    is_repeat: Flags = np.zeros(len(keys), bool)
    is_repeat[by_key] = is_like_next | np.roll(is_like_next, 1)
    return is_repeat
