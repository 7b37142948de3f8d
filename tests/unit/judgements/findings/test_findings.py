"""What a person should know: each rule at its threshold and just below."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import GROUP_SNAPSHOTS, PARTITION_SNAPSHOTS, SNAPSHOT_READINGS
from kafka_hindsight.catalog.codes import Cause, ClockMeaning
from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    CONTROLLER_CHANGES,
    FAILOVERS,
    FINDINGS,
    IMBALANCE_PERIODS,
    INCIDENTS,
    PARTITION_STALLS,
    REBALANCES,
    TRUNCATIONS,
)
from kafka_hindsight.catalog.quality import COVERAGE, GENERATION_GAPS, LEADERSHIP_GAPS, LOST_LINES, QUARANTINE
from kafka_hindsight.catalog.rows import (
    Finding,
    ImbalancePeriod,
    IncidentLink,
    LeadershipGap,
    MissingBrokerLog,
    PartitionStall,
    Rebalance,
    SnapshotReading,
    UnobservedSpan,
)
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.settings_at import settings_of
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from tests.support.findings import raised
from tests.support.rows import AT, row
from tests.support.settings import own


def rebalances(count: int, apart: timedelta, **columns: Any) -> list[Rebalance]:
    return [
        row(REBALANCES, rebalance_id=f"r{n}", group_id="orders", started_at=AT + n * apart, incident_id="i", **columns)
        for n in range(count)
    ]


def findings_of(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(f.rule_id, f.severity, f.subject) for f in findings]


def test_six_rebalances_within_an_hour_warn_and_twelve_are_critical() -> None:
    ten_minutes = timedelta(minutes=10)
    assert findings_of(raised(rebalances=rebalances(5, ten_minutes))) == []
    assert findings_of(raised(rebalances=rebalances(6, ten_minutes))) == [("rebalances_frequent", "warning", "orders")]
    assert findings_of(raised(rebalances=rebalances(12, ten_minutes, protocol="share"))) == [], "no member stops"
    assert findings_of(raised(rebalances=rebalances(12, timedelta(minutes=5)))) == [
        ("rebalances_excessive", "critical", "orders")
    ]
    assert findings_of(raised(rebalances=rebalances(12, timedelta(minutes=13)))) == []


def test_rebalance_finding_advice_names_clients_per_cause() -> None:
    went = (
        (Cause.MEMBER_JOINED, "a", None), (Cause.MEMBER_DEAD, "c", "/10.0.0.1"), (Cause.MEMBER_DEAD, "d", None),
        (Cause.MAX_POLL_EXCEEDED, "d", "/10.0.0.2"), (Cause.MEMBER_JOINED, "d", None), (Cause.MEMBER_LEFT, "a", None),
    )  # fmt: skip
    hour = [
        replace(r, cause=cause, client_id=client, host=host, advice=f"What of {cause}.")
        for r, (cause, client, host) in zip(rebalances(6, timedelta(minutes=1)), went, strict=True)
    ]
    (finding,) = raised(rebalances=hour)
    assert finding.message.endswith(
        ": 2 × a member died, 2 × a member joined, 1 × max poll interval exceeded, 1 × a member left"
    )
    assert finding.advice == (
        "Clients 'c' on 10.0.0.1 and 'd': What of member_dead. Client 'd' on 10.0.0.2: What of max_poll_exceeded."
    )


def test_rolling_restarts_and_cooperative_followups_do_not_count() -> None:
    many = rebalances(12, timedelta(minutes=1))
    restarts = [row(INCIDENTS, incident_id="i", kind="rolling_restart")]
    assert findings_of(raised(rebalances=many, incidents=restarts)) == []
    assert findings_of(raised(rebalances=[replace(r, cause=Cause.COOPERATIVE_FOLLOWUP) for r in many])) == []


def test_member_silent_for_over_30_s_is_critical() -> None:
    assert findings_of(raised(rebalances=rebalances(1, timedelta(0), silent_ms=30_000))) == []
    assert findings_of(raised(rebalances=rebalances(1, timedelta(0), silent_ms=30_001))) == [
        ("member_silent", "critical", "orders")
    ]


def test_imbalance_periods_of_broker_are_one_finding() -> None:
    imbalance_periods = [
        row(IMBALANCE_PERIODS, broker=2, origin="snapshot", max_ratio=ratio, started_at=AT + since,
            ended_at=AT + since + timedelta(minutes=6), ended_at_is_exact=True,
            started_at_is_exact=True, explanation=f"{ratio:.0%} were led elsewhere.")
        for ratio, since in ((0.2, timedelta(0)), (0.9, timedelta(minutes=9)))
    ]  # fmt: skip
    (finding,) = raised(imbalance_periods=imbalance_periods)
    assert finding.message == ("Broker 2 led too few partitions: 90% were led elsewhere. It happened twice")
    assert (finding.first_at, finding.last_at) == (AT, AT + timedelta(minutes=15))


def test_imbalance_in_logs_is_a_finding_where_it_outlasts_a_look_of_kafka() -> None:
    def period(broker: int, minutes: float) -> ImbalancePeriod:
        ended_at = AT + timedelta(minutes=minutes)
        return row(
            IMBALANCE_PERIODS, broker=broker, origin="broker", ended_at_is_exact=True, started_at=AT, ended_at=ended_at
        )

    (finding,) = raised(imbalance_periods=[period(1, 5), period(2, 5.1)])
    assert finding.subject == "2"


def test_imbalance_is_no_finding_while_its_broker_is_away_and_until_kafka_looks() -> None:
    outage = row(BROKER_OUTAGES, broker=1, down_at=AT, up_at=AT + timedelta(seconds=30))

    def is_raised(start_s: float, end_s: float, broker: int = 1) -> bool:
        start, end = AT + timedelta(seconds=start_s), AT + timedelta(seconds=end_s)
        period = row(
            IMBALANCE_PERIODS, broker=broker, origin="snapshot", ended_at_is_exact=True, started_at=start, ended_at=end
        )
        return bool(raised(imbalance_periods=[period], outages_around=[outage]))

    assert not is_raised(1, 330), "the broker was away for 30 s, and Kafka looks every 300 s"
    assert not is_raised(40, 60), "it was back, and no balancer had looked"
    assert is_raised(1, 335)
    assert is_raised(-600, 60), "it led too little before it went"
    assert not is_raised(1, 300, broker=2), "no balancer must have looked"
    assert is_raised(1, 330, broker=2)


def imbalance_for(length: timedelta) -> Any:
    """A period of so long that readings show from its begin to its end."""
    columns = {"origin": "snapshot", "ended_at_is_exact": True, "started_at": AT, "ended_at": AT + length}
    return row(IMBALANCE_PERIODS, broker=1, **columns)


@pytest.mark.parametrize(
    ("changes_s", "end_s", "is_raised"),
    [
        ((), 303, True),
        # The first controller had looked, or the second one.
        ((310,), 400, True),
        ((200,), 503, True),
        # The second one took over 100 s before the first one must have looked, and had no 300 s.
        ((200,), 499, False),
        ((200, 400, 600), 890, False),
        ((200, 400, 600), 903, True),
    ],
)
def test_imbalance_counts_where_one_controller_must_have_looked(
    changes_s: tuple[int, ...], end_s: int, is_raised: bool
) -> None:
    """Each controller looks 300 s after it became active, and each 300 s from then on."""
    period = imbalance_for(timedelta(seconds=end_s))
    changes = [
        row(CONTROLLER_CHANGES, happened_at=AT + timedelta(seconds=s), controller_to=n, epoch=n)
        for n, s in enumerate(changes_s)
    ]
    assert bool(raised(imbalance_periods=[period], controllers_around=changes)) == is_raised


def test_imbalance_that_no_reading_saw_end_counts_up_to_the_last_one_that_shows_it() -> None:
    """The next day's first reading shows that it was over: it may have ended a minute later."""
    times = {"started_at": AT, "last_reading_at": AT + timedelta(minutes=2), "ended_at": AT + timedelta(hours=24)}
    assert raised(imbalance_periods=[row(IMBALANCE_PERIODS, broker=1, ended_at_is_exact=False, **times)]) == []


