"""One list of incidents of every kind, the most harmful first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from inspect import signature
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Cause, FailoverKind, Harm, OutOfSyncKind, Protocol, Urgency
from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    CONTROLLER_CHANGES,
    FAILOVERS,
    INCIDENTS,
    OUT_OF_SYNC_PERIODS,
    PARTITION_STALLS,
    TRUNCATIONS,
    UNAVAILABILITY,
)
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    ControllerChange,
    Failover,
    Incident,
    Unavailability,
)
from kafka_hindsight.judgements.incidents import IncidentList
from kafka_hindsight.judgements.incidents.happenings import fate
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.incidents import judge_all_incidents
from kafka_hindsight.knowledge.advice import MemberFacts, advise
from kafka_hindsight.knowledge.rules import RULES
from kafka_hindsight.report.figures import state_of
from kafka_hindsight.settings.maintenance import maintenance_of
from kafka_hindsight.shared.windows import Window
from tests.support.findings import raised
from tests.support.incidents import judged_incidents
from tests.support.rows import AT, row
from tests.support.unavailability import without_leader

WINDOW = Window(AT - timedelta(hours=1), AT + timedelta(hours=1))


def outage(broker: int = 1, second: int = 0, up_after: int | None = 20, **columns: Any) -> BrokerOutage:
    down = AT + timedelta(seconds=second)
    defaults = {
        "outage_id": f"o{broker}-{second}",
        "broker": broker,
        "kind": "crash",
        "intent": "unknown",
        "down_at": down,
        "up_at": None if up_after is None else down + timedelta(seconds=up_after),
        "failed_starts": 0,
        "isr_recovered_at": None,
        "confidence": "certain",
    }
    return row(BROKER_OUTAGES, **defaults | columns)


def stop(broker: int, second: int, **columns: Any) -> BrokerOutage:
    return outage(broker, second, kind="controlled_shutdown", **columns)


def failover(kind: str, partition: int = 0, second: int = 10, topic: str = "t", **columns: Any) -> Failover:
    happened = AT + timedelta(seconds=second)
    defaults = {"failover_id": f"{topic}-{partition}-{second}", "leader_from": 1, "leader_to": 2}
    return row(FAILOVERS, kind=kind, topic=topic, partition=partition, happened_at=happened, **defaults | columns)


def unclean(low: int | None, high: int | None, **columns: Any) -> Failover:
    return failover("unclean_election", records_lost_low=low, records_lost_high=high, leaderless_ms=14_000, **columns)


def stopped_writes(kind: str, partition: int, second: int = 0, seconds: float = 31.0, **columns: Any) -> Unavailability:
    began = AT + timedelta(seconds=second)
    times = {"started_at": began, "ended_at": began + timedelta(seconds=seconds), "low_ms": int(seconds * 1000)}
    about = {"unavailability_id": f"{kind} {partition} {second}", "topic": "t", "partition": partition}
    return row(UNAVAILABILITY, kind=kind, **{**about, **times, **columns})


def of_groups(kind: str = "single", cause: str = "member_dead", **columns: Any) -> Incident:
    defaults = {"group_ids": ["g"], "rebalance_count": 1, "started_at": AT, "ended_at": AT, "intent": "unknown"}
    return row(INCIDENTS, kind=kind, cause=cause, **defaults | columns)


def incidents_of(maintenance: str = "", **rows: Any) -> list[Incident]:
    return list(listed(maintenance, **rows).incidents)


def listed(maintenance: str = "", **rows: Any) -> IncidentList:
    """The list of incidents, with the times in which their partitions had no leader."""
    unused = [*without_leader(rows.get("failovers", ())), *rows.pop("unavailability", ())]
    return judged_incidents(WINDOW, maintenance_of(maintenance), unavailability=unused, **rows)


def harms(**rows: Any) -> list[str | None]:
    return [i.harm for i in incidents_of(**rows)]


@pytest.mark.parametrize("ended", [True, False])
def test_partition_that_only_may_have_had_no_leader_makes_no_incident_that_asks_to_act(ended: bool) -> None:
    begins = {"started_at": AT, "ended_at": AT + timedelta(hours=1) if ended else None}
    doubtful = {"kind": "no_leader", "topic": "t", "partition": 0, "low_ms": 0, "confidence": "possible", **begins}
    (incident,) = incidents_of(unavailability=[row(UNAVAILABILITY, unavailability_id="u", **doubtful)])
    assert (incident.harm, incident.partitions_offline, incident.topics) == ("data_at_risk", None, ["t"])
    assert incident.is_over is (True if ended else None)
    assert incident.headline.endswith(", and partition t-0 may have had no leader")
    assert state_of([incident], [], is_known=True) is Urgency.LOOK
    (shown,) = incidents_of(unavailability=[row(UNAVAILABILITY, unavailability_id="u", **{**doubtful, "low_ms": 1})])
    assert (shown.harm, shown.partitions_offline, shown.is_over) == ("partitions_offline", 1, ended)


@pytest.mark.parametrize(
    ("kind", "ms", "most_ms", "confidence", "harm"),
    [
        ("controlled_shutdown", 3_000, 3_000, "certain", "brokers_restarted"),
        ("controlled_shutdown", 3_000, 9_001, "certain", "partitions_offline"),
        ("controlled_shutdown", 3_000, None, "certain", "partitions_offline"),
        ("controlled_shutdown", 3_000, 3_000, "possible", "partitions_offline"),
        ("controlled_shutdown", 12_000, 12_000, "certain", "partitions_offline"),
        ("broker_crash", 3_000, 3_000, "certain", "partitions_offline"),
        ("offline", 3_000, 3_000, "certain", "partitions_offline"),
    ],
)
def test_partition_that_is_handed_over_within_a_session_is_not_offline(
    kind: str, ms: int, most_ms: int | None, confidence: str, harm: str
) -> None:
    away = stop(1, 0, isr_recovered_at=AT + timedelta(seconds=30))
    length: dict[str, Any] = {"leaderless_ms": ms, "leaderless_high_ms": most_ms, "confidence": confidence}
    change = failover(kind, 0, 1, outage_id=away.outage_id, leader_from=1, leader_to=2, **length)
    (incident,) = listed(outages=[away], failovers=[change]).incidents
    assert incident.harm == harm
    assert incident.partitions_offline == 1
    if harm == "brokers_restarted":
        assert incident.headline.endswith("; partition t-0 had no leader for 3 s as leaders were handed over")


def test_leaders_that_are_given_back_are_no_incident() -> None:
    """Kafka gives them back five minutes after a restart: on a busy cluster that takes a second or two."""
    back = failover(
        "preferred_election", 0, 1, leader_from=3, leader_to=1, leaderless_ms=2_200, leaderless_high_ms=2_200
    )
    assert listed(failovers=[back]).incidents == []
    (slow,) = listed(failovers=[replace(back, leaderless_ms=20_000, leaderless_high_ms=20_000)]).incidents
    assert slow.harm == "partitions_offline"
    assert slow.headline.endswith("the leader moved from broker 3 with an election")


def test_quorum_without_majority_is_incident_and_other_controller_change_is_not() -> None:
    bounds = {"uncontrolled_low_ms": 16_669, "confidence": "likely", "happened_at": AT + timedelta(minutes=1)}
    lost = row(CONTROLLER_CHANGES, cause="no_majority", epoch=3, explanation="It had none.", **bounds)
    (incident,) = incidents_of(controllers=[lost, row(CONTROLLER_CHANGES, cause="outage", epoch=4, **bounds)])
    assert (incident.kind, incident.harm, incident.confidence) == ("quorum_lost", "no_controller", "likely")
    assert incident.ended_at and incident.ended_at - incident.started_at == timedelta(milliseconds=16_669)
    assert incident.headline == (
        "The controllers had no majority for 16.7 s: no leader could be elected, and no topic created or changed"
    )
    assert "It had none." in incident.explanation and "two of three" in incident.advice


def test_quorum_without_majority_at_end_of_logs_is_open_incident() -> None:
    bounds = {"uncontrolled_low_ms": 16_669, "confidence": "likely", "happened_at": AT}
    lost = row(CONTROLLER_CHANGES, cause="no_majority", controller_to=-1, epoch=3, explanation="It has none.", **bounds)
    (incident,) = incidents_of(controllers=[lost])
    assert (incident.kind, incident.started_at, incident.ended_at) == ("quorum_lost", AT, None)
    assert "for 16.7 s at least, and no line shows a controller afterwards" in incident.headline


def test_repeated_quorum_losses_are_one_incident() -> None:
    def lost(seconds: int, **columns: Any) -> ControllerChange:
        defaults = {"cause": "no_majority", "epoch": seconds, "confidence": "likely", "uncontrolled_low_ms": 3_000}
        at_second = AT + timedelta(seconds=seconds)
        return row(
            CONTROLLER_CHANGES, **defaults | {"explanation": f"Lost {seconds}.", "happened_at": at_second} | columns
        )

    long = lost(600, uncontrolled_low_ms=510_000)
    again, calm = incidents_of(controllers=[lost(900), long, lost(90), lost(30)])
    assert again.headline.startswith("The controllers had no majority 3 times within 9 min 33 s: no leader")
    assert (again.started_at, again.ended_at) == (AT + timedelta(seconds=27), long.happened_at)
    assert "Lost 30. Lost 600." in again.explanation and "Lost 90" not in again.explanation
    assert calm.headline.startswith("The controllers had no majority for 3 s")
    (over,) = incidents_of(controllers=[lost(30), lost(40, controller_to=-1)])
    assert over.headline.startswith("The controllers had no majority twice within 13 s, and no line shows a controller")


def test_truncation_without_outage_is_its_own_incident() -> None:
    lost = {"topic": "t", "partition": 0, "verdict": "committed_lost", "records_cut": 40, "outage_id": None}
    (incident,) = incidents_of(truncations=[row(TRUNCATIONS, broker=1, explanation="It was cut.", **lost)])
    assert (incident.kind, incident.harm) == ("log_cut", "records_lost")
    assert "broker 1 cut its log" in str(incident.headline)
    assert Harm.PARTITIONS_OFFLINE.noun.advice in str(incident.advice)


def test_loss_of_window_is_one_incident_whenever_its_absence_began() -> None:
    def judged(at: datetime) -> tuple[list[tuple[str, str]], list[str]]:
        crash = outage(1, down_at=at, outage_id="o")
        lost = {"verdict": "committed_lost", "records_cut": 40, "topic": "t", "partition": 0, "happened_at": AT}
        rows = {"outages": [crash], "truncations": [row(TRUNCATIONS, outage_id="o", **lost)]}
        empty: dict[str, Any] = {name: [] for name in signature(judge_all_incidents).parameters}
        facts = SimpleNamespace(groups=SimpleNamespace(observed_to=WINDOW.end))
        judged = judge_all_incidents(**{**empty, **rows, "scope": Scope("c", WINDOW, WINDOW), "facts": facts})
        findings = raised(harmful_truncations=rows["truncations"], incident_links=judged.links)
        return [(i.kind, str(i.harm)) for i in judged.incidents], [f.rule_id for f in findings]

    assert judged(AT) == ([("broker_outage", "records_lost")], [])
    assert judged(WINDOW.start - timedelta(hours=3)) == ([("log_cut", "records_lost")], []), "it began before"


def test_loss_after_window_is_of_the_next_one() -> None:
    crash = outage(1, second=3_590)
    lost = unclean(40, 40, second=3_605, outage_id=crash.outage_id)
    cut = row(TRUNCATIONS, topic="t", partition=0, broker=1, outage_id=crash.outage_id, verdict="committed_lost",
              records_cut=40, happened_at=AT + timedelta(seconds=3_610))  # fmt: skip
    (incident,) = incidents_of(outages=[crash], failovers=[lost], truncations=[cut])
    assert (incident.harm, incident.records_lost_low) == ("partitions_offline", None)
    following = Window(WINDOW.end, WINDOW.end + timedelta(hours=2))
    (incident,) = judged_incidents(following, outages=[crash], failovers=[lost], truncations=[cut]).incidents
    assert (incident.kind, incident.harm) == ("leaders_lost", "records_lost")
    assert (incident.records_lost_low, incident.records_lost_high) == (40, 40), "the cut is of the election"


def test_crash_and_its_consequences_are_one_incident() -> None:
    crash = outage()
    rows = [unclean(40, 40, outage_id=crash.outage_id), failover("broker_crash", 1, outage_id=crash.outage_id)]
    cut = row(
        TRUNCATIONS,
        topic="t",
        partition=0,
        broker=1,
        outage_id=crash.outage_id,
        verdict="committed_lost",
        records_cut=40,
    )
    groups = of_groups("broker_outage", first_outage_id=crash.outage_id, rebalance_count=3, incident_id="of groups")
    judged = listed(of_groups=[groups], outages=[crash], failovers=rows, truncations=[cut])
    (incident,) = judged.incidents
    assert (incident.harm, incident.harm_rank, incident.records_lost_low, incident.records_lost_high) == (
        "records_lost", 1, 40, 40,
    )  # fmt: skip
    assert (incident.failover_count, incident.rebalance_count, incident.group_ids) == (2, 3, ["g"])
    assert incident.headline == (
        f"40 committed records were lost in t-0 (unclean election at {AT + timedelta(seconds=10):%H:%M:%S}):"
        f" broker 1 crashed at {AT:%H:%M:%S}, away for 20 s"
    )
    ids = {*judged.of_outage.values(), *judged.of_groups.values(), *judged.of_failover.values()}
    assert ids == {incident.incident_id}
    assert [o.incident_id for o in judged.name([crash])] == [incident.incident_id]


def test_partition_of_which_no_loss_is_shown_is_not_said_to_have_lost_records() -> None:
    crash = outage()
    rows = [unclean(40, 40, outage_id=crash.outage_id), unclean(0, None, partition=1, outage_id=crash.outage_id)]
    (incident,) = incidents_of(outages=[crash], failovers=rows)
    assert str(incident.headline).startswith(
        f"At least 40 committed records were lost in t-0 (unclean election at {AT + timedelta(seconds=10):%H:%M:%S}),"
        " and more may have been in t-1: broker 1 crashed at"
    )


def test_incidents_are_ordered_by_harm_and_not_by_kind_of_stop() -> None:
    lossy, gone, stopped, back = outage(1), outage(2, 100), stop(3, 200), stop(3, 400)
    rows = [
        unclean(5, 9, outage_id=lossy.outage_id),
        failover("offline", 1, 205, outage_id=stopped.outage_id, leader_from=3, leader_to=-1, leaderless_low_ms=9_000),
        failover("controlled_shutdown", 2, 405, outage_id=back.outage_id, leader_from=3, leaderless_ms=108),
    ]
    stall = row(PARTITION_STALLS, group_id="slow", kind="owner_stands", started_at=WINDOW.start)
    late = row(OUT_OF_SYNC_PERIODS, kind="slow", broker=3, partitions=4, started_at=AT, ended_at=None, outage_id=None)
    groups = [of_groups(incident_id="a"), of_groups(cause="member_joined", incident_id="b")]
    incidents = incidents_of(
        of_groups=groups, outages=[stopped, gone, back, lossy], failovers=rows, periods=[late], stalls=[stall]
    )
    assert [i.harm for i in incidents] == [
        "records_lost", "partitions_offline", "broker_lost", "data_at_risk", "data_at_risk", "consumers_stopped",
        "lag_grew", "routine",
    ]  # fmt: skip
    assert [i.harm_rank for i in incidents] == [*range(1, 9)]


def test_offline_partitions_rank_before_refused_writes_and_crashes() -> None:
    offline, refusing, plain = outage(1), outage(2, 100), outage(3, 200)
    refused = stopped_writes("acks_all_refused", 7, outage_id=refusing.outage_id)
    lost = failover("offline", 1, outage_id=offline.outage_id, leader_to=-1, leaderless_low_ms=16_300)
    incidents = incidents_of(outages=[offline, refusing, plain], failovers=[lost], unavailability=[refused])
    assert [(i.harm, i.partitions_offline, i.partitions_refusing) for i in incidents] == [
        ("partitions_offline", 1, 0), ("writes_refused", 0, 1), ("broker_lost", 0, 0),
    ]  # fmt: skip
    assert str(incidents[0].headline).startswith("Partition t-1 had no leader for at least 16.3 s: broker 1 crashed")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"leaderless_ms": 16_300, "leaderless_low_ms": 16_286, "leaderless_high_ms": 16_351},
            "had no leader for 16.3 s: ",
        ),
        ({"leaderless_low_ms": 8_176, "leaderless_high_ms": 26_176}, "had no leader for 8.2 s to 26.2 s: "),
        ({"leaderless_high_ms": 26_176}, "had no leader for at most 26.2 s: "),
        ({}, "still had no leader when the logs end: "),
    ],
)
def test_headline_states_known_bounds_of_leaderless_time(columns: dict[str, int], sentence: str) -> None:
    crash = outage(1)
    lost = failover("offline", 1, outage_id=crash.outage_id, leader_to=-1, **columns)
    assert f"t-1 {sentence}" in str(incidents_of(outages=[crash], failovers=[lost])[0].headline)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"unreachable_at": AT}, "crashed at 03:00:00, away for 20 s"),
        ({"detected_at": AT + timedelta(seconds=8)}, "crashed between 03:00:00 and 03:00:08, away for 7.9 s to 26.1 s"),
        ({"detected_at": AT + timedelta(seconds=0.4)}, "crashed at 03:00:00, away for 7.9 s to 26.1 s"),
        ({"away_high_ms": None}, "crashed after 03:00:00, away for at least 7.9 s"),
        ({"up_at": None}, "crashed after 03:00:00 and was not back when the logs end"),
        ({"last_heard_at": None}, "crashed before 03:00:00, away for 7.9 s to 26.1 s"),
    ],
)
def test_outage_sentence_has_bounds_where_start_is_inexact(columns: dict[str, Any], sentence: str) -> None:
    unseen = {"unreachable_at": None, "detected_at": None, "last_heard_at": AT}
    gone = replace(outage(1), **{"away_low_ms": 7_873, "away_high_ms": 26_066, **unseen, **columns})
    assert fate(gone) == sentence


@pytest.mark.parametrize(
    ("shown_ms", "is_over", "headline"),
    [
        (3_600_000, False, "Broker 1 crashed at 03:00:00 and was not back when the logs end"),
        (1_000, None, "Broker 1 crashed at 03:00:00, and the logs do not show whether it came back"),
    ],
)
def test_absence_goes_on_as_long_as_the_logs_show(shown_ms: int, is_over: bool | None, headline: str) -> None:
    gone = replace(outage(1), up_at=None, unreachable_at=AT, detected_at=AT, away_low_ms=shown_ms, away_high_ms=None)
    (incident,) = incidents_of(outages=[gone], logs_end=WINDOW.end)
    assert (incident.is_over, incident.headline) == (is_over, headline)


def test_stops_within_a_minute_are_one_incident_and_crashes_are_not() -> None:
    restart = [stop(b, b * 30, restart_id="r") for b in (1, 2, 3)]
    stopped = [stop(b, 1_000 + b, up_after=None) for b in (1, 2, 3)]
    crashes = [outage(b, 2_000 + b) for b in (1, 2)]
    incidents = incidents_of(outages=[*restart, *stopped, *crashes])
    assert sorted((i.kind, i.harm, i.is_over, tuple(i.brokers or ())) for i in incidents) == [
        ("broker_outage", "broker_lost", False, (1, 2, 3)),
        ("broker_outage", "broker_lost", True, (1,)),
        ("broker_outage", "broker_lost", True, (2,)),
        ("cluster_restart", "data_at_risk", True, (1, 2, 3)),
    ]
    assert [i.ended_at for i in incidents if not i.is_over] == [None]


def test_restart_in_turn_is_no_risk_where_each_broker_was_waited_for() -> None:
    def restarted(*recovered: int | None, **columns: Any) -> Incident:
        instants = [None if s is None else AT + timedelta(seconds=s) for s in recovered]
        stops = [stop(n, n * 60, restart_id="r", isr_recovered_at=at, **columns) for n, at in enumerate(instants)]
        (incident,) = incidents_of(outages=stops)
        return incident

    waited_for = restarted(30, 60, 150)
    assert (waited_for.harm, waited_for.is_over) == ("brokers_restarted", True)
    assert str(waited_for.headline).endswith("from 03:00:00 on, the last in sync again at 03:02:30")
    assert restarted(30).harm == "brokers_restarted"
    assert restarted(30, 121, 150).harm == "data_at_risk", "the third stopped before the second was in sync"
    assert restarted(30, None, 150).harm == "data_at_risk", "no line shows that the second was in sync"
    assert restarted(30, 60, 150, failed_starts=2).harm == "data_at_risk", "no restart is planned to fail twice"


def by_start(incidents: Iterable[Incident]) -> list[Incident]:
    return sorted(incidents, key=lambda i: i.started_at)


def test_restored_leader_belongs_to_incident_of_its_loss() -> None:
    crash = outage()
    lost = failover("offline", outage_id=crash.outage_id, leader_to=-1)
    back = failover("leader_restored", second=20, leader_from=-1)
    judged = listed(outages=[crash], failovers=[back, lost])
    assert len({judged.of_failover[f.failover_id] for f in (lost, back)}) == 1


def test_leaders_lost_without_outage_are_one_incident() -> None:
    rows = [
        failover("offline", 0, 10, leader_to=-1, leaderless_ms=80_000),
        unclean(0, 12, partition=0, second=90, leader_from=-1),
        failover("preferred_election", 5, 10),
    ]
    (incident,) = incidents_of(failovers=rows)
    assert (incident.kind, incident.harm, incident.failover_count) == ("leaders_lost", "records_lost", 2)
    assert str(incident.headline).startswith("Up to 12 committed records may have been lost in t-0: ")


def test_unclean_election_without_lost_records_is_no_record_loss() -> None:
    assert harms(failovers=[unclean(0, 0)]) == [Harm.PARTITIONS_OFFLINE]
    assert harms(failovers=[unclean(0, None)]) == [Harm.RECORDS_LOST]


def test_failed_disk_and_its_failovers_are_one_incident() -> None:
    period = row(OUT_OF_SYNC_PERIODS, kind="disk", broker=1, started_at=AT, ended_at=None, outage_id=None, partitions=2)
    rows = [failover(FailoverKind.LOG_DIR_FAILED, p, 5) for p in (0, 1)]
    (incident,) = incidents_of(periods=[period], failovers=rows)
    assert (incident.kind, incident.harm, incident.failover_count) == ("replicas_out", "data_at_risk", 2)


def test_out_of_sync_by_outage_or_reassignment_is_no_incident() -> None:
    kinds = (OutOfSyncKind.OUTAGE, OutOfSyncKind.REASSIGNMENT)
    assert (
        incidents_of(periods=[row(OUT_OF_SYNC_PERIODS, kind=kind, outage_id=None, started_at=AT) for kind in kinds])
        == []
    )


def test_a_slow_replica_in_an_outage_is_no_incident_beside_it() -> None:
    slow = row(OUT_OF_SYNC_PERIODS, kind="slow", broker=1, started_at=AT, ended_at=None, outage_id=None, partitions=2)
    crash = outage(1)
    assert len(incidents_of(periods=[slow], outages=[crash])) == 2
    assert len(incidents_of(periods=[replace(slow, outage_id=crash.outage_id)], outages=[crash])) == 1


def test_same_outage_at_another_time_has_same_recurrence_id() -> None:
    one, other = outage(1), replace(outage(1, 600), down_at=AT + timedelta(minutes=10))
    crash, again = incidents_of(outages=[one, other])
    assert crash.recurrence_id == again.recurrence_id and crash.incident_id != again.incident_id
    assert incidents_of(outages=[outage(2)])[0].recurrence_id != crash.recurrence_id


def test_hostile_group_name_is_quoted_in_shell_command() -> None:
    hostile = MemberFacts(protocol=Protocol.CLASSIC, group="g; rm -rf /")
    commands = [*advise(Cause.MEMBER_DEAD, hostile).commands]
    (incident,) = incidents_of(of_groups=[of_groups(group_ids=[hostile.group], commands=commands)])
    assert incident.commands == [
        "kafka-consumer-groups.sh --bootstrap-server $BOOTSTRAP --describe --group 'g; rm -rf /' --members --verbose"
    ]


def test_outage_before_window_is_no_incident_of_the_window() -> None:
    early = replace(outage(), down_at=WINDOW.start - timedelta(seconds=5), up_at=WINDOW.start + timedelta(seconds=5))
    groups = of_groups("broker_outage", first_outage_id=early.outage_id, incident_id="kept")
    assert [i.incident_id for i in incidents_of(of_groups=[groups], outages=[early])] == ["kept"]


@given(st.permutations(range(6)))
def test_order_of_input_rows_does_not_change_incidents(order: list[int]) -> None:
    rows = [outage(b, 50 * b) for b in range(3)] + [stop(b, 50 * b) for b in range(3, 6)]
    assert incidents_of(outages=[rows[n] for n in order]) == incidents_of(outages=rows)


def test_broker_down_since_before_window_is_finding_of_the_window() -> None:
    gone = replace(outage(1, up_after=None), down_at=WINDOW.start - timedelta(hours=3))
    (finding,) = raised(window=WINDOW, outages_around=[gone])
    assert (finding.rule_id, finding.subject) == ("broker_gone", "1")
    assert (finding.first_at, finding.last_at) == (WINDOW.start, WINDOW.start)
    assert f"{gone.down_at:%H:%M:%S}" in finding.message
    assert state_of([], [finding], is_known=True) == "act"


@pytest.mark.parametrize(("up_after", "rule_ids"), [(2, []), (8, ["broker_still_away"])])
def test_broker_away_as_the_window_began_is_a_finding_of_the_window(up_after: int, rule_ids: list[str]) -> None:
    early = WINDOW.start - timedelta(seconds=5)
    away = replace(outage(1), down_at=early, up_at=early + timedelta(seconds=up_after))
    findings = raised(window=WINDOW, outages_around=[away])
    assert [f.rule_id for f in findings] == rule_ids
    assert state_of([], findings, is_known=True) == ("look" if rule_ids else "calm")


@pytest.mark.parametrize(
    ("down_s", "low_s", "says"),
    [
        # Its log goes on a day later, after it had stopped for good; or it was gone just before it came back.
        (-86_000, 5, "it may have been away as the window began"),
        (-86_000, 86_003, "it was away as the window began"),
        (-4, 5, "it was away as the window began"),
    ],
)
def test_broker_of_which_no_log_was_read_may_have_been_away(down_s: int, low_s: int, says: str) -> None:
    times = {"down_at": WINDOW.start + timedelta(seconds=down_s), "up_at": WINDOW.start + timedelta(seconds=7)}
    away = replace(outage(1), **times, detected_at=None, away_low_ms=low_s * 1000, away_high_ms=86_007_000)
    (finding,) = raised(window=WINDOW, outages_around=[away])
    assert finding.message.endswith(says)


@pytest.mark.parametrize(
    ("kind", "rule_id"), [("no_leader", "still_leaderless"), ("acks_all_refused", "still_refusing")]
)
def test_partitions_unusable_as_the_window_began_are_one_finding(kind: str, rule_id: str) -> None:
    def unusable(partition: int, since: int, until: int) -> Unavailability:
        first, last = (WINDOW.start + timedelta(seconds=at) for at in (since, until))
        return row(UNAVAILABILITY, kind=kind, topic="t", partition=partition, started_at=first, ended_at=last, low_ms=9)

    around = [unusable(0, -60, -30), unusable(1, -30, 30), unusable(2, -20, 9), unusable(3, 5, 9)]
    (finding,) = raised(window=WINDOW, unavailability_at_start=around)
    assert (finding.rule_id, finding.subject, finding.first_at) == (rule_id, "2 partitions", WINDOW.start)


def test_standing_rules_have_harm_posture() -> None:
    assert {rule.harm for rule in RULES if rule.is_standing} == {Harm.POSTURE}


def test_harms_have_sources_and_are_ordered_by_urgency() -> None:
    assert all(harm.noun.source for harm in Harm)
    urgencies = [harm.noun.urgency for harm in Harm]
    assert urgencies == sorted(urgencies, key=[*Urgency].index)


def test_cluster_shut_down_without_return_is_open_incident() -> None:
    stops = [stop(b, b, up_after=None) for b in (1, 2, 3)]
    moved = failover("controlled_shutdown", 0, 1, outage_id="o1-1", leaderless_ms=40)
    lost = [failover("offline", p, 3, outage_id="o3-3", leader_from=3, leader_to=-1) for p in range(76)]
    (incident,) = incidents_of(outages=stops, failovers=[moved, *lost])
    assert (incident.harm, incident.is_over, incident.ended_at, incident.intent) == (
        "partitions_offline", False, None, "undeclared",
    )  # fmt: skip
    assert (incident.partitions_offline, incident.partitions_still_offline) == (76, 76)
    assert incident.headline == (
        "76 partitions of t still had no leader when the logs end: brokers 1, 2 and 3 were shut down at"
        f" {AT + timedelta(seconds=1):%H:%M:%S}, and none came back"
    )
    assert "liveness probe" in incident.advice


def test_partition_counts_as_offline_from_one_second_without_leader() -> None:
    crash = outage(1)
    rows = [
        failover("broker_crash", 0, outage_id=crash.outage_id, leaderless_ms=9_500, leaderless_high_ms=12_000),
        failover("broker_crash", 1, outage_id=crash.outage_id, leaderless_low_ms=7_500, leaderless_high_ms=9_700),
        failover("broker_crash", 2, outage_id=crash.outage_id, leaderless_ms=999),
        failover("offline", 3, outage_id=crash.outage_id, leader_to=-1, epoch_to=7, leaderless_ms=4_000),
        failover("leader_restored", 3, 14, leader_from=-1, epoch_from=7, leaderless_ms=4_000),
    ]
    (incident,) = incidents_of(outages=[crash], failovers=rows)
    assert (incident.partitions_offline, incident.offline_ms, incident.offline_partition_seconds) == (3, 9_500, 21.0)
    assert (incident.partitions_still_offline, incident.is_over) == (0, True)
    assert str(incident.headline).startswith("3 partitions of t had no leader, the longest for 9.5 s to 12 s: broker 1")


def test_unknown_failover_with_leaderless_second_and_no_outage_is_incident() -> None:
    (missed,) = incidents_of(
        failovers=[failover("unknown", 0, leaderless_ms=8_000), failover("unknown", 1, leaderless_ms=80)]
    )
    assert (missed.kind, missed.harm, missed.failover_count) == ("leaders_lost", "partitions_offline", 1)
    assert missed.headline == (
        "Partition t-0 had no leader for at least 8 s: the leader moved from broker 1, and no line shows why"
    )


def test_open_incidents_rank_first_within_harm_then_longest_then_largest() -> None:
    def lost(broker: int, *partitions: int, kind: str = "broker_crash", **columns: Any) -> list[Failover]:
        about = {"outage_id": f"o{broker}-{broker * 100}", "leader_from": broker, **columns}
        return [failover(kind, p, broker * 100, topic=f"t{broker}", **about) for p in partitions]

    open_end = lost(4, 0, kind="offline", leader_to=-1)
    rows = [*lost(1, 0, 1, leaderless_ms=5_000), *lost(2, 0, leaderless_ms=9_000), *lost(3, 0, leaderless_ms=5_000)]
    incidents = incidents_of(outages=[outage(b, b * 100) for b in (1, 2, 3, 4)], failovers=[*rows, *open_end])
    assert [i.brokers for i in incidents] == [[4], [2], [1], [3]]
