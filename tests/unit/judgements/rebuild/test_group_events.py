"""Which group a client's line belongs to: what is found of tables is what is found of rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_hindsight.catalog.bronze import MEMBER_SNAPSHOTS
from kafka_hindsight.catalog.kinds import CLIENT_KINDS, GROUP_KINDS
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.reduce import narrow
from kafka_hindsight.judgements.rebuild.groups import GROUPS, NAMES, find_names, names_of_members
from tests.support.groups import EXCERPT_NAMES, witnessed
from tests.support.groups import GROUPS as EXCERPTS
from tests.support.histories import line
from tests.support.rows import as_table
from tools.plain_reader import read_logs

Named = tuple[str, str | None, str | None]


def names_of_events(events: Sequence[Event]) -> set[Named]:
    """Each event's line, client and group, as the rebuild gathers them."""
    rows = as_table(events, EVENTS)
    (_, of_names), (_, of_groups) = (next(j.reads[i].leaves()) for j, i in ((NAMES, "log_names"), (GROUPS, "events")))
    names = find_names(narrow(of_names, rows, {}), names_of_members(as_table([], MEMBER_SNAPSHOTS)))
    gathered = narrow(of_groups, rows, {"names": names})
    return {(r["line_id"], r["client_id"], r["group_id"]) for r in gathered.to_pylist()}


def test_client_lines_get_client_and_group() -> None:
    """Over all excerpts at once, each of them as a cluster of its own would be: their sources and lines differ."""
    events: list[Event] = []
    expected: set[Named] = set()
    for name in (n for n in EXCERPT_NAMES if n.endswith("-4.3") and (EXCERPTS / n / "clients").exists()):
        for folder, origin in (("logs", "broker"), ("clients", "client")):
            events += read_logs(EXCERPTS / name / folder, origin, "night")[0]
        expected |= {(e.line_id, e.client_id, e.group_id) for w in witnessed(EXCERPTS / name) for e in w.events}
    named = [e for e in events if e.kind in GROUP_KINDS or e.kind in CLIENT_KINDS]
    assert len(named) > 1_000
    assert names_of_events(named) == expected


@pytest.mark.parametrize(("clients", "owner"), [(("a",), "a"), (("a", "b"), None)])
def test_line_without_client_belongs_to_only_client_of_its_log(clients: Sequence[str], owner: str | None) -> None:
    columns = {"origin": "client", "source": "app.log"}
    joins = [line("client_joining", f"01:00:0{n}", client_id=c, **columns) for n, c in enumerate(clients)]
    bare = line("client_left", "01:00:09", **columns)
    (mine,) = [n for n in names_of_events([*joins, bare]) if n[0] == bare.line_id]
    assert mine[1:] == (owner, "g")


@pytest.mark.parametrize(("groups", "owner"), [(("g", "g"), "g"), (("g", "h"), None)])
def test_client_stop_line_belongs_to_only_group_of_its_log(groups: Sequence[str], owner: str | None) -> None:
    columns = {"origin": "client", "source": "worker.log"}
    joins = [line("client_joining", "01:00:00", g, client_id=f"consumer-{n}", **columns) for n, g in enumerate(groups)]
    stops = line("client_stopping", "01:00:09", None, **columns)
    assert [n[1:] for n in names_of_events([*joins, stops]) if n[0] == stops.line_id] == (
        [(None, owner)] if owner else []
    )


@pytest.mark.parametrize(
    ("consumer", "group", "owner"),
    [
        ("connector-consumer-fan-out-3", "shipping", ("connector-consumer-fan-out-3", "shipping")),
        ("consumer-9", "connect-fan-out", ("connector-consumer-fan-out-3", "connect-fan-out")),
    ],
)
def test_killed_task_belongs_to_group_of_its_consumer(consumer: str, group: str, owner: tuple[str, str]) -> None:
    columns = {"origin": "client", "source": "worker.log"}
    joins = line("client_joining", "01:00:00", group, client_id=consumer, **columns)
    killed = line("client_task_killed", "01:00:09", None, detail="fan-out-3", **columns)
    (mine,) = [n for n in names_of_events([joins, killed]) if n[0] == killed.line_id]
    assert mine[1:] == owner
