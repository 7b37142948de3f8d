"""The arrays that logs are read by: names of their types, and the words that begin at each byte."""

from __future__ import annotations

from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Words = np.ndarray[Any, np.dtype[np.uint64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

NO_INSTANT = int(np.iinfo(np.int64).min)
"""Stands for the instant of a record without one."""

WORD = 8
"""Bytes that are compared at once."""

_MASKS = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)


def words_at(data: bytes, reach: int = 0) -> Words:
    """The word that begins at each byte. Takes: how far beyond the end words are asked for; there are zeros."""
    padded = data + bytes(reach + 2 * WORD)
    return np.ndarray(len(padded) - WORD + 1, np.uint64, padded, strides=(1,))


def as_before(words: Words, begins: Ints, ends: Ints) -> Flags:
    """Which spans hold the same bytes as the span before them; the first does not."""
    lengths = ends - begins
    same: Flags = np.append(False, lengths[1:] == lengths[:-1])[: len(begins)]
    for at in range(0, int(lengths.max(initial=0)), WORD):
        told = words[begins + np.minimum(at, lengths)] & _MASKS[np.clip(lengths - at, 0, WORD)]
        same[1:] &= told[1:] == told[:-1]
    return same
