"""The made night with thousands of groups and rebalances, and thirty crashes."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.report.html import render_html
from tests.support.once import once
from tests.support.report_blocks import build_report
from tests.support.report_night import Night, night
from tests.support.report_rows import DAY, Tables, failover, incident, made, outage, rebalance

GROUPS = 2_000


def crowded_page() -> Path:
    """The page of such a night with 6,000 rebalances more, rendered once in a test run."""

    def render(folder: Path) -> None:
        (folder / "crowd.html").write_text(render_html(build_report(*crowded_night(6_000))), encoding="utf-8")

    return once("crowded-page", render) / "crowd.html"


def crowded_night(count: int) -> Night:
    """The night with many more rebalances, each an incident of its own or one of a storm."""
    tables, about = night()
    causes = ("member_joined", "member_left", "heartbeat_expired", "max_poll_exceeded", "member_rejoined")
    rows = [
        rebalance(
            f"team-{i % GROUPS}-consumer",
            DAY + timedelta(seconds=86_000 * i / count),
            causes[i % 5],
            generation=i,
            client_id=f"team-{i % GROUPS}-client-{i % 7}",
            host=f"/10.1.{i % 200}.{i % 9}",
        )
        for i in range(count)
    ]
    for each in rows:
        each["evidence"] = each["evidence"] * 2
    tables["gold.rebalances"] += rows
    for i in range(0, count, 4):
        alone = [incident("single", [r]) for r in rows[i + 2 : i + 4]]
        tables["gold.incidents"] += [incident("storm", rows[i : i + 2]), *alone]
    for broker in range(1, 31):
        _crash(tables, broker, DAY + timedelta(minutes=40 * broker))
    return tables, about


def _crash(tables: Tables, broker: int, down_at: datetime) -> None:
    """A broker crashes: sixty partitions change their leader, and their ISRs shrink and expand."""
    gone = outage(broker, down_at, "crash", elections=60, partitions_led_before=60)
    tables["gold.broker_outages"].append(gone)
    back = down_at + timedelta(minutes=4)
    for partition in range(60):
        topic, at_once = f"topic-{partition % 12}", down_at + timedelta(seconds=8, milliseconds=partition)
        moved = failover(topic, partition, at_once, "broker_crash", outage_id=gone["outage_id"])
        tables["gold.failovers"].append(moved)
        for change, when in (("shrink", at_once), ("expand", back)):
            tables["gold.isr_changes"].append(
                made(
                    "gold.isr_changes",
                    isr_change_id=row_id(broker, partition, change),
                    topic=topic,
                    partition=partition,
                    change=change,
                    broker=broker,
                    happened_at=when,
                    out_of_sync_until=back if change == "shrink" else None,
                )
            )
