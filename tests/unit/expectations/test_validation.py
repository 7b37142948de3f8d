"""Great Expectations over staged rows: what holds passes, what does not is counted and named."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow
import pytest

from expectations.derive import suite_of
from kafka_hindsight.catalog import BY_NAME, bronze, gold, quality
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.steps.validator import Validator
from tests.support.lake import schema
from tests.support.rows import AT, values

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
WINDOW = {"cluster": "cluster", "window_from": AT, "window_to": AT + HOUR}
OF_QUALITY = ("quality.coverage", "quality.generation_gaps")
CHECKED = (*gold.TABLES, quality.COVERAGE, quality.GENERATION_GAPS)

Rows = dict[str, list[dict[str, Any]]]
Breaches = dict[str, tuple[list[dict[str, Any]], dict[str, str]]]


def validate(*arguments: Any, own: Any = MappingProxyType({})) -> Any:
    """Imported late: each process collects all tests, and Great Expectations takes seconds to import."""
    from expectations import validation

    return validation.validate(*arguments, own)[0]


def table_of(of: list[dict[str, Any]], table: Table) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(of, schema(table))


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
    """A small night in which everything holds. One plain row a table is checked in tests/store/test_publish.py."""
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


def judged(rows: Rows, *checked: str, **published: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The verdicts on what does not hold; `checked` names the tables to look at."""
    tables = {name: table_of(rows[name], BY_NAME[name]) for name in checked}
    asked = {word for name in tables for word in re.findall(r"\w+", json.dumps(suite_of(BY_NAME[name])))}
    others = {t.name: (t, rows[t.full_name]) for t in CHECKED if t.full_name not in tables} | {
        "partition_snapshots": (bronze.PARTITION_SNAPSHOTS, [values(bronze.PARTITION_SNAPSHOTS, preferred_leader=1)]),
        "log_records": (bronze.LOG_RECORDS, published.get("log_records", [])),
        "undated_records": (bronze.LOG_RECORDS, published.get("undated_records", [])),
        "leadership_gaps": (quality.LEADERSHIP_GAPS, published.get("leadership_gaps", [])),
        "published_incidents": (gold.INCIDENTS, published.get("incidents", [])),
        "published_broker_outages": (gold.BROKER_OUTAGES, published.get("broker_outages", [])),
    }
    views = {name: table_of(of, table) for name, (table, of) in others.items() if name in asked}
    verdicts = validate(tables, views, WINDOW)
    return {f"{v['table']}.{v['expectation']}": v for v in verdicts if not v["success"]}


def test_good_night_breaks_nothing_and_validates_each_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from great_expectations.datasource.fluent.interfaces import Batch

    asked: list[str] = []
    look = Batch.validate

    def noted(batch: Batch, suite: Any, **arguments: Any) -> Any:
        asked.append(suite.name)
        return look(batch, suite, **arguments)

    monkeypatch.setattr(Batch, "validate", noted)
    checked = ["gold.failovers", "gold.incidents", "gold.rebalances", "gold.remedies", *OF_QUALITY]
    assert judged(good(), *checked) == {}
    assert asked == checked


def test_empty_night_breaks_nothing() -> None:
    rows: Rows = {t.full_name: [] for t in CHECKED}
    assert judged(rows, *rows) == {}


def test_table_without_rows_evaluates_its_columns_alone() -> None:
    tables = {
        "gold.findings": table_of([], gold.FINDINGS),
        "gold.partition_stalls": table_of([values(gold.PARTITION_STALLS)], gold.PARTITION_STALLS),
    }
    verdicts = validate(tables, {}, WINDOW)
    assert all(v["success"] for v in verdicts)
    of_findings = [v for v in verdicts if v["table"] == "gold.findings"]
    assert [v["expectation"] for v in of_findings if not v["is_vacuous"]] == ["columns_match"]
    assert len(of_findings) == len(suite_of(gold.FINDINGS)["expectations"])
    assert not any(v["is_vacuous"] for v in verdicts if v["table"] == "gold.partition_stalls")


def finding(number: int, **columns: Any) -> dict[str, Any]:
    return values(gold.FINDINGS, finding_id=f"f-{number}", **columns)


BREACHES: Breaches = {
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
        [values(gold.LEADER_IMBALANCE, origin="snapshot", preferred_partitions=0, led_elsewhere=0)],
        {"counts_every_partition": "broker=1"},
    ),
    "quality.coverage": (
        [values(quality.COVERAGE), values(quality.COVERAGE, source="broker-2", lines_in=9)],
        {"lines_balance": "broker-2", "counts_the_records": "broker-2"},
    ),
}

