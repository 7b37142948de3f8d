"""With less of the logs no zero, no calm and nothing surer, unless the page says what is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Harm, Urgency
from tests.support.brokers_logs import WINDOW, audit_here, whole_night
from tests.support.lake import rows
from tests.support.taken_away import LogRecord, Removal, write_rest

pytestmark = pytest.mark.long

BROKERS = ("broker-1", "broker-2", "broker-3")
FILES = ("server", "state-change", "controller")
LOGGERS = (
    "BrokerLifecycleManager",
    "BrokerServer",
    "CoordinatorRuntime",
    "GroupMetadataManager",
    "KafkaRaftClient",
    "LoggingSignalHandler",
    "Partition",
    "QuorumController",
    "ReplicaFetcherThread",
    "ReplicaManager",
    "ReplicationControlManager",
    "UnifiedLog",
    "logger",
)
"""Loggers that write at each start or in each night; the last is that of state changes."""

FIGURES = {
    "records_lost_low": Harm.RECORDS_LOST,
    "partitions_offline": Harm.PARTITIONS_OFFLINE,
    "partitions_still_offline": Harm.PARTITIONS_OFFLINE,
    "partitions_refusing": Harm.WRITES_REFUSED,
    "sudden_absences": Harm.BROKER_LOST,
    "orderly_absences": Harm.BROKER_LOST,
    "groups_stopped": Harm.CONSUMERS_STOPPED,
}
"""The figures of a night, and the harm of which each is."""

SUBJECTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "gold.broker_outages": lambda r: r["broker"],
    "gold.failovers": lambda r: (r["topic"], r["partition"]),
    "gold.rebalances": lambda r: r["group_id"],
    "gold.truncations": lambda r: (r["topic"], r["partition"]),
}
"""What the rows of each table are about."""


def _filtered(record: LogRecord) -> bool:
    return record.level in ("TRACE", "DEBUG", "INFO")


@st.composite
def removals(draw: st.DrawFn) -> Removal:
    """Loggers, levels, files, brokers, or the first or last minutes of some brokers' logs."""
    brokers = draw(st.frozensets(st.sampled_from(BROKERS), min_size=1))
    kind = draw(st.sampled_from(("logger", "level", "file", "broker", "begin", "end")))
    if kind == "logger":
        logger = draw(st.sampled_from(LOGGERS))
        return Removal(f"logger {logger}", brokers, lambda r: r.logger == logger)
    if kind == "level":
        return Removal("what is below WARN", brokers, _filtered)
    if kind == "file":
        names = draw(st.frozensets(st.sampled_from(FILES), min_size=1, max_size=2))
        return Removal(f"files {sorted(names)}", brokers, lambda r: r.file in names)
    if kind == "broker":
        return Removal("all logs", brokers - {min(brokers)} or brokers, lambda _: True)
    minutes = timedelta(minutes=draw(st.integers(3, 9)))
    if kind == "begin":
        return Removal(f"the first {minutes}", frozenset(BROKERS), lambda r: r.at < WINDOW[0] + minutes)
    return Removal(f"the last {minutes}", frozenset(BROKERS), lambda r: r.at >= WINDOW[1] - minutes)


def certain_rows(lake: Path, table: str) -> Counter[Any]:
    """The number of certain rows about each subject."""
    return Counter(SUBJECTS[table](r) for r in rows(lake, table) if r["confidence"] == "certain")


@given(removals())
@settings(max_examples=6, phases=[Phase.generate])
def test_what_is_taken_away_is_named_where_it_could_show_more(removal: Removal) -> None:
    night, whole_lake = whole_night()
    with TemporaryDirectory() as folder:
        lake = Path(folder, "lake")
        audit_here(write_rest(night / "logs", Path(folder, "logs"), removal), lake)
        [whole], [rest] = rows(whole_lake, "quality.nights"), rows(lake, "quality.nights")
        unnamed = {figure for figure, harm in FIGURES.items() if harm not in rest["not_known"]}
        assert not [f for f in FIGURES if whole[f] and rest[f] == 0], "no figure falls to zero"
        assert not [f for f in unnamed if rest[f] is None or rest[f] > whole[f]], "what grows is named"
        assert [*Urgency].index(rest["state"]) <= [*Urgency].index(whole["state"]) or rest["not_known"], (
            "no calmer badge"
        )
        for table in SUBJECTS:
            assert certain_rows(lake, table) <= certain_rows(whole_lake, table), "nothing new is certain"
