"""Great Expectations over real frames: what holds passes, what does not is counted and named."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

from expectations.derive import expectations_of
from spark_jobs.catalog import BY_NAME, bronze, gold, quality
from spark_jobs.shared.conform import frame_of
from tests.support.rows import AT, values

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
WINDOW = {"cluster": "cluster", "window_from": AT, "window_to": AT + HOUR}
CHECKED = (*gold.TABLES, quality.COVERAGE, quality.GENERATION_GAPS)

Rows = dict[str, list[dict[str, Any]]]


def validate(*given: Any) -> Any:
    """Imported late: each process collects all tests, and Great Expectations takes seconds to import."""
    from spark_jobs.edges import validation

    return validation.validate(*given)


def rebalance(number: int, **columns: Any) -> dict[str, Any]:
    return values(gold.REBALANCES, rebalance_id=f"r-{number}") | {
        "incident_id": "incident_id",
        "from_generation": number - 1,
        "to_generation": number,
        **columns,
    }


def failover(number: int, leader_from: int, leader_to: int, **columns: Any) -> dict[str, Any]:
    return values(
        gold.FAILOVERS,
        failover_id=f"failover-{number}",
        happened_at=AT + number * SECOND,
        leader_from=leader_from,
        leader_to=leader_to,
        epoch_from=number,
        epoch_to=number + 1,
        **columns,
    )


def good() -> Rows:
    """A small night in which everything holds."""
    rows: Rows = {t.full_name: [values(t)] for t in CHECKED}
    rows["gold.rebalances"] = [rebalance(1)]
    rows["gold.failovers"] = [failover(1, 3, 2), failover(2, 2, -1), failover(3, -1, 2)]
    rows["gold.remedies"] = [values(gold.REMEDIES, rebalance_ids=["r-1"])]
    rows["quality.generation_gaps"] = [
        values(
            quality.GENERATION_GAPS, after_generation=3, next_generation=5, explained_by="the log of that hour is lost"
        )
    ]
    return rows


def judged(
    spark: SparkSession, rows: Rows, *checked: str, **published: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The verdicts on what does not hold; `checked` names the tables to look at, all where it names none."""
    frames = {name: frame_of(spark, of, BY_NAME[name]) for name, of in rows.items()}
    seen = [values(bronze.PARTITION_SNAPSHOTS, preferred_leader=1)]
    views = {
        "partition_snapshots": frame_of(spark, seen, bronze.PARTITION_SNAPSHOTS),
        "leadership_gaps": frame_of(spark, published.get("leadership_gaps", []), quality.LEADERSHIP_GAPS),
        "published_incidents": frame_of(spark, published.get("incidents", []), gold.INCIDENTS),
        "published_broker_outages": frame_of(spark, published.get("broker_outages", []), gold.BROKER_OUTAGES),
    }
    tables = {name: f for name, f in frames.items() if name in checked or not checked}
    views |= {BY_NAME[name].name: f for name, f in frames.items() if name not in tables}
    verdicts = validate(spark, tables, views, WINDOW)
    return {f"{v['table']}.{v['expectation']}": v for v in verdicts if not v["success"]}


def test_a_good_night_breaks_nothing(spark: SparkSession) -> None:
    assert judged(spark, good()) == {}


def test_an_empty_night_breaks_nothing(spark: SparkSession) -> None:
    assert judged(spark, {t.full_name: [] for t in CHECKED}) == {}


def test_a_rebalance_that_ends_before_it_starts_is_named(spark: SparkSession) -> None:
    rows = good()
    rows["gold.rebalances"].append(rebalance(2, group_id="orders", ended_at=AT - SECOND))
    (verdict,) = judged(spark, rows, "gold.rebalances").values()
    assert verdict == {
        "table": "gold.rebalances",
        "expectation": "ends_after_start",
        "description": "a rebalance ends no earlier than it starts",
        "severity": "critical",
        "success": False,
        "observed": "1 of 2 rows",
        "unexpected_count": 1,
        "sentences": [
            "gold.rebalances: 1 row breaks ends_after_start (a rebalance ends no earlier than it starts): "
            "rebalance_id='r-2', group_id='orders', member_id=null, client_id=null, "
            "started_at=2026-10-01T03:00:00.000Z, ended_at=2026-10-01T02:59:59.000Z"
        ],
    }


def finding(number: int, **columns: Any) -> dict[str, Any]:
    return values(gold.FINDINGS, finding_id=f"f-{number}", **columns)


