"""What a verdict rests on stands first among its quotations, and is never cut."""

from __future__ import annotations

import re
from datetime import timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kafka_hindsight.catalog.codes import Cause, IncidentKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.judgements.groups.group_incidents import group_incidents
from kafka_hindsight.judgements.reasoning.evidence import MAX_QUOTES, evidence_of, ranks_of
from kafka_hindsight.shared.windows import Window
from tests.support.histories import BOTH, lines, rebalances
from tests.support.incidents import judged_incidents
from tests.support.rows import AT
from tests.unit.judgements.incidents.test_harm import failover, incidents_of, of_groups, outage, unclean


def quotation(number: int) -> Quote:
    return Quote(line_id=f"{number:03}", source="a", happened_at=AT + timedelta(seconds=number), text=f"line {number}")


RANKS = st.lists(st.lists(st.integers(0, 40).map(quotation), max_size=16), max_size=4)


@given(RANKS)
def test_quotes_of_an_earlier_rank_are_never_cut_for_those_of_a_later_one(ranks: list[list[Quote]]) -> None:
    evidence = evidence_of(*ranks)
    assert len({q.line_id for q in evidence}) == len(evidence) <= MAX_QUOTES
    earlier: set[str] = set()
    for rank in ranks:
        own = {q.line_id for q in rank} - earlier
        chosen = [q.line_id for q in evidence if q.line_id in own]
        assert chosen == sorted(chosen)
        assert len(chosen) == min(len(own), max(0, MAX_QUOTES - len(earlier)))
        assert not chosen or {min(own), max(own)} <= {*chosen} or len(chosen) == 1
        earlier |= own


def test_incident_of_dead_members_quotes_the_end_of_each_session() -> None:
    rows = rebalances(lines("storm-2.8", *BOTH))
    deaths = [r for r in rows if r.cause == Cause.MEMBER_DEAD]
    assert [r.evidence[0].kind for r in deaths] == [Kind.MEMBER_FAILED] * len(deaths) != []
    incidents, incident_of = group_incidents(rows, [], [])
    for incident in (i for i in incidents if i.cause == Cause.MEMBER_DEAD):
        own = {r.evidence[0].line_id for r in deaths if incident_of[r.rebalance_id] == incident.incident_id}
        assert own <= {q.line_id for q in incident.evidence}
    assert any(i.kind == IncidentKind.STORM for i in incidents)


def test_incident_quotes_its_loss_and_its_absence_beside_many_rebalances() -> None:
    loss, absence = [quotation(90)], [quotation(80), quotation(99)]
    groups = [
        of_groups(incident_id=f"g{n}", first_outage_id="o1-0", evidence=[quotation(n), quotation(n + 30)])
        for n in range(30)
    ]
    lossy = unclean(3, 3, outage_id="o1-0", evidence=loss)
    others = [failover("unclean_election", n, outage_id="o1-0", evidence=[quotation(70)]) for n in range(1, 5)]
    rows = {"outages": [outage(evidence=absence)], "of_groups": groups, "failovers": [lossy, *others]}
    (incident,) = incidents_of(**rows)
    assert {q.line_id for q in (*loss, *absence)} <= {q.line_id for q in incident.evidence}
    assert incident.evidence[0] in (*loss, *absence, groups[0].evidence[0])


@pytest.mark.parametrize(
    ("excerpt", "tool", "setting"),
    [
        ("kip848-4.1", "kafka-consumer-groups.sh", "consumer.session.timeout.ms"),
        ("silent-kip848-4.3", "kafka-consumer-groups.sh", "consumer.session.timeout.ms"),
        ("share-4.3", "kafka-share-groups.sh", "share.session.timeout.ms"),
        ("streams-4.3", "kafka-streams-groups.sh", "streams.session.timeout.ms"),
    ],
)
def test_advice_and_commands_fit_the_protocol_of_the_group(excerpt: str, tool: str, setting: str) -> None:
    rows = rebalances(lines(excerpt, *BOTH))
    window = Window(min(r.started_at for r in rows), max(r.started_at for r in rows) + timedelta(seconds=1))
    incidents = judged_incidents(window, (), of_groups=group_incidents(rows, [], [])[0]).incidents
    assert {c.split()[0] for i in incidents for c in i.commands or ()} - {"kafka-configs.sh"} == {tool}
    settings = {w for r in rows for w in re.findall(r"[a-z.]*session\.timeout\.ms", r.advice)}
    assert settings <= {setting}


def test_ranks_have_the_first_of_each_row_then_the_second() -> None:
    first, second = [quotation(1), quotation(5)], [quotation(3)]
    assert [*ranks_of([first, second])] == [[quotation(1), quotation(3)], [quotation(5)]]