def test_time_without_a_controller_is_no_look() -> None:
    period = imbalance_for(timedelta(minutes=9))
    changes = [
        row(CONTROLLER_CHANGES, happened_at=AT + timedelta(minutes=minute), controller_to=to, epoch=n)
        for n, (minute, to) in enumerate(((1, -1), (8, 2)))
    ]
    assert raised(imbalance_periods=[period], controllers_around=changes) == []


@pytest.mark.parametrize(
    ("detail", "minutes", "is_raised"),
    [
        ("leader.imbalance.check.interval.seconds = 60", 1.1, True),
        ("leader.imbalance.check.interval.seconds = 600", 9, False),
        ("auto.leader.rebalance.enable = false", 0.1, True),
    ],
)
def test_imbalance_follows_the_settings_of_kafkas_task(detail: str, minutes: float, is_raised: bool) -> None:
    settings = settings_of([row(EVENTS, kind="broker_configured", broker=1, detail=detail, happened_at=AT)])
    period = imbalance_for(timedelta(minutes=minutes))
    assert bool(raised(imbalance_periods=[period], settings=settings)) == is_raised


def test_truncations_with_loss_are_one_finding_per_broker() -> None:
    lost = [
        row(TRUNCATIONS, broker=1, topic="t", partition=n, verdict="committed_lost", records_cut=5, outage_id="o")
        for n in (1, 0)
    ]
    unsure = row(TRUNCATIONS, broker=2, topic="u", partition=0, verdict="unknown", records_cut=None)
    harmless = row(TRUNCATIONS, broker=3, topic="v", partition=0, records_cut=9)
    findings = raised(harmful_truncations=[*lost, unsure, harmless])
    assert sorted(f.message for f in findings) == [
        "Partition 't-0' and 1 more lost committed records when broker 1 truncated its log: 10 cut",
        "Partition 'u-0' may have lost committed records when broker 2 truncated its log: the number is not known",
    ]
    assert [f.severity for f in findings] == ["critical", "warning"], "no line shows that the second one lost any"
    link = IncidentLink(part_id=unsure.truncation_id, incident_id="of an election")
    assert raised(harmful_truncations=[unsure], incident_links=[link]) == [], "the election's incident says it"


