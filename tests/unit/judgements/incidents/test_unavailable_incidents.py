"""What could not be used, as part of an incident: writes that stopped, and groups without a consumer."""

from __future__ import annotations

from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.catalog.gold import OUT_OF_SYNC_PERIODS, UNAVAILABILITY
from kafka_hindsight.catalog.rows import IsrSpan, Unavailability
from kafka_hindsight.report.figures import needs
from tests.support.rows import AT, row
from tests.unit.judgements.incidents.test_harm import incidents_of, of_groups, outage, stopped_writes


def test_stopped_writes_belong_to_incident_that_removed_the_replica() -> None:
    crash = outage(1)
    slow = row(
        OUT_OF_SYNC_PERIODS, kind="slow", broker=3, partitions=1, started_at=AT + timedelta(minutes=10),
        ended_at=AT + timedelta(minutes=12), outage_id=None,
    )  # fmt: skip
    about = {"cluster": "c", "topic": "t", "is_back": True, "isr_size": 1, "evidence": []}
    span = IsrSpan(partition=1, broker=3, happened_at=AT + timedelta(minutes=10), outage_id=None, **about)
    hung = stopped_writes("acks_all_hung", 0, outage_id=crash.outage_id, seconds=9.2)
    rows = [hung, stopped_writes("acks_all_refused", 1, 601), stopped_writes("acks_all_refused", 2, 1_500)]
    rows += [stopped_writes("acks_all_hung", 3, 1_600, seconds=0.4)]
    incidents = incidents_of(outages=[crash], periods=[slow], isr_spans=[span], unavailability=rows)
    assert [(i.kind, i.harm, i.partitions_refusing, i.refusing_ms) for i in incidents] == [
        ("replicas_out", "writes_refused", 1, 31_000),
        ("writes_stopped", "writes_refused", 1, 31_000),
        ("broker_outage", "writes_refused", 1, 9_200),
    ]
    assert [str(i.headline).split(":")[0] for i in incidents] == [
        "Partition t-1 took no writes with acks=all for at least 31 s",
        "Partition t-2 took no writes with acks=all for at least 31 s",
        "Partition t-0 took no writes with acks=all for at least 9.2 s",
    ]


def test_group_without_consumer_is_open_after_failure_over_after_stop_and_else_not_known() -> None:
    def idle(rebalance_id: str) -> Unavailability:
        about = {"kind": "no_consumer", "group_id": "g", "topic": None, "partition": None, "ended_at": None}
        return row(UNAVAILABILITY, unavailability_id=rebalance_id, rebalance_id=rebalance_id, low_ms=60_000, **about)

    causes = {"r1": Cause.MEMBER_DEAD, "r2": Cause.SESSION_ENDED, "r3": Cause.MEMBER_LEFT}
    dead, silent, left = incidents_of(
        of_groups=[of_groups(cause=cause, incident_id=cause) for cause in causes.values()],
        unavailability=[*map(idle, causes)],
        group_incident_of=causes,
        failures={i: cause for i, cause in causes.items() if cause != Cause.MEMBER_LEFT},
    )
    assert [(i.harm, i.is_over) for i in (dead, silent, left)] == [
        ("consumers_stopped", False),
        ("consumers_stopped", None),
        ("routine", True),
    ]
    assert str(dead.headline).endswith(": a member died, and none is left")
    assert str(silent.headline).endswith(": a session ended silently, and none is left")
    assert [*map(needs, (dead, silent, left))] == ["act", "look", "calm"]
