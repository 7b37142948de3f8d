"""How large a lake is, how fast its raw lines grow, what retention removes, and whether maintenance is overdue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.store import to_compact
from kafka_hindsight.settings.retention import Retention
from kafka_hindsight.shared import words

FilesByTable = Mapping[Table, Iterable[DataFile]]

EXAMPLE = Retention({"bronze": 90, "silver": 90})
"""What a lake that keeps everything is compared with."""

_DAYS = timedelta(days=7)
"""The newest days of logs, by which growth is measured."""

_DAY = timedelta(days=1)

_SMALL_FILES = 400
"""The small files of a table above which maintenance is overdue: 40 clusters leave 280 in the week between two runs."""

_MS_FOR_FILE = 1.5
"""What a question takes for each small file that it reads, in milliseconds of a processor (docs/speed.md)."""


def growth(files: FilesByTable, keep: Retention, now: datetime) -> Iterator[str]:
    """Say in sentences how large the newest versions are, how fast they grow, and what is kept how long."""
    of_layers = dict[str, int]()
    for table, own in files.items():
        of_layers[table.layer] = of_layers.get(table.layer, 0) + sum(file.size for file in own)
    layers = ", ".join(f"{layer} {_size(size)}" for layer, size in of_layers.items() if size)
    yield f"{_size(sum(of_layers.values()))} in the newest versions: {layers or 'no rows'}"
    if speed := _speed(files.get(LOG_RECORDS, ())):
        yield speed
    if keep.days:
        days = ", ".join(f"{name}={count}" for name, count in keep.days.items())
        yield f"KEEP is {days}: the next maintenance frees about {_size(_freed(files, keep, now))}"
    if "bronze" not in keep.days and LOG_RECORDS.full_name not in keep.days:
        days = ",".join(f"{name}={count}" for name, count in EXAMPLE.days.items())
        freed = _size(_freed(files, EXAMPLE, now))
        yield f"raw lines are kept for ever, since KEEP names no days for bronze; KEEP={days} would free about {freed}"


def overdue(files: FilesByTable) -> str | None:
    """Say that maintenance is overdue, and what that costs; None where no table has many small files."""
    small = {table: sum(map(len, to_compact(table, own))) for table, own in files.items()}
    most = max(small, key=lambda table: small[table], default=None)
    if most is None or small[most] <= _SMALL_FILES:
        return None
    seconds = words.duration(small[most] * _MS_FOR_FILE)
    return (
        f"overdue: {most.full_name} has {words.number(small[most])} small files, and a question over all of them takes"
        f" {seconds} longer; {words.number(sum(small.values()))} files of the lake are small.\n"
        "Run the step maintain, or the DAG kafka_maintenance each week."
    )


def _speed(files: Iterable[DataFile]) -> str | None:
    """The bytes of raw lines of a day, by the newest week of instants in them."""
    spans = [(file, span) for file in files if (span := file.span(LOG_RECORDS.time_column or ""))]
    if not spans:
        return None
    end = max(span[1] for _, span in spans)
    start = max(min(span[0] for _, span in spans), end - _DAYS)
    size = sum(file.size * _share(span, (start, end)) for file, span in spans)
    if end - start < _DAY:
        return f"raw lines of {words.duration(end - start)} take {_size(size)}: too short to say how fast they grow"
    return f"raw lines grow by {_size(size / ((end - start) / _DAY))} a day of logs"


def _freed(files: FilesByTable, keep: Retention, now: datetime) -> float:
    """The bytes of rows that are older than retention, by the instants of each file."""
    before = {table: oldest for table in files if table.time_column and (oldest := keep.oldest(table, now))}
    return sum(
        file.size * _share(span, (datetime.min.replace(tzinfo=UTC), oldest))
        for table, oldest in before.items()
        for file in files[table]
        if (span := file.span(str(table.time_column)))
    )


def _share(span: tuple[datetime, datetime], of: tuple[datetime, datetime]) -> float:
    """The share of a span that lies within another one."""
    within = min(span[1], of[1]) - max(span[0], of[0])
    return max(within, timedelta(0)) / (span[1] - span[0])


def _size(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"