BREACHES: dict[str, tuple[list[dict[str, Any]], dict[str, str]]] = {
    "gold.findings": (
        [
            finding(1, advice=None),
            finding(2, severity="dire"),
            finding(3),
            finding(3),
            finding(4, cluster="other"),
            finding(5, first_at=AT - SECOND),
            finding(6, first_at=AT + HOUR, last_at=AT + HOUR),
            finding(7, evidence=[]),
            finding(8),
        ],
        {
            "advice_present": "f-1",
            "severity_known": "f-2",
            "key_unique": "f-3 f-3",
            "one_cluster": "f-4",
            "inside_window": "f-5 f-6",
            "evidence_quoted": "f-7",
        },
    ),
    "gold.failovers": (
        [
            failover(1, 3, 2, outage_id="lost"),
            failover(2, 1, 3),
            failover(3, 3, 2) | {"happened_at": AT + 5 * SECOND},
            failover(4, 2, 3),
            failover(5, 3, 1) | {"epoch_to": 8},
            failover(0, 2, 1) | {"topic_incarnation": 2},
        ],
        {
            "chain_unbroken": "failover-2",
            "epochs_rise": "failover-4",
            "skips_marked": "failover-5",
            "outage_known": "failover-1",
        },
    ),
    "gold.incidents": (
        [values(gold.INCIDENTS), values(gold.INCIDENTS, incident_id="i-2")],
        {"counts_its_rebalances": "i-2"},
    ),
    "gold.rebalances": (
        [
            rebalance(1),
            rebalance(2, incident_id="lost"),
            rebalance(3),
            rebalance(4, from_generation=2, to_generation=3, incident_id=None),
            rebalance(5, group_id="payments"),
        ],
        {"incident_known": "r-2", "generation_reached_once": "r-3 r-4"},
    ),
    "gold.ownership": (
        [
            values(gold.OWNERSHIP, member_id="m-1", valid_to=AT + 9 * SECOND),
            values(gold.OWNERSHIP, member_id="m-2", valid_from=AT + SECOND, valid_to=AT + 2 * SECOND),
            values(gold.OWNERSHIP, member_id="m-3", valid_from=AT + 3 * SECOND, valid_to=AT + 9 * SECOND),
            values(gold.OWNERSHIP, member_id="m-4", valid_from=AT + 9 * SECOND, valid_to=AT + 10 * SECOND),
        ],
        {"owned_once": "m-2 m-3"},
    ),
    "gold.leader_imbalance": (
        [values(gold.LEADER_IMBALANCE, preferred_partitions=0, led_elsewhere=0)],
        {"counts_every_partition": "broker=1"},
    ),
    "quality.coverage": (
        [values(quality.COVERAGE), values(quality.COVERAGE, source="broker-2", lines_in=9)],
        {"lines_balance": "broker-2"},
    ),
    "quality.generation_gaps": (
        [
            values(quality.GENERATION_GAPS),
            values(quality.GENERATION_GAPS, group_id="g-2", explained_by="it was deleted"),
        ],
        {"break_explained": "group_id='group_id'"},
    ),
}


@pytest.mark.parametrize("table", BREACHES)
def test_each_breach_is_found_at_its_row_and_nothing_else_is(spark: SparkSession, table: str) -> None:
    rows, expected = BREACHES[table]
    found = judged(spark, good() | {table: rows}, table)
    assert {verdict["expectation"] for verdict in found.values()} == expected.keys()
    for verdict in found.values():
        named = expected[verdict["expectation"]].split()
        assert verdict["unexpected_count"] == len(named)
        assert all(sum(name in sentence for sentence in verdict["sentences"]) >= 1 for name in named)


def test_a_reference_may_lead_to_what_an_earlier_window_published(spark: SparkSession) -> None:
    rows = good()
    rows["gold.failovers"][0]["outage_id"] = "last-night"
    rows["gold.rebalances"].append(rebalance(2, incident_id="last-night"))
    last_night = {
        "incidents": [values(gold.INCIDENTS, incident_id="last-night")],
        "broker_outages": [values(gold.BROKER_OUTAGES, outage_id="last-night")],
    }
    assert judged(spark, rows, "gold.failovers", "gold.rebalances", **last_night) == {}


