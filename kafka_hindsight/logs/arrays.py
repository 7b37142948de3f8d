"""The arrays that logs are read by."""

from __future__ import annotations

from typing import Any

import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]
ByteArray = np.ndarray[Any, np.dtype[np.uint8]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]

NO_INSTANT = int(np.iinfo(np.int64).min)
"""Stands for the instant of a record without one."""
