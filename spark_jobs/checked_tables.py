"""The input and the results of a validation, as the steps and Great Expectations' process exchange them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

Tables = Mapping[str, pa.Table]
"""Rows by the full name of their table."""

Suites = Mapping[str, Mapping[str, Any]]
"""A user's own suites, by the full name of their table."""

Verdict = dict[str, Any]
"""Whether one expectation of one table held: the columns of quality.validation_results that depend on the data."""

Docs = dict[str, bytes]
"""Pages of Great Expectations' Data Docs, by their paths."""
