"""Tables as datasets of Arrow, whose files are checked when a query opens them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import PyFileSystem

from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.table_files import check_file


def dataset_of(delta: DeltaTable, folder: str, table: Table, files: Iterable[DataFile]) -> ds.Dataset:
    """Give a table as a dataset: a query reads the files and the columns that it needs.

    Args:
        delta: The table, as it was opened.
        folder: Where it lies.
        table: The table.
        files: Its files.
    """
    return delta.to_pyarrow_dataset(filesystem=PyFileSystem(_CheckedFiles(delta.table_uri, folder, table, files)))


class _CheckedFiles(DeltaStorageHandler):  # type: ignore[misc]
    """The files of a table. Each is checked before it is opened."""

    def __init__(self, uri: str, folder: str, table: Table, files: Iterable[DataFile]) -> None:
        super().__init__(uri)
        self._folder, self._table, self._files = folder, table, {file.path: file for file in files}

    def open_input_file(self, path: str) -> Any:
        """Open a file to read it. Raises: see `check_file`."""
        check_file(self._folder, self._files[path], self._table)
        return super().open_input_file(path)
