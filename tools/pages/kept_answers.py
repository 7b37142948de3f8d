"""What the named queries answer on the recorded night: kept as files, so that pages show it and need no lake."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_hindsight.sql.answers import picture
from kafka_hindsight.sql.lake_views import open_lake
from kafka_hindsight.sql.named_queries import named_queries, named_question
from kafka_hindsight.sql.prompt import Session
from kafka_hindsight.start.launch import HOME

FOLDER = HOME / "docs" / "answers"
_MOST_ROWS = 5
_WIDTH = 360
_LONGEST_CELL = 50

ASKED_WITH: Mapping[str, str] = {
    "deaths_by_host": "from=2026-11-21",
    "failover_times": "from=2026-11-21",
    "imbalance_history": "broker=1",
    "isr_trouble_by_broker": "broker=2",
    "leader_timeline": "topic=fraud-risky-19 partition=1",
    "longest_rebalances": "limit=3",
    "outage_effects": "broker=2",
    "partition_owner": "at='2026-11-21 01:50' group_id=audit-drag-16 partition=3",
    "rebalances_by_cause": "group_id=crm-storm-8",
    "settings_of_groups": "group_id=ads-etl-1",
    "unavailability": "kind=acks_all_hung at_least=12",
    "without_leader": "at='2026-11-21 01:53' topic=crm-single-20",
}
"""The variables that make an example of the recorded night; the others are asked by their name alone."""


def keep_answers(lake: str, folder: Path = FOLDER) -> None:
    """Asks a lake every named query, and keeps each answer beside its question in a file of the query's name."""
    session = Session(open_lake(lake), named_queries())
    folder.mkdir(parents=True, exist_ok=True)
    for name in session.queries:
        text = f"{name} {ASKED_WITH.get(name, '')}".strip()
        query, variables = named_question(text, session.queries) or (session.queries[name], {})
        with session.variables(variables):
            drawn = picture(session.connection.execute(query.sql), _MOST_ROWS, _WIDTH, _LONGEST_CELL)
        (folder / f"{name}.txt").write_text(f'make sql Q="{text}"\n\n{drawn}\n', encoding="utf-8")


def kept_answers(folder: Path = FOLDER) -> dict[str, str]:
    """Every answer that is kept, by the name of its query."""
    return {p.stem: p.read_text(encoding="utf-8").rstrip("\n") for p in sorted(folder.glob("*.txt"))}