def test_a_break_that_is_marked_breaks_no_chain(spark: SparkSession) -> None:
    rows = good()
    rows["gold.failovers"] = [failover(1, 3, 2), failover(2, 1, 3), failover(3, 3, 2) | {"epoch_to": 6}]
    assert {n.split(".")[2] for n in judged(spark, rows, "gold.failovers")} == {"chain_unbroken", "skips_marked"}
    marks = [values(quality.LEADERSHIP_GAPS, topic="topic", partition=1, next_epoch=e) for e in (2, 6)]
    assert judged(spark, rows, "gold.failovers", leadership_gaps=marks) == {}


def test_an_incident_still_running_at_the_windows_end_counts_rebalances_of_the_next(spark: SparkSession) -> None:
    rows = good()
    rows["gold.incidents"] = [values(gold.INCIDENTS, rebalance_count=2, ended_at=AT + HOUR)]
    assert judged(spark, rows, "gold.incidents") == {}


def test_a_generation_comes_again_where_the_numbering_began_anew(spark: SparkSession) -> None:
    rows = good()
    rows["gold.rebalances"].append(rebalance(2, from_generation=0, to_generation=1, incident_id=None))
    rows["quality.generation_gaps"] = [
        values(quality.GENERATION_GAPS, after_generation=1, next_generation=0, explained_by="the group was deleted")
    ]
    assert judged(spark, rows, "gold.rebalances") == {}


def test_a_handful_of_unexplained_breaks_warns_and_more_than_one_in_four_refuses(spark: SparkSession) -> None:
    def with_breaks(breaks: int, rebuilt: int) -> dict[str, str]:
        rows = good()
        rows["quality.generation_gaps"] = [
            values(quality.GENERATION_GAPS, group_id=f"g-{n}", explained_by=None) for n in range(breaks)
        ]
        rows["gold.rebalances"] = [rebalance(n) for n in range(rebuilt)]
        broken = judged(spark, rows, "quality.generation_gaps")
        return {name.split(".")[2]: verdict["severity"] for name, verdict in broken.items()}

    assert with_breaks(5, rebuilt=1) == {"break_explained": "warning"}
    assert with_breaks(6, rebuilt=24) == {"break_explained": "warning"}
    assert with_breaks(6, rebuilt=23) == {"break_explained": "warning", "breaks_bounded": "critical"}


def test_wrong_columns_are_named_and_nothing_else_is_asked(spark: SparkSession) -> None:
    tables = {
        "gold.findings": frame_of(spark, [values(gold.FINDINGS)], gold.FINDINGS).withColumnRenamed("source", "origin"),
        "gold.isr_changes": frame_of(spark, [values(gold.ISR_CHANGES_TABLE, evidence=[])], gold.ISR_CHANGES_TABLE),
    }
    verdicts = validate(spark, tables, {}, WINDOW)
    assert [(v["table"], v["expectation"], v["success"]) for v in verdicts] == [
        ("gold.findings", "columns_match", False),
        ("gold.isr_changes", "columns_match", True),
    ]
    assert verdicts[0]["sentences"] == [
        "gold.findings: columns_match is broken (the columns are those declared): missing source; unknown origin"
    ]


def test_a_table_is_counted_and_then_measured_in_one_pass(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    from great_expectations.execution_engine import SparkDFExecutionEngine

    resolve = SparkDFExecutionEngine.resolve_metric_bundle

    def counted(engine: SparkDFExecutionEngine, metric_fn_bundle: Any) -> Any:
        bundle = list(metric_fn_bundle)
        measured.extend([len(bundle)] if bundle else [])
        return resolve(engine, bundle)

    monkeypatch.setattr(SparkDFExecutionEngine, "resolve_metric_bundle", counted)
    assert judged(spark, good(), "gold.rebalances") == {}
    count, measures = measured
    assert count == 1
    assert measures >= len([e for e in expectations_of(gold.REBALANCES) if e.kind != "columns"])


def test_what_cannot_be_checked_is_a_fault_and_no_breach(spark: SparkSession) -> None:
    columns = (c if c != "topic" else "raise_error('disk lost') AS topic" for c in gold.LAG_VERDICTS.column_names)
    unreadable = frame_of(spark, [values(gold.LAG_VERDICTS)], gold.LAG_VERDICTS).selectExpr(*columns)
    with pytest.raises(RuntimeError, match=r"gold\.lag_verdicts: \w+ could not be checked: .*disk lost"):
        validate(spark, {"gold.lag_verdicts": unreadable}, {}, WINDOW)
