"""Parts of a table that wait in memory, compressed: rows of events have many columns without a value."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class PackedParts:
    """Parts of one input or output of a judgement, in order."""

    def __init__(self) -> None:
        self.row_count = 0
        self._parts = list[pa.Buffer]()

    def add(self, rows: pa.Table) -> None:
        """Take a part."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
            writer.write_table(rows)
        self._parts.append(sink.getvalue())
        self.row_count += rows.num_rows

    def __iter__(self) -> Iterator[pa.Table]:
        return map(_unpacked, self._parts)

    def pop_all(self) -> Iterator[pa.Table]:
        """Give each part, and let go of it as soon as it is given."""
        while self._parts:
            yield _unpacked(self._parts.pop(0))


def _unpacked(part: pa.Buffer) -> pa.Table:
    return pa.ipc.open_stream(part).read_all()
