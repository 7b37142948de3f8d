"""The health of collection: which logs are behind, which clusters are old, and what the page does not know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.collection import (
    SHOWN,
    Collection,
    collection_lines,
    collection_page,
    collection_summary,
)
from kafka_hindsight.report.html import render_html
from kafka_hindsight.shared.exits import BadInput
from tests.support.report_blocks import cells, found, rows, section, text
from tests.support.report_night import HOSTILE

AT = datetime(2026, 11, 21, 9, tzinfo=UTC)


def log(source: str = "b-1/server.log", hours_ago: float | None = 0, **columns: Any) -> dict[str, Any]:
    last = None if hours_ago is None else AT - timedelta(hours=hours_ago)
    row = {"cluster": "orders", "broker": 1, "origin": "broker", "last_read_at": AT, "lines_in": 4, "unparsed": 0}
    return {**row, "source": source, "last_line_at": last, **columns}


def test_log_more_than_an_hour_behind_its_own_cluster_is_behind():
    logs = [
        log("b-1/server.log", 0.5),
        log("b-2/server.log", 1.6, broker=2),
        log("b-3/server.log", 1.4, broker=None),
        log("payments.log", 1.9, cluster="payments", broker=None, origin="client"),
    ]
    page = collection_page(Collection.of(logs, AT))
    assert [cells(row)[:3] for row in rows(page, "behind")] == [["b-2/server.log", "orders", "2"]]
    assert [cells(row)[:5] for row in rows(page, "clusters")] == [
        ["orders", "3", "1", "2026-11-21 08:30:00", "30 min"],
        ["payments", "1", "0", "2026-11-21 07:06:00", "1 h 54 min"],
    ]
    assert collection_summary(Collection.of(logs, AT)) == (
        "Of 4 logs in 2 clusters, 1 is more than 1 h behind the newest line of its cluster."
    )
    old = [log(hours_ago=5, last_read_at=AT - timedelta(hours=3))]
    assert collection_summary(Collection.of(old, AT)) == (
        "Of 1 log in 1 cluster, none is more than 1 h behind the newest line of its cluster. The newest line of 1"
        " cluster is more than 2 h old. 1 cluster was not read for more than 2 h."
    )


def test_each_log_is_listed_by_its_last_line_with_what_is_not_known():
    logs = [log("b-1/server.log"), log("all.log", 2, broker=None), log("c.log", None)]
    logs[-1] |= {"origin": "client", "broker": None, "lines_in": None}
    (table,) = found(ui.PagedTable, section(collection_page(Collection.of(logs, AT)), "logs/logs"))
    of = [dict(zip(table.headings, map(text, cells), strict=True)) for _, cells in table.rows]
    assert [row["Log"] for row in of] == ["c.log", "all.log", "b-1/server.log"]
    assert [row["Last line"] for row in of] == ["not known", "2026-11-21 07:00:00", "2026-11-21 09:00:00"]
    assert [row["Broker"] for row in of] == ["", "not known", "1"] and of[0]["Lines"] == ""
    assert [tone for tone, _ in table.rows] == ["unknown", "topic", "asked"]


@pytest.mark.parametrize(
    ("logs", "more", "is_calm"),
    [
        ([log()], {}, True),
        ([log(hours_ago=3)], {}, False),
        ([log(hours_ago=None)], {}, False),
        ([log(last_read_at=AT - timedelta(hours=3))], {}, False),
        ([log(last_read_at=None)], {}, False),
        ([log(), log("b-2", 1.5)], {}, False),
        ([log()], {"configured": ["orders", "new"]}, False),
        ([log()], {"unread": {"far": "no route"}}, False),
        ([], {}, False),
    ],
)
def test_page_is_calm_only_where_each_log_is_new_and_each_lake_was_read(logs, more, is_calm):
    (lead,) = [box for box in found(ui.Box, collection_page(Collection.of(logs, AT, **more))) if "lead" in box.style]
    assert lead.style == ("lead calm" if is_calm else "lead look")


def test_page_names_what_it_does_not_know():
    unread = {"far": "There is no lake at s3a://far. Run `hindsight audit` first."}
    page = collection_page(Collection.of([log()], AT, ["orders", "new", "far"], unread))
    sentences = [text(item.words) for item in found(ui.Item, section(page, "unknown"))]
    assert "new: the settings name it, and no log of it was read." in sentences
    assert "far: its lake cannot be read. There is no lake at s3a://far. Run hindsight audit first." in sentences
    assert "<code>hindsight audit</code>" in render_html(page)
    lead = text(found(ui.Paragraph, section(page, "clusters"))[0].words)
    assert lead.endswith("its cluster. The lake of 1 cluster cannot be read.")
    assert len(sentences) == 5, "far's lake may hold logs of it"
    assert any("A log that was never read is not listed" in sentence for sentence in sentences)
    assert any("this page cannot say which" in sentence for sentence in sentences)


def test_collection_of_some_clusters_says_nothing_of_others():
    every = Collection.of([log(), log(cluster="b")], AT, ["orders", "b", "far"], {"far": "no route"})
    html = render_html(collection_page(every.among(["orders"])))
    assert "far" not in html.split("<body")[1].split("<script")[0] and "no route" not in html
    assert [each.cluster for each in every.among(["orders"]).logs] == ["orders"]
    with pytest.raises(BadInput, match=r"There is no cluster 'order'\. Did you mean"):
        every.among(["order"])


def test_many_logs_behind_are_counted_and_lead_to_each_log():
    late = [log(f"b-{n}/server.log", 2 + n) for n in range(SHOWN + 3)]
    page = collection_page(Collection.of([log("new.log"), *late], AT))
    assert len(rows(page, "behind")) == SHOWN
    assert [text(p.words) for p in found(ui.Paragraph, section(page, "behind"))] == ["3 others: each log."]


def test_brokers_logs_are_first_among_those_behind():
    ended = [log(f"c-{n}.log", 40 + n, broker=None, origin="client") for n in range(SHOWN)]
    collection = Collection.of([log(), *ended, log("b-2/server.log", 3), log("b-3/server.log", 4)], AT)
    assert [cells(row)[0] for row in rows(collection_page(collection), "behind")][:3] == [
        "b-3/server.log",
        "b-2/server.log",
        f"c-{SHOWN - 1}.log",
    ]
    assert "b-3/server.log" in [*collection_lines(collection)][2]


def test_terminal_names_each_log_that_is_behind():
    lines = [*collection_lines(Collection.of([log(), log("b-2/server.log", 4)], AT))]
    assert "behind  orders  b-2/server.log: last line 2026-11-21 05:00:00, 4 h behind" in lines


def test_hostile_names_are_inert_on_page_and_in_terminal():
    logs = [log(name, n, cluster=name) for n, name in enumerate(HOSTILE)]
    logs += [log(name, 30, cluster=HOSTILE[0]) for name in HOSTILE]
    collection = Collection.of(logs, AT, HOSTILE, dict.fromkeys(HOSTILE, HOSTILE[0]))
    html = render_html(collection_page(collection))
    assert "<script>alert" not in html and "<img src=x" not in html and "<svg onload" not in html
    assert all(line.isprintable() for line in collection_lines(collection))
