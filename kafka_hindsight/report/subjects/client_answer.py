"""The answer about one client id: which rebalances it started, and which waited for it."""

from __future__ import annotations

from collections import Counter

from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.paged_tables import rebalance_table
from kafka_hindsight.shared import plain, words


def client_answer(page: PageRows, client: str) -> Answer:
    """Answer for a client id of the window."""
    starts = page.rows_of(Rebalance, "client_id", client)
    delays = page.delayed_by.get(client, ())
    waits = [d.waited_ms for row in delays for d in row.delayed_by if d.client_id == client and d.waited_ms is not None]
    groups = list(dict.fromkeys(row.group_id for row in (*starts, *delays)))
    hosts = sorted({row.host for row in starts if row.host})
    tally = Counter(row.cause.noun.label for row in starts).most_common()
    causes = words.listed([f"{label} ({words.number(count)})" for label, count in tally], at_most=4)
    parts = [f"It started {words.counted(len(starts), 'rebalance')}: {causes}"] if starts else []
    if delays:
        parts.append(f"{words.counted(len(delays), 'rebalance')} waited for it, {words.duration(sum(waits))} in all")
    seconds = sum(row.partition_seconds or 0.0 for row in starts)
    first = (*starts, *delays)[0]
    return Answer(
        "client",
        plain.shortened(client),
        plain.anchor("client", client),
        f"{words.sentence('; '.join(parts))}.",
        first.confidence,
        cost=ui.facts(
            ("Partitions stopped", f"at most {words.number(seconds)} partition-seconds"),
            (words.verb(len(groups), "Group", "Groups"), ui.join([page.link("group", g) for g in groups[:12]])),
            (words.verb(len(hosts), "Host", "Hosts"), words.listed(hosts, at_most=6)),
        ),
        advice=tuple(dict.fromkeys(row.advice for row in starts))[:2],
        proof=first.evidence,
        sections=(
            ui.ShownSection("client-started", "Rebalances that it started", rebalance_table(page, starts)),
            ui.ShownSection("client-delayed", "Rebalances that waited for it", rebalance_table(page, delays)),
        ),
    )
