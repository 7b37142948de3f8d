"""Of failovers the judgement of incidents reads the evidence of those alone that an incident may quote."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.codes import NOBODY, FailoverKind
from kafka_hindsight.catalog.rows import Failover, Quote
from kafka_hindsight.engine.reduce import narrow
from kafka_hindsight.judgements.rebuild.incidents import INCIDENTS
from kafka_hindsight.shared.arrow_rows import rows_of
from tests.support.rows import AT, as_table
from tests.unit.judgements.incidents.test_harm import failover, incidents_of, outage

OFFLINE = failover("offline", second=5, leader_to=NOBODY, outage_id=None)


@pytest.mark.parametrize("outage_id", [None, "o1-0"])
@pytest.mark.parametrize("lost", [None, 40])
@pytest.mark.parametrize("was_offline", [False, True])
@pytest.mark.parametrize("kind", FailoverKind)
def test_incidents_say_the_same_without_evidence_that_none_quotes(
    kind: str, was_offline: bool, lost: int | None, outage_id: str | None
) -> None:
    columns = {"outage_id": outage_id, "records_lost_low": lost, "records_lost_high": lost, "leaderless_ms": 14_000}
    line = Quote(line_id="l", source="broker-1/server.log", happened_at=AT, text="the leader changed")
    change = failover(kind, leader_from=NOBODY if was_offline else 1, evidence=[line], **columns)
    failovers = [OFFLINE, change] if was_offline else [change]
    ((_, functions),) = INCIDENTS.reads["failovers"].leaves()
    read = rows_of(narrow(functions, as_table(failovers, Failover.TABLE), {}).to_batches(), Failover)
    assert incidents_of(outages=[outage(1)], failovers=read) == incidents_of(outages=[outage(1)], failovers=failovers)