def leadership_gap(partition: int, next_epoch: int, **columns: Any) -> LeadershipGap:
    return row(
        LEADERSHIP_GAPS, **{"topic": "t", "partition": partition, "after_epoch": 3, "next_epoch": next_epoch} | columns
    )


def test_unknown_leaders_are_one_finding_for_all_partitions() -> None:
    gaps = [
        leadership_gap(1, 6, leader_before=1, leader_after=2),
        leadership_gap(0, 5, leader_before=1, leader_after=1, seen_at=AT + timedelta(minutes=1)),
        leadership_gap(0, 4, leader_before=1, leader_after=2),
        leadership_gap(2, 5, explained_by="its replicas were reassigned"),
    ]
    [finding] = raised(unexplained_gaps=gaps)
    assert (finding.rule_id, finding.subject) == ("leaderships_unseen", "t-0 and 1 more")
    assert (finding.first_at, finding.last_at) == (AT, AT + timedelta(minutes=1))
    assert finding.message == (
        "Partition 't-0' and 1 more: the leader is unknown in 3 gaps of leader epochs; in 1 of them the leader"
        " may have changed and come back"
    )


def test_broker_without_logs_is_finding_with_affected_verdicts() -> None:
    silent = row(MissingBrokerLog.TABLE, broker=2, first_at=AT, last_at=AT + timedelta(hours=1))
    findings = raised(
        missing_logs=[silent],
        failovers=[
            row(FAILOVERS, kind="broker_crash", confidence=confidence, leader_from=leader, leader_to=3)
            for confidence, leader in (("likely", 2), ("certain", 2), ("likely", 1))
        ],
        outages_around=[row(BROKER_OUTAGES, broker=2, confidence="unknown")],
    )
    messages = {f.rule_id: (f.subject, f.message) for f in findings}
    assert messages["broker_log_missing"] == (
        "2",
        "No log of broker 2 was read, although other logs name it: 1 failovers, 1 outages are less certain without it",
    )
    [alone] = raised(missing_logs=[silent])
    assert alone.message == "No log of broker 2 was read, although other logs name it"


