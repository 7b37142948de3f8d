"""Files with rows of judgements: few of them, whatever the parts in which rows come."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kafka_hindsight.lake.kept_files import Keeper, rows_in


def test_small_parts_are_one_file_with_all_rows(tmp_path: Path) -> None:
    keeper = Keeper(str(tmp_path), 0o077)
    parts = [pa.table({"n": list(range(start, start + 1_000))}) for start in (0, 1_000, 2_000)]
    files = [file for part in parts for file in keeper.keep("groups", "lag", part)]
    files += keeper.close()
    assert [(file.judgement, file.name, file.rows) for file in files] == [("groups", "lag", 3_000)]
    assert pa.concat_tables(rows_in(files)) == pa.concat_tables(parts)
