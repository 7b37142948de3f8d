"""What the tests of frames share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.support.logs import for_many_rows


@pytest.fixture(scope="module")
def many_rows(spark: SparkSession) -> Iterator[None]:
    """Lines are many: what reads them is compiled, as it is for a large night."""
    with for_many_rows(spark):
        yield