def test_missing_part_of_readings_is_one_finding() -> None:
    def lacks(minute: int, *parts: str, error: str | None = None, **reasons: str) -> SnapshotReading:
        given = [{"part": part, "reason": reason} for part, reason in reasons.items()] or None
        at = AT + timedelta(minutes=minute)
        return row(SNAPSHOT_READINGS, snapshot_at=at, missing=list(parts), reasons=given, error=error)

    findings = raised(
        partial_readings=[
            lacks(5, "end_offsets", end_offsets="broker 2: timed out"),
            lacks(0, "configs", "end_offsets", end_offsets="broker 1: timed out"),
            lacks(10, "topics", "groups", error="nobody answered"),
        ],
    )
    assert [(f.subject, f.severity, f.message) for f in findings] == [
        (
            "configs",
            "info",
            "1 reading of the cluster lacks configs, or some of it. The first says: it gives no reason",
        ),
        (
            "end_offsets",
            "info",
            "2 readings of the cluster lack end_offsets, or some of it. The first says: broker 1: timed out",
        ),
        (
            "everything",
            "info",
            "1 reading of the cluster failed. The first says: nobody answered",
        ),
    ]
    assert [len(f.evidence) for f in findings] == [1, 2, 1]


def test_each_kind_of_evidence_raises_its_rule() -> None:
    findings = raised(
        imbalance_periods=[
            row(
                IMBALANCE_PERIODS,
                broker=2,
                origin="snapshot",
                ended_at_is_exact=True,
                started_at=AT - timedelta(minutes=9),
                ended_at=AT,
            )
        ],
        partitions=[row(PARTITION_SNAPSHOTS, topic="t", replicas=[1, 2, 3], isr=[1])],
        settings=own("t", "min.insync.replicas=2"),
        generation_gaps=[
            row(GENERATION_GAPS, group_id="g", explained_by=None),
            row(GENERATION_GAPS, explained_by="moved"),
        ],
        unanswered_groups=[row(GROUP_SNAPSHOTS, group_id="g", error="no answer")],
        unread_logs=[row(COVERAGE, source="broker-1/server.log", unparsed=2, quarantined=1)],
        lost_lines=[row(QUARANTINE, source="kafka-logs-0", row=LOST_LINES, sentences=["Retention removed 7 offsets."])],
    )
    assert sorted(findings_of(findings)) == [
        ("generations_missing", "warning", "g"),
        ("group_unanswered", "info", "g"),
        ("leader_imbalance", "warning", "2"),
        ("lines_lost", "warning", "kafka-logs-0"),
        ("lines_quarantined", "warning", "broker-1/server.log"),
        ("lines_unread", "warning", "broker-1/server.log"),
        ("under_min_isr", "critical", "t"),
        ("under_replicated", "warning", "t"),
    ]
    for finding in findings:
        assert set(finding.as_dict()) == set(FINDINGS.column_names)
        assert finding.evidence


