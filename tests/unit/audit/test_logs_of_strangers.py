"""What rules must not rest on changes no verdict: with less in the logs one may be less sure, never wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support import strangers
from tests.support.brokers_logs import WINDOW, audit_here, whole_night
from tests.support.draws import drawn
from tests.support.lake import rows
from tests.support.strangers import Change, Files, Row

pytestmark = pytest.mark.long

BROKERS = ("broker-1", "broker-2", "broker-3")
LOGS = ("server", "state-change", "controller")
LATER_GROUPS = ("email-next-11", "ledger-loader-14", "mobile-svc-15")
"""Groups that began after the first one had ended, one of them of KIP-848. No coordinator moved while they lived."""

CLAIMS: Mapping[str, Sequence[str]] = {
    "gold.broker_outages": ("broker", "kind"),
    "gold.controller_changes": ("epoch", "controller_to", "cause"),
    "gold.failovers": ("topic", "partition", "epoch_to", "leader_to", "kind"),
    "gold.rebalances": ("group_id", "from_generation", "to_generation", "cause"),
    "gold.out_of_sync_periods": ("broker", "kind"),
    "gold.truncations": ("topic", "partition", "broker", "verdict"),
    "gold.unavailability": ("kind", "topic", "partition", "group_id"),
}
"""What the rows of each table claim."""

_WHEN_AND_HOW_SURE = ("confidence", "started_at", "happened_at", "down_at", "ended_at")
SURE = ("certain", "likely")

Claim = tuple[Any, ...]


def claims_of(lake: Path, change: Change | None = None) -> dict[str, list[Row]]:
    """The rows of each table, with the names that a change gives."""
    own = {table: rows(lake, table) for table in CLAIMS}
    return {table: [change.of_row(r) if change else r for r in of_table] for table, of_table in own.items()}


_GENERAL = {"topic_created": "metadata_changed", "partitions_added": "metadata_changed"}
"""Causes that a more general one includes, where no line shows the topic."""


def counted(table: str, of_table: Sequence[Row], *more: str) -> Counter[Claim]:
    """How often each claim is there."""
    return Counter(tuple(row[name] for name in (*CLAIMS[table], *more)) for row in of_table)


def sure_claims(table: str, of_table: Sequence[Row]) -> Counter[Claim]:
    """The same of claims that are certain or likely. A time that may have been none claims nothing."""
    return counted(table, [row for row in of_table if row["confidence"] in SURE and row.get("low_ms") != 0])


def possible_claims(table: str, of_table: Sequence[Row]) -> Counter[Claim]:
    """The same of all claims, and of the more general ones that are right too."""
    general = [{**row, "cause": _GENERAL[row["cause"]]} for row in of_table if row.get("cause") in _GENERAL]
    return counted(table, [*of_table, *general])


@cache
def whole_files() -> Files:
    night, _ = whole_night()
    return strangers.read_files(night / "logs")


def rows_with(change: Change) -> dict[str, list[Row]]:
    """The rows of an audit of the night with a change."""
    with TemporaryDirectory() as folder:
        lake = Path(folder, "lake")
        audit_here(strangers.write_files(change.of_files(whole_files()), Path(folder, "logs")), lake)
        return claims_of(lake)


@st.composite
def harmless_changes(draw: st.DrawFn) -> Change:
    """What the logs show stays."""
    kind = draw(st.sampled_from(("blanks", "clients", "copy", "ids")))
    if kind == "blanks":
        return strangers.with_blanks(draw(st.sampled_from(("each line", "each first line", "each message"))))
    if kind == "clients":
        form = draw(st.sampled_from(("svc.{}_x", "{}", "app-{}-of-team:a", "C{}")))
        return strangers.with_other_clients(form.format, f"clients are named {form}")
    if kind == "copy":
        broker, name = draw(st.sampled_from(BROKERS)), draw(st.sampled_from(LOGS))
        folder = draw(st.sampled_from(sorted({*BROKERS, "backup"} - {broker})))
        return strangers.with_copies(f"{broker}/{name}.log", folder)
    ids = draw(st.lists(st.integers(0, 99_999), min_size=len(BROKERS), max_size=len(BROKERS), unique=True))
    return strangers.with_other_ids(dict(enumerate(ids, start=1)))


@st.composite
def lossy_changes(draw: st.DrawFn) -> Change:
    """The logs show less: not surely who, when, or of which life of a group."""
    kind = draw(st.sampled_from(("clients", "files", "clock", "end", "group")))
    if kind == "group":
        return strangers.with_one_group("reports", ("ads-etl-1", draw(st.sampled_from(LATER_GROUPS))))
    if kind == "clients":
        name = draw(st.sampled_from(("rdkafka", "sarama", "consumer-1", "kafka-python-2.0.2")))
        return strangers.with_other_clients(lambda _: name, f"each client is {name}")
    brokers = draw(st.lists(st.sampled_from(BROKERS), min_size=1, unique=True))
    if kind == "files":
        return strangers.without_files(draw(st.sampled_from(LOGS[1:])), brokers)
    if kind == "end":
        return strangers.with_cut_ends(brokers, draw(st.integers(1, 1_500)), draw(st.integers(0, 200)))
    step = timedelta(milliseconds=draw(st.integers(100, 5_000) | st.integers(-5_000, -100)))
    since = WINDOW[0] + timedelta(seconds=draw(st.integers(0, 700)))
    return strangers.with_clock_step(brokers[0], since, step)


@given(harmless_changes())
@settings(drawn(0.07), phases=[Phase.generate])
def test_change_of_what_rules_must_not_rest_on_keeps_each_verdict_as_sure(change: Change) -> None:
    whole, changed = claims_of(whole_night()[1], change), rows_with(change)
    for table in CLAIMS:
        more = [name for name in _WHEN_AND_HOW_SURE if any(name in row for row in whole[table][:1])]
        assert counted(table, changed[table], *more) == counted(table, whole[table], *more)


@given(lossy_changes())
@settings(drawn(0.07), phases=[Phase.generate])
def test_with_less_in_the_logs_no_sure_claim_is_new(change: Change) -> None:
    whole, changed = claims_of(whole_night()[1], change), rows_with(change)
    for table in CLAIMS:
        assert not sure_claims(table, changed[table]) - possible_claims(table, whole[table])
