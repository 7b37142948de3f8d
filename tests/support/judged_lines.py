"""Gold rows of a few log lines: all judgements in this process, without a lake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.quality import PARSED_HOURS
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.engine.reduce import evaluate, judged_tables, link, narrow
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import RowSource, judgements_in_order
from kafka_hindsight.knowledge.witness_loggers import QUORUM_LOGGER, WITNESSES, ZOOKEEPER_LOGGER
from kafka_hindsight.shared.durations import LOOK_BACK, MS
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window
from tests.support.rows import as_table, row
from tools.plain_reader import read_logs

Tables = Mapping[str, list[Any]]


ALL_LOGGERS = sorted(
    {QUORUM_LOGGER, ZOOKEEPER_LOGGER, *(name for w in WITNESSES for a in w.alternatives for name in a)}
)
"""The loggers of which lines would show whatever happened."""


def judged_lines(
    folder: Path, files: Mapping[str, str], loggers: Sequence[str] = ALL_LOGGERS, **readings: list[Any]
) -> Tables:
    """The rows of every table that is published, as objects, by its name.

    `files`: the text of each log of brokers, by its path. `loggers`: those of which each broker's logs have lines, but
    for these. `readings`: rows of tables of bronze, by their names. A row that quotes nothing fails the test.
    """
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.strip() + "\n")
    return judged_folder(folder, loggers, None, **readings)


def judged_folder(
    folder: Path, loggers: Sequence[str] = ALL_LOGGERS, clients: Path | None = None, **readings: list[Any]
) -> Tables:
    """The rows of every table that is published, of a folder of brokers' logs and of one of clients' logs."""
    return judged_folders([folder], loggers, clients, **readings)


def judged_folders(
    folders: Sequence[Path], loggers: Sequence[str] = ALL_LOGGERS, clients: Path | None = None, **readings: list[Any]
) -> Tables:
    """The same of several folders: each has files of its own of every log, as rotation leaves them."""
    of_clients = read_logs(clients, "client", "c")[0] if clients else []
    of_folders = [read_logs(folder, "broker", "c")[0] for folder in folders]
    events = [*(e for own in of_folders for e in own), *of_clients]
    ats = [e.happened_at for e in events]
    window = Window(min(ats), max(ats) + MS)
    scope = Scope("c", window, Window(window.start - LOOK_BACK, window.end + timedelta(hours=2)))
    logs = [own for lines in (*of_folders, of_clients) for own in grouped(lines, lambda e: e.source).items()]
    rows = {
        "silver.events": [replace(e, knowledge_version="1") for e in events],
        "bronze.log_files": [_file(source, lines) for source, lines in logs],
        "quality.parsed_hours": [_hour(source, lines, loggers) for source, lines in logs],
        **{f"bronze.{name}": own for name, own in readings.items()},
    }
    tables = {name: as_table(rows.get(name, []), table) for name, table in BY_NAME.items()}
    outputs: dict[tuple[str, str], pa.Table] = {}
    values: dict[str, Any] = {"scope": scope}

    def rows_of(source: RowSource) -> pa.Table:
        return outputs[source.judgement.name, source.output] if source.judgement else tables[source.table]

    def joined(source: RowSource, of_rows: pa.Table) -> pa.Table:
        return link(of_rows, rows_of(source.sources[1]), source.joined) if source.joined else of_rows

    for judgement in judgements_in_order(PUBLISHED.values()):
        parts = {
            name: [narrow(functions, rows_of(leaf), values) for leaf, functions in source.leaves()]
            for name, source in judgement.reads.items()
        }
        if judgement.key:
            outputs |= {(judgement.name, name): own for name, own in judged_tables(judgement, parts, values).items()}
        else:
            values[judgement.name] = evaluate(judgement, parts, values)
    published = {
        name: [
            BY_NAME[name].row_class.of(r)
            for leaf, functions in source.leaves()
            for r in joined(source, narrow(functions, rows_of(leaf), values)).to_pylist()
        ]
        for name, source in PUBLISHED.items()
    }
    without_proof = [r for own in published.values() for r in own if getattr(r, "evidence", ["none needed"]) == []]
    assert without_proof == []
    return published


def _file(source: str, lines: list[Event]) -> Any:
    ats = [e.happened_at for e in lines]
    columns = {"cluster": "c", "file": f"{source} {min(ats)}", "source": source, "origin": lines[0].origin}
    return row(LOG_FILES, first_at=min(ats), last_at=max(ats), **columns)


def _hour(source: str, lines: list[Event], loggers: Sequence[str]) -> Any:
    """The whole log as one hour, in which its writer's loggers have a line each."""
    ats, brokers = [e.happened_at for e in lines], {e.broker for e in lines} - {None}
    columns = {
        "cluster": "c",
        "source": source,
        "origin": lines[0].origin,
        "hour_from": min(ats),
        "hour_to": max(ats) + MS,
    }
    columns["given_broker"] = brokers.pop() if len(brokers) == 1 else None
    pairs = [f"INFO {name}" for name in loggers]
    return row(PARSED_HOURS, first_at=min(ats), last_at=max(ats), loggers=pairs, **columns)
