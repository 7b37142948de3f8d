"""What was declared labels what happened, and changes nothing else."""

from __future__ import annotations

from datetime import timedelta

from tests.support.rows import AT
from tests.unit.judgements.incidents.test_harm import failover, incidents_of, of_groups, outage, stop

DECLARED = f"{AT - timedelta(minutes=1):%Y-%m-%dT%H:%M}/{AT + timedelta(minutes=5):%Y-%m-%dT%H:%M} patching"


def test_maintenance_window_changes_only_intent_of_incidents_that_begin_in_it() -> None:
    rows = {
        "outages": [stop(1, 0), outage(2, 100), stop(3, 1_000)],
        "failovers": [failover("broker_crash", 0, 110, outage_id="o2-100", leaderless_ms=9_000)],
        "of_groups": [of_groups(incident_id="a", started_at=AT + timedelta(minutes=2))],
    }
    plain, declared = incidents_of(**rows), incidents_of(DECLARED, **rows)
    assert [(i.headline, i.intent) for i in plain] == [(i.headline, "undeclared") for i in declared]
    assert [(tuple(i.brokers or ()), i.intent, i.declared_until is not None) for i in declared] == [
        ((2,), "declared", True), ((1,), "declared", True), ((3,), "undeclared", False), ((), "declared", True),
    ]  # fmt: skip
    same = {"intent", "declared_until", "explanation"}
    for one, other in zip(plain, declared):
        assert {k: v for k, v in one.as_dict().items() if k not in same} == {
            k: v for k, v in other.as_dict().items() if k not in same
        }
    assert "A maintenance window declares it, 02:59 to 03:05: patching." in declared[0].explanation


def test_start_that_may_lie_outside_the_window_leaves_intent_unknown() -> None:
    vague = {"unreachable_at": None, "away_low_ms": 5_000, "away_high_ms": 900_000}
    astride = outage(1, 200, detected_at=AT + timedelta(seconds=400), **vague)
    inside = outage(2, 200, detected_at=AT + timedelta(seconds=290), **vague)
    assert {tuple(i.brokers or ()): i.intent for i in incidents_of(DECLARED, outages=[astride, inside])} == {
        (1,): "unknown", (2,): "declared",
    }  # fmt: skip


def test_one_stop_outside_the_window_makes_the_incident_undeclared() -> None:
    end = f"{AT - timedelta(minutes=1):%Y-%m-%dT%H:%M}/{AT + timedelta(seconds=60):%Y-%m-%dT%H:%M}"
    (act,) = incidents_of(end, outages=[stop(1, 40, up_after=40), stop(2, 70)])
    assert (act.intent, act.declared_until) == ("undeclared", None)


def test_removal_by_admin_is_declared_without_maintenance_window() -> None:
    removed = of_groups(cause="removed_by_admin", intent="declared")
    (incident,) = incidents_of(of_groups=[removed])
    assert (incident.intent, incident.declared_until, incident.harm) == ("declared", None, "routine")
