"""The part of an incident that each of its quotations is about."""

from __future__ import annotations

from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects import SUBJECTS
from kafka_hindsight.report.subjects.incident_parts import parts_of
from tests.support.report_night import night
from tests.support.report_rows import at, made, quote
from tests.unit.report.test_cluster_effects import outage

DEATH, ELECTION = quote(at("02:00:00"), "broker-1/server.log", "died"), quote(at("02:00:09"), "c/controller.log", "new")
CHANGE = made(
    "gold.failovers",
    failover_id="f",
    topic="clicks",
    partition=0,
    happened_at=at("02:00:09"),
    kind="unclean_election",
    confidence="certain",
    incident_id="i",
    evidence=[ELECTION],
)


def page(*quotes: dict[str, object]) -> PageRows:
    _, run = night()
    incident = made("gold.incidents", incident_id="i", kind="broker_outage", harm="records_lost", evidence=[*quotes])
    absence = outage(1) | {"incident_id": "i", "evidence": [DEATH]}
    times = {"started_at": at("02:00:00"), "intent": "unknown", "confidence": "certain"}
    rows = {"gold.incidents": [incident | times], "gold.broker_outages": [absence], "gold.failovers": [CHANGE]}
    return PageRows.from_tables(rows, run)


def test_quotations_of_an_incident_of_two_parts_name_theirs() -> None:
    rows = page(DEATH, ELECTION)
    parts = {DEATH["line_id"]: "broker 1 crashed", ELECTION["line_id"]: "clicks-0, unclean election"}
    assert parts_of(rows, rows.incidents["i"]) == parts
    answer = SUBJECTS["incident"].answer(rows, "i")
    assert {quotation["line_id"]: quotation["part"] for quotation in answer.data()["evidence"]} == parts
    quotes = rows.evidence(answer.proof, parts=answer.parts).quotes
    assert [quotation.shows for quotation in quotes] == [*parts.values()]


def test_quotations_of_one_part_name_none() -> None:
    rows = page(DEATH)
    assert parts_of(rows, rows.incidents["i"]) == {}
    assert "part" not in SUBJECTS["incident"].answer(rows, "i").data()["evidence"][0]