def test_unanswered_groups_are_one_finding_for_each_cause() -> None:
    errors = (
        ('KafkaException(KafkaError{code=NOT_COORDINATOR,val=16,str="ConsumerGroupDescribe: "})', 3),
        ('KafkaException(KafkaError{code=_TIMED_OUT,val=-185,str="Local: Timed out"})', 1),
    )
    rows = [
        row(GROUP_SNAPSHOTS, group_id=group, error=error, snapshot_at=AT + timedelta(minutes=n))
        for error, readings in errors
        for n in range(readings)
        for group in ("orders", "stock")
    ]
    by_message = {f.message: f for f in raised(unanswered_groups=rows)}
    assert [*by_message] == [
        "Group 'orders' and 1 more gave no answer in 3 readings of the cluster:"
        " the broker that was asked is not their coordinator",
        "Group 'orders' and 1 more gave no answer in 1 reading of the cluster: no answer came in time",
    ]
    moved, late = by_message.values()
    assert moved.finding_id != late.finding_id
    assert "new client" in moved.advice and "see the outages" in late.advice


def test_two_gaps_of_one_group_at_one_instant_are_two_findings() -> None:
    gaps = [row(GENERATION_GAPS, group_id="g", after_generation=n, next_generation=n + 5) for n in (2, 9)]
    findings = raised(generation_gaps=gaps)
    assert len({f.finding_id for f in findings}) == 2
    assert [f.finding_id for f in raised(generation_gaps=gaps[1:])] == [findings[1].finding_id]


def test_stalls_are_one_finding_per_group_and_each_partition_counts_with_its_largest_lag() -> None:
    def stall(group: str, partition: int, first: int, most: int, minute: int = 0) -> PartitionStall:
        at = AT + timedelta(minutes=minute)
        return row(
            PARTITION_STALLS,
            group_id=group, topic="t", partition=partition, lag_first=first, lag_max=most, started_at=at,
            ended_at=at + timedelta(minutes=5),
        )  # fmt: skip

    stalls = [stall("orders", 0, 5, 105), stall("orders", 0, 0, 50, 10), stall("orders", 1, 0, 20)]
    (finding,) = raised(partition_stalls=stalls)
    assert (finding.rule_id, finding.subject, finding.last_at) == ("lag_growing", "orders", AT + timedelta(minutes=15))
    assert "their lag grew from 5 to 125 records" in finding.message


def test_unobserved_broker_is_one_finding() -> None:
    def span(broker: int, hour: int, hours: int) -> UnobservedSpan:
        begin = AT + timedelta(hours=hour)
        return row(UnobservedSpan.TABLE, broker=broker, first_at=begin, last_at=begin + timedelta(hours=hours))

    findings = raised(unobserved_around=[span(1, 0, 1), span(1, 4, 3), span(2, 0, 2)])
    assert [(f.rule_id, f.subject, f.first_at, f.last_at - AT) for f in findings] == [
        ("broker_unobserved", "1", AT, timedelta(hours=7)),
        ("broker_unobserved", "2", AT, timedelta(hours=2)),
    ]
    assert findings[0].message == (
        "Nothing shows whether broker 1 was up, twice, for up to 3 h: neither its own log nor a controller's has a line"
        " of that time"
    )


def test_broker_whose_clock_differs_in_several_ways_is_one_finding() -> None:
    def error(meaning: ClockMeaning, minutes: int, *brokers: int) -> ClockError:
        return ClockError(meaning, frozenset(), frozenset(brokers), timedelta(minutes=minutes), proof=f"{minutes}")

    steps = [error(ClockMeaning.SET_BACK, minutes, 3) for minutes in (20, 19)]
    zones = [error(ClockMeaning.OTHER_ZONE, 60, 3, other) for other in (1, 2)]
    (finding,) = raised(clocks=(*steps, *zones))
    assert finding.message.startswith("The clock of broker 3 differs from those of other brokers by 1 h: 60")
    assert len(finding.evidence) == 3, "each proof once"
    both = raised(clocks=(*steps, error(ClockMeaning.AHEAD, 5, 1)))
    assert [f.subject for f in both] == ["1", "3"] and len({f.finding_id for f in both}) == 2