ALONE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"advice": None}, "advice_present"),
    ({"severity": None}, "severity_present"),
    ({"severity": "dire"}, "severity_known"),
    ({"evidence": None}, "evidence_present"),
    ({"evidence": []}, "evidence_quoted"),
    ({"cluster": "other"}, "one_cluster"),
)


@pytest.mark.parametrize(("column", "expectation"), ALONE)
def test_single_breach_is_found_among_valid_rows(column: dict[str, Any], expectation: str) -> None:
    rows = {"gold.findings": [*(finding(n) for n in range(7)), finding(7, **column)]}
    ((name, verdict),) = judged(good() | rows, "gold.findings").items()
    assert name == f"gold.findings.{expectation}"
    assert (verdict["observed"], verdict["unexpected_count"]) == ("1 of 8 rows", 1)
    assert "finding_id='f-7'" in verdict["sentences"][0]


@pytest.mark.parametrize(
    ("columns", "expectation", "count"), [*((c, e, 1) for c, e in ALONE), ({"finding_id": "f-0"}, "key_unique", 2)]
)
def test_breach_in_last_part_of_large_table_is_found(
    columns: dict[str, Any], expectation: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from expectations import validation

    monkeypatch.setattr(validation, "_LARGE", 2048)
    monkeypatch.setattr(validation, "_BATCH", 2048)
    monkeypatch.setattr(validation, "_PART", 1)
    many = 5_000
    valid = table_of([finding(0)], gold.FINDINGS).take([0] * (many - 1))
    place = valid.schema.get_field_index("finding_id")
    valid = valid.set_column(place, "finding_id", pyarrow.array([f"f-{n}" for n in range(many - 1)]))
    last = table_of([finding(many) | columns], gold.FINDINGS)
    verdicts = validate({"gold.findings": pyarrow.concat_tables([valid, last])}, {}, WINDOW)
    broken = [v for v in verdicts if not v["success"]]
    assert [(v["expectation"], v["unexpected_count"], v["row_count"]) for v in broken] == [(expectation, count, many)]
    assert broken[0]["row_numbers"][-1] == many - 1


UNMARKED = [failover(1, 3, 2), failover(2, 1, 3), failover(3, 3, 2) | {"epoch_to": 6}]

OTHER_BREACHES: Breaches = {
    "gold.failovers": (UNMARKED, {"chain_unbroken": "failover-2", "skips_marked": "failover-3"}),
    "gold.incidents": (
        [values(gold.INCIDENTS), values(gold.INCIDENTS, incident_id="i-2")],
        {"counts_its_rebalances": "i-2"},
    ),
    "gold.rebalances": (
        [rebalance(1), rebalance(2, group_id="orders", incident_id=None, ended_at=AT - SECOND)],
        {"ends_after_start": "r-2"},
    ),
    "quality.generation_gaps": (
        [
            *(values(quality.GENERATION_GAPS, group_id=f"g-{n}") for n in range(5)),
            values(quality.GENERATION_GAPS, group_id="g-5", explained_by="it was deleted"),
        ],
        {"break_explained": "g-0 g-1 g-2 g-3 g-4"},
    ),
}
"""What would break laws of the tables above as well."""


@pytest.fixture(scope="module", params=[None, 1], ids=["tables at once", "tables part by part"])
def verdicts_of_nights(request: pytest.FixtureRequest) -> list[dict[str, dict[str, Any]]]:
    """The verdicts on both nights, with small tables and as if they were large."""
    nights = (BREACHES, OTHER_BREACHES)
    with pytest.MonkeyPatch.context() as patch:
        if request.param is not None:
            patch.setattr("expectations.validation._LARGE", request.param)
        return [judged(good() | {t: rows for t, (rows, _) in night.items()}, *night) for night in nights]


def test_each_breach_is_reported_at_its_row_alone(verdicts_of_nights: list[dict[str, dict[str, Any]]]) -> None:
    for night, verdicts in zip((BREACHES, OTHER_BREACHES), verdicts_of_nights, strict=True):
        expected = {f"{t}.{law}": ids.split() for t, (_, broken) in night.items() for law, ids in broken.items()}
        assert verdicts.keys() == expected.keys()
        for law, verdict in verdicts.items():
            assert verdict["unexpected_count"] == len(expected[law])
            assert all(any(name in sentence for sentence in verdict["sentences"]) for name in expected[law])


@pytest.mark.parametrize(
    ("lines_in", "broken"),
    [(3, []), (5, []), (2, ["counts_the_records"]), (4, ["counts_the_records"])],
    ids=["dated", "dated and undated", "one lost", "one too many"],
)
def test_coverage_counts_the_lines_of_records(lines_in: int, broken: list[str]) -> None:
    rows = {"quality.coverage": [values(quality.COVERAGE, lines_in=lines_in, ignored=lines_in)]}
    records = {
        "log_records": [values(bronze.LOG_RECORDS, line_count=n) for n in (1, 2)],
        "undated_records": [values(bronze.LOG_RECORDS, line_count=2)],
    }
    others: Rows = {t.full_name: [] for t in CHECKED if t is not quality.COVERAGE}
    verdicts = judged({**others, **rows}, "quality.coverage", **records)
    assert [name.rpartition(".")[2] for name in verdicts] == broken


def test_rows_that_break_an_expectation_are_numbered(verdicts_of_nights: list[dict[str, dict[str, Any]]]) -> None:
    numbers = {
        name.removeprefix("gold.findings."): v["row_numbers"]
        for name, v in verdicts_of_nights[0].items()
        if "findings" in name
    }
    assert numbers == {
        "advice_present": (0,),
        "severity_known": (1,),
        "key_unique": (2, 3),
        "evidence_quoted": (7,),
        "one_cluster": (4,),
        "inside_window": (5, 6),
    }


def test_a_rebalance_that_ends_before_it_starts_is_named(
    verdicts_of_nights: list[dict[str, dict[str, Any]]],
) -> None:
    assert verdicts_of_nights[1]["gold.rebalances.ends_after_start"] == {
        "table": "gold.rebalances",
        "expectation": "ends_after_start",
        "description": "a rebalance ends no earlier than it starts",
        "severity": "critical",
        "success": False,
        "is_vacuous": False,
        "observed": "1 of 2 rows",
        "unexpected_count": 1,
        "row_numbers": (1,),
        "row_count": 2,
        "is_link": False,
        "sentences": [
            "gold.rebalances: 1 row breaks ends_after_start (a rebalance ends no earlier than it starts): "
            "rebalance_id='r-2', group_id='orders', member_id=null, client_id=null, "
            "started_at=2026-10-01T03:00:00.000Z, ended_at=2026-10-01T02:59:59.000Z"
        ],
    }


def test_incident_that_does_not_quote_what_decides_it_is_named() -> None:
    rows = good()
    other = values(gold.INCIDENTS)["evidence"][0] | {"line_id": "another"}
    rows["gold.incidents"] = [values(gold.INCIDENTS, cause="member_dead", evidence=[other])]
    rows["gold.failovers"] = [failover(1, 3, 2, records_lost_low=1, incident_id="incident_id")]
    rows["gold.broker_outages"] = [values(gold.BROKER_OUTAGES, incident_id="incident_id")]
    rows["gold.rebalances"] = [rebalance(1, cause="member_dead")]
    verdicts = judged(rows, "gold.incidents")
    laws = {f"gold.incidents.proves_its_{part}" for part in ("outage", "loss", "cause")}
    assert {name: v["severity"] for name, v in verdicts.items() if name in laws} == dict.fromkeys(laws, "warning")
    rows["gold.incidents"] = [
        values(gold.INCIDENTS, cause="member_dead", evidence=[other, *values(gold.INCIDENTS)["evidence"]])
    ]
    assert not laws & judged(rows, "gold.incidents").keys()


def test_null_in_another_table_hides_no_breach() -> None:
    """`IN` over nulls is null, which would count as kept."""
    rows = good()
    rows["gold.failovers"] = [failover(1, 3, 2, leaderless_low_ms=5, outage_id="lost", topic="orders")]
    rows["gold.unavailability"] = [values(gold.UNAVAILABILITY, kind="no_leader", topic=None, partition=None)]
    rows["gold.broker_outages"] = [values(gold.BROKER_OUTAGES, outage_id=None)]
    rows["gold.incidents"] = [values(gold.INCIDENTS, incident_id=None)]
    rows["gold.rebalances"] = [rebalance(1, incident_id="lost")]
    assert judged(rows, "gold.failovers", "gold.rebalances").keys() == {
        "gold.failovers.counted_in_ledger",
        "gold.failovers.outage_known",
        "gold.rebalances.incident_known",
    }


def test_reference_to_another_window_or_marked_gap_breaks_nothing() -> None:
    rows = good()
    rows["gold.failovers"] = [UNMARKED[0] | {"outage_id": "last-night"}, *UNMARKED[1:]]
    rows["gold.rebalances"] += [
        rebalance(2, incident_id="last-night"),
        rebalance(3, from_generation=0, to_generation=1, incident_id=None),
    ]
    rows["gold.incidents"] = [values(gold.INCIDENTS, rebalance_count=2, ended_at=AT + HOUR)]
    rows["quality.generation_gaps"] = [
        values(quality.GENERATION_GAPS, after_generation=1, next_generation=0, explained_by="the group was deleted")
    ]
    published = {
        "incidents": [values(gold.INCIDENTS, incident_id="last-night")],
        "broker_outages": [values(gold.BROKER_OUTAGES, outage_id="last-night")],
        "leadership_gaps": [values(quality.LEADERSHIP_GAPS, topic="topic", partition=1, next_epoch=e) for e in (2, 6)],
    }
    assert judged(rows, "gold.failovers", "gold.rebalances", "gold.incidents", **published) == {}


def test_more_than_one_unexplained_break_in_four_rebalances_is_critical(
    verdicts_of_nights: list[dict[str, dict[str, Any]]],
) -> None:
    def with_breaks(breaks: int, rebuilt: int) -> dict[str, str]:
        rows = good()
        rows["quality.generation_gaps"] = [
            values(quality.GENERATION_GAPS, group_id=f"g-{n}", explained_by=None) for n in range(breaks)
        ]
        rows["gold.rebalances"] = [rebalance(n) for n in range(rebuilt)]
        broken = judged(rows, "quality.generation_gaps")
        return {name.split(".")[2]: verdict["severity"] for name, verdict in broken.items()}

    assert verdicts_of_nights[1]["quality.generation_gaps.break_explained"]["severity"] == "warning"
    assert with_breaks(6, rebuilt=24) == {"break_explained": "warning"}
    assert with_breaks(6, rebuilt=23) == {"break_explained": "warning", "breaks_bounded": "critical"}


def test_wrong_columns_are_named_and_no_other_law_is_evaluated() -> None:
    findings = table_of([values(gold.FINDINGS)], gold.FINDINGS)
    tables = {
        "gold.findings": findings.rename_columns(["origin" if n == "source" else n for n in findings.column_names]),
        "gold.isr_changes": table_of([values(gold.ISR_CHANGES, evidence=[])], gold.ISR_CHANGES),
    }
    verdicts = validate(tables, {}, WINDOW)
    assert [(v["table"], v["expectation"], v["success"]) for v in verdicts] == [
        ("gold.findings", "columns_match", False),
        ("gold.isr_changes", "columns_match", True),
    ]
    assert verdicts[0]["sentences"] == [
        "gold.findings: columns_match is broken (the columns are those declared): missing source; unknown origin"
    ]


def test_law_that_cannot_be_evaluated_is_an_error_and_no_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = table_of([values(gold.PARTITION_STALLS)], gold.PARTITION_STALLS)
    with pytest.raises(RuntimeError, match=r"gold\.partition_stalls: inside_window could not be checked"):
        column = verdict.column_names.index("started_at")
        unreadable = verdict.set_column(column, "started_at", pyarrow.array(["a text"]))
        validate({"gold.partition_stalls": unreadable}, {}, WINDOW)

    def fails(*arguments: Any, **more: Any) -> Any:
        raise OSError("disk lost")

    monkeypatch.setattr("pandas.Series.isin", fails)
    with pytest.raises(RuntimeError, match=r"gold\.partition_stalls: \w+ could not be checked: .*disk lost"):
        validate({"gold.partition_stalls": verdict}, {}, WINDOW)


def test_killed_validator_is_reported_in_a_sentence(tmp_path: Path) -> None:
    validator = Validator()
    validator.kill()
    with pytest.raises(RuntimeError, match="The process that validates has ended"):
        validator.require_sound(None, str(tmp_path))


OWN = {
    "gold.findings": {
        "name": "gold.findings",
        "expectations": [
            {
                "type": "expect_table_row_count_to_be_between",
                "kwargs": {"min_value": 3},
                "meta": {"name": "several"},
                "description": "a night has several findings",
            },
            {
                "type": "expect_column_values_to_be_in_set",
                "kwargs": {"column": "severity", "value_set": ["info"]},
                "severity": "warning",
            },
            {
                "type": "unexpected_rows_expectation",
                "kwargs": {
                    "unexpected_rows_query": "SELECT subject, count(*) AS n FROM {batch} GROUP BY 1 HAVING n > 1"
                },
                "severity": "info",
            },
        ],
    }
}


def of_user(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    verdicts = validate({"gold.findings": table_of(rows, gold.FINDINGS)}, {}, WINDOW, own=OWN)
    return {v["expectation"]: v for v in verdicts if v["expectation"].startswith("user.")}


def test_user_suite_is_judged_with_ours_under_its_own_names() -> None:
    verdicts = of_user([finding(1, severity="critical", subject="a"), finding(2, severity="info", subject="a")])
    assert [(v["severity"], v["success"], v["observed"]) for v in verdicts.values()] == [
        ("critical", False, "2"),
        ("warning", False, "1 of 2 rows"),
        ("warning", False, "1 of 2 rows"),
    ]
    several, coded, counted = (v["sentences"] for v in verdicts.values())
    assert several == ["gold.findings: user.several is broken (a night has several findings): observed 2"]
    assert "finding_id='f-1'" in coded[0]
    assert counted[0].endswith("subject='a', n=2")
    assert not any(v["row_numbers"] for v in verdicts.values()), "no row is withheld for a user's law"


def test_user_law_of_whole_table_is_judged_without_rows() -> None:
    assert [(v["success"], v["is_vacuous"]) for v in of_user([]).values()] == [
        (False, False),
        (True, True),
        (True, True),
    ]


def test_data_docs_show_breaches_without_values_of_rows() -> None:
    from expectations import validation

    rows = table_of([finding(1, subject="<script>"), finding(1, subject="<script>")], gold.FINDINGS)
    _, docs = validation.validate({"gold.findings": rows}, {}, WINDOW, {})
    assert "index.html" in docs
    pages = [content.decode() for path, content in docs.items() if path.startswith("validations/")]
    assert len(pages) == 1
    assert "no two rows share their finding_id" in pages[0]
    assert "<script>f" not in pages[0] and "&lt;script" not in pages[0] and "'<script>'" not in pages[0]
    assert validation.validate({"gold.findings": rows.slice(1)}, {}, WINDOW, {})[1] == {}


LAZY = """
import pickle, sys
from expectations.serving import load_validation
validation = load_validation()
loaded = lambda: [name in sys.modules for name in ("scipy.stats._stats_py", "altair.vegalite")]
before, (verdicts, _) = loaded(), validation.validate(*pickle.load(sys.stdin.buffer))
print(before, loaded(), [v["success"] for v in verdicts if v["expectation"].startswith("user.")])
"""


def test_scipy_and_altair_load_only_where_an_expectation_uses_them() -> None:
    parts = {"values": ["critical", "info"], "weights": [0.3, 0.7]}
    law = {"column": "severity", "threshold": 0.1, "partition_object": parts}
    own = {"name": "mine", "expectations": [{"type": "expect_column_kl_divergence_to_be_less_than", "kwargs": law}]}
    rows = table_of([finding(n, severity="info" if n else "critical") for n in range(3)], gold.FINDINGS)
    request = pickle.dumps(({"gold.findings": rows}, {}, WINDOW, {"gold.findings": own}))
    done = subprocess.run([sys.executable, "-c", LAZY], cwd=HOME, input=request, capture_output=True)
    assert done.stdout == b"[False, False] [True, False] [True]\n", done.stderr.decode()


def test_process_that_validates_ends_without_a_warning() -> None:
    program = "from kafka_hindsight.steps.validator import started; print(started().require_sound(None, '/nowhere'))"
    done = subprocess.run([sys.executable, "-c", program], cwd=HOME, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_each_unusable_user_expectation_is_one_sentence() -> None:
    from expectations import validation

    def suite(kind: str, **kwargs: Any) -> dict[str, Any]:
        return {"name": "mine", "expectations": [{"type": kind, "kwargs": kwargs}]}

    bad = {
        "gold.failovers": suite("expect_nothing"),
        "gold.findings": suite("expect_column_values_to_not_be_null", column="advise"),
        "gold.incidents": suite(
            "unexpected_rows_expectation", unexpected_rows_query="SELECT 1 FROM {batch} WHERE ended"
        ),
        "gold.ownership": suite("expect_column_values_to_not_be_null", colum="topic"),
    }
    sentences = dict(s.split(".json: ", 1) for s in validation.problems(OWN | bad))
    assert sentences.keys() == bad.keys()
    assert "expect_nothing not found" in sentences["gold.failovers"]
    assert "gold.findings has no column advise" in sentences["gold.findings"]
    assert 'Referenced column "ended" not found' in sentences["gold.incidents"]
    assert "extra fields not permitted" in sentences["gold.ownership"]
    assert validation.problems(OWN) == []
