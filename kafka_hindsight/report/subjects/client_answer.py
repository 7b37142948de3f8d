"""The answer about one client id: which rebalances it started, which waited for it, and which of its writes failed."""

from __future__ import annotations

from collections import Counter

from kafka_hindsight.catalog.rows import ProducerFailure, ProducerSetting, Rebalance
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.paged_tables import rebalance_table
from kafka_hindsight.report.producer_lines import failures_block, settings_block
from kafka_hindsight.shared import plain, words


def client_answer(page: PageRows, client: str) -> Answer:
    """Answer for a client id of the window."""
    starts = page.rows_of(Rebalance, "client_id", client)
    delays = page.delayed_by.get(client, ())
    failures = page.rows_of(ProducerFailure, "client_id", client)
    settings = page.rows_of(ProducerSetting, "client_id", client)
    waits = [d.waited_ms for row in delays for d in row.delayed_by if d.client_id == client and d.waited_ms is not None]
    groups = list(dict.fromkeys(row.group_id for row in (*starts, *delays)))
    hosts = sorted({row.host for row in starts if row.host})
    tally = Counter(row.cause.noun.label for row in starts).most_common()
    causes = words.listed([f"{label} ({words.number(count)})" for label, count in tally], at_most=4)
    parts = [f"It started {words.counted(len(starts), 'rebalance')}: {causes}"] if starts else []
    if delays:
        parts.append(f"{words.counted(len(delays), 'rebalance')} waited for it, {words.duration(sum(waits))} in all")
    if failures:
        parts.append(f"Its requests failed {words.times(len(failures))}: {failures[0].explanation.removesuffix('.')}")
    elif settings:
        parts.append("It is a producer, and no line of its log shows a request that failed")
    seconds = sum(row.partition_seconds or 0.0 for row in starts)
    judged = next(iter((*starts, *delays)), None) or next(iter(failures), None)
    return Answer(
        "client",
        plain.shortened(client),
        plain.anchor("client", client),
        f"{words.sentence('; '.join(parts))}.",
        judged.confidence if judged else "",
        cost=ui.facts(
            ("Partitions stopped", f"at most {words.number(seconds)} partition-seconds" if starts or delays else ""),
            (words.verb(len(groups), "Group", "Groups"), ui.join([page.link("group", g) for g in groups[:12]])),
            (words.verb(len(hosts), "Host", "Hosts"), words.listed(hosts, at_most=6)),
        ),
        advice=tuple(dict.fromkeys((*(r.advice for r in starts), *(f.kind.noun.advice for f in failures))))[:2],
        proof=judged.evidence if judged else settings[0].evidence,
        sections=(
            ui.ShownSection("client-started", "Rebalances that it started", rebalance_table(page, starts)),
            ui.ShownSection("client-delayed", "Rebalances that waited for it", rebalance_table(page, delays)),
            ui.ShownSection("client-failures", "Its requests that failed", tuple(failures_block(page, failures))),
            ui.ShownSection("client-settings", "Its settings", tuple(settings_block(settings))),
        ),
    )
