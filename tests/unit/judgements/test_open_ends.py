"""Laws over all gold tables of recorded excerpts: what is open, and what an absence explains, ends where lines do."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Confidence, Harm
from kafka_hindsight.judgements.brokers.controllers import controller_epochs_of, incarnations_begun
from kafka_hindsight.measures.time_away import away_until
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, is_noticed, is_shown
from kafka_hindsight.shared.durations import CATCHING_UP, MS, NEVER, OUTAGE_SHADOW
from tests.support.judged_lines import Tables, judged_folder
from tests.support.nights import EXCERPTS, events

_OTHERS = ("groups", "assignments", "kafka-0.8", "watermark-4.3", "balance-4.4", "producers", "records-4.3")
NAMES = sorted(p.name for p in EXCERPTS.iterdir() if p.is_dir() and p.name not in _OTHERS)
GROUPS = sorted(f"groups/{p.name}/logs" for p in (EXCERPTS / "groups").iterdir())
STARTS = ("started_at", "down_at", "happened_at")


@cache
def judged(excerpt: str) -> Tables:
    return judged_folder(EXCERPTS / excerpt)


def linked(tables: Tables) -> list[tuple[Any, datetime]]:
    """The outage behind each row that names one, and when that row begins."""
    outages = {o.outage_id: o for o in tables["gold.broker_outages"]}
    ids = ("outage_id", "first_outage_id")
    rows = [
        (outages.get(getattr(row, name)), next(getattr(row, at) for at in STARTS if hasattr(row, at)))
        for table, own in tables.items()
        if table.startswith("gold.") and table != "gold.broker_outages"
        for row in own
        for name in ids
        if getattr(row, name, None)
    ]
    return [(outage, at) for outage, at in rows if outage is not None]


@pytest.mark.parametrize("excerpt", NAMES)
def test_nothing_open_lasted_longer_than_the_logs(excerpt: str) -> None:
    ends = max(e.happened_at for e in events(excerpt))
    rows = judged(excerpt)["gold.unavailability"]
    assert [u for u in rows if u.ended_at is None and u.started_at + u.low_ms * MS > ends + MS] == []


@pytest.mark.parametrize("excerpt", NAMES)
def test_nothing_is_open_beyond_the_metadata_of_its_cluster(excerpt: str) -> None:
    begins = incarnations_begun(controller_epochs_of(events(excerpt)))
    rows = judged(excerpt)["gold.unavailability"]
    assert [u for at in begins for u in rows if u.started_at < at < (u.ended_at or NEVER)] == []


@pytest.mark.parametrize("excerpt", NAMES)
def test_absence_without_a_known_end_explains_nothing_after_its_last_proof(excerpt: str) -> None:
    late = [
        (outage.outage_id, at)
        for outage, at in linked(judged(excerpt))
        if outage.up_at is None and at > (away_until(outage) or NEVER) + OUTAGE_SHADOW + CATCHING_UP
    ]
    assert late == []


@pytest.mark.parametrize("excerpt", NAMES)
def test_incident_is_open_only_where_one_of_its_parts_is(excerpt: str) -> None:
    tables = judged(excerpt)
    parts = [*tables["gold.unavailability"], *tables["gold.broker_outages"]]
    lasting = {p.incident_id for p in parts if (p.up_at if hasattr(p, "up_at") else p.ended_at) is None}
    changes = {i.incident_id for i in tables["gold.incidents"] if i.kind in ("quorum_lost", "replicas_out", "lag")}
    still = [i for i in tables["gold.incidents"] if not i.is_over and i.incident_id not in lasting | changes]
    assert [i.headline for i in still] == []


def surer_than_its_rows(tables: Tables) -> list[str]:
    """The headlines of incidents that are surer than a row which they count."""
    counted = {
        Harm.PARTITIONS_OFFLINE: LEADERLESS,
        Harm.WRITES_REFUSED: NO_WRITES,
    }
    order = [*Confidence]
    surer = []
    for i in tables["gold.incidents"]:
        kinds = counted.get(i.harm, ())
        times = [u for u in tables["gold.unavailability"] if u.incident_id == i.incident_id and u.kind in kinds]
        rows = [u for u in times if is_noticed(u) and is_shown(u)]
        if i.cause and i.kind != "host_silent" and not i.first_outage_id:
            own = [r for r in tables["gold.rebalances"] if r.incident_id == i.incident_id]
            rows += [r for r in own if r.cause == i.cause]
        surer += [i.headline for row in rows if order.index(row.confidence) > order.index(i.confidence)]
    return surer


@pytest.mark.parametrize("excerpt", [*NAMES, *GROUPS])
def test_headline_is_never_surer_than_the_rows_that_it_counts(excerpt: str) -> None:
    assert surer_than_its_rows(judged(excerpt)) == []


def test_laws_meet_rows_that_they_are_about() -> None:
    rows = [(linked(judged(name)), judged(name)["gold.unavailability"]) for name in NAMES]
    assert any(u.ended_at is None for _, own in rows for u in own)
    assert any(outage.up_at is None for links, _ in rows for outage, _ in links)
