"""Groups of made lines, for rulings on rebalances that no captured group shows.

Each line is what Kafka's source writes: the patterns of the kinds name class and version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, LogSpan, Rebalance, TopicChange
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.rebalances import GroupContext, rebuild_group
from tests.support.histories import line
from tests.support.nights import at
from tests.support.rows import row

A = "app-35264ebf-dc38-4338-91a3-b8ad0d1e11a4"
A2 = "app-89570ebe-1cde-411d-b1f0-70d87db1e868"
B = "web-5e48ec08-c5a2-4c85-be06-cdad44b39a4f"
PY, PY2, PY3 = (
    f"kafka-python-2.0.2-{uuid}"
    for uuid in (
        "6bfb02bd-0a37-4c2c-8bd4-7a9ad1c5a0f1",
        "a1e3de91-8f4e-4d7f-9c9d-0a3a5d1b8f20",
        "c2d40b7e-1b1c-4a55-8f0a-3b9c1d2e4f51",
    )
)
"""Members under a client id that a library chose."""
_UUIDS = ("456bde98-b83e-4460-bcd1-5ffe32040c56", "a2cddd8a-4ad3-4d84-895b-4632252c971e")
CONSOLE, CONSOLE2 = (f"consumer-console-consumer-45195-1-{uuid}" for uuid in _UUIDS)
JS, JS2 = (f"kafkajs-{uuid}" for uuid in _UUIDS)
THREAD, THREAD2 = (f"words-StreamThread-1-consumer-{uuid}" for uuid in _UUIDS)
"""Consumers of a thread of Kafka Streams, whose application sets its client id."""
NO_THREAD = f"my-StreamThread-1-consumer-proxy-{_UUIDS[0]}"
STATIC = "i1-8f975a9b-6eda-490a-bc3c-f8e7d6545b97"
BARE, BARE2 = "IF9u91ErTnivIe8vNKWFHQ", "LeKU1urcSAi56_OAkisBmw"
LEAVES = "explicit `LeaveGroup` request for ({}) members."
EXPIRES = "removing member {} on heartbeat expiration."


@dataclass(frozen=True)
class MadeGroup:
    """The lines about one group, and what its cluster shows."""

    events: Sequence[Event]
    topics: Sequence[TopicChange] = ()
    outages: Sequence[BrokerOutage] = ()
    expiries: Sequence[Event] = ()
    refusals: Sequence[Event] = ()
    observed_from: datetime = at("00:00:00") - timedelta(days=2)
    log_ends: datetime | None = None
    group_id: str = "g"
    stalls: Sequence[Event] = ()

    def case(self) -> Rebalance:
        """The rebalance that is meant: the last one that begins by 01:10."""
        until = datetime(2026, 11, 21, 14, tzinfo=UTC)
        span = LogSpan(cluster="night", broker=1, first_at=self.observed_from, last_at=self.log_ends or until)
        facts = (self.topics, self.outages, (span,), self.expiries, self.refusals, self.stalls)
        context = GroupContext("night", self.observed_from, until, *facts)
        return [
            r for r in rebuild_group(self.group_id, self.events, context).rebalances if r.started_at <= at("01:10:00")
        ][-1]


def started(clock: str, generation: int, reason: str, **fields: Any) -> Event:
    return line("rebalance_started", clock, generation=generation, reason=reason, **fields)


def done(clock: str, generation: int, count: int = 1, **fields: Any) -> list[Event]:
    """A join phase that ended, and its assignment."""
    return [
        line("join_completed", clock, generation=generation, member_count=count, **fields),
        line("assignment_received", clock, generation=generation, **fields),
    ]


def joins(member: str, client_reason: str = "not provided", instance: str = "null") -> str:
    return f"Adding new member {member} with group instance id {instance}; client reason: {client_reason}"


def own(kind: str, clock: str, client: str = "app", **fields: Any) -> Event:
    """A line of a client's own log."""
    return line(kind, clock, origin="client", broker=None, source=f"{client}.log", client_id=client, **fields)


def stable(member: str = A, **fields: Any) -> list[Event]:
    """A group of one member since 01:00."""
    return [started("01:00:00", 0, joins(member, **fields)), *done("01:00:01", 1)]


def left(client_reason: str, **limits: Any) -> list[Event]:
    gone = line("member_left", "01:10:00", member_id=A, client_reason=client_reason or None, **limits)
    return [*stable(), gone, started("01:10:00", 1, LEAVES.format(A))]


def leaves_at_once(member: str) -> list[Event]:
    """The only member leaves without a reason."""
    gone = line("member_left", "01:10:00", member_id=member)
    return [*stable(member), gone, started("01:10:00", 1, LEAVES.format(member))]


def expired(member: str, *others: Event) -> list[Event]:
    gone = line("member_failed", "01:10:00", member_id=member)
    return [gone, started("01:10:00", 1, EXPIRES.format(member)), *others]


def rejoins(client_reason: str = "", who: str = "Leader", clock: str = "01:10:00", **fields: Any) -> Event:
    words = f"{who} {A} re-joining group during Stable"
    return started(clock, 1, words + (f"; client reason: {client_reason}" if client_reason else ""), **fields)


def empty_reason(clock: str) -> Event:
    """The leader rejoins, and its reason has no words."""
    return started(clock, 1, f"Leader {A} re-joining group during Stable; client reason: ")


def silent(clock: str, generation: int) -> Event:
    """A rebalance of which the coordinator writes no reason."""
    return line("rebalance_started", clock, generation=generation)


def all_leave(clock: str) -> list[Event]:
    """Generation 2 has no member."""
    return [silent(clock, 1), line("group_emptied", clock, generation=2)]


def joins_as_one_is_dropped(generation: int, seconds: float = 5.5) -> list[Event]:
    """A member joins, and one of the same client id is removed some seconds later, as the join phase ends."""
    dropped = line("member_failed", f"01:09:{20 + seconds:04.1f}", member_id=PY)
    phase_end = done(f"01:09:{20 + seconds:04.1f}01", generation + 1)
    return [started("01:09:20", generation, joins(PY2)), dropped, *phase_end]


def asks(clock: str, generation: int, client: str = "app") -> list[Event]:
    """A client's first request to join, the rebalance of the same instant, and its end."""
    asked = own("client_joining", clock, client=client)
    joined = own("client_synced", clock, client=client, generation=generation + 1)
    return [asked, silent(clock, generation), *done(clock, generation + 1), joined]


def in_log(clock: str, member: str) -> list[Event]:
    """A line of a log that names a member under the client id of its library."""
    return [own("client_joined", clock, client="kafka-python-2.0.2", member_id=member)]


def all_gone(member: str, clock: str) -> list[Event]:
    """The only member expires."""
    gone = line("member_failed", clock, member_id=member)
    return [gone, started(clock, 1, EXPIRES.format(member)), line("group_emptied", clock, generation=2)]


def fenced_static(*before: Event) -> MadeGroup:
    """The session of a static member of a group with epochs expires."""
    who: dict[str, Any] = {"member_id": BARE, "protocol": "consumer"}
    return MadeGroup(
        [
            line("member_joined", "01:00:00", instance_id="i1", **who),
            line("epoch_bumped", "01:00:00", generation=1, protocol="consumer"),
            *before,
            line("member_fenced", "01:10:00", reason="the member session expired", **who),
            line("epoch_bumped", "01:10:00", generation=2, protocol="consumer"),
        ]
    )


def topic_change(kind: str, topic: str = "orders", clock: str = "01:09:58") -> TopicChange:
    logged = line(kind, clock, topic=topic, group=None)
    return TopicChange(at=logged.happened_at, kind=kind, topic=topic, event=quote(logged))


def epochs(*second: Event, **fields: Any) -> list[Event]:
    """An epoch that a member brings, and one that no member brings."""
    first = [
        line("member_joined", "01:00:00", member_id=BARE, client_id="app", protocol="consumer"),
        line("epoch_bumped", "01:00:00", generation=1, protocol="consumer", detail=fields.pop("before", None)),
    ]
    return [*first, *second, line("epoch_bumped", "01:10:00", generation=2, protocol="consumer", **fields)]


SAME, OTHER = {"before": "1234", "detail": "1234"}, {"before": "1234", "detail": "99"}
READS = own("client_subscribed", "01:00:00", detail="orders")
_CHANGED = "cached metadata has changed"
_UNKNOWN_MEMBER = "encountered UNKNOWN_MEMBER_ID from HEARTBEAT response"
_CONFIGURED = own("client_configured", "00:59:59")
_FAILED_LATE = [
    *stable(PY),
    line("member_failed", "01:09:59.091", member_id=PY),
    started("01:10:00", 1, EXPIRES.format(PY)),
]
_SILENT = [silent("01:00:00", 0), *done("01:00:01", 1)]
_AT_ONCE = [line("member_failed", "01:10:00", group) for group in ("g", "h", "i")]
_WAKES_UP = [*stable(PY), *expired(PY)]
_SLEPT = [line("zookeeper_client_spoke", "01:09:59.800", group=None, took_ms=3_600_000)]
_BACK = started("01:10:08", 2, joins(A2))

_JOINED = [_CONFIGURED, *stable(), own("client_joined", "01:00:01", member_id=A, generation=1)]
_ON_HOST = [*stable(), line("member_loaded", "01:00:01", member_id=A, host="/10.0.0.7")]


def fails_to_authenticate(*clocks: str) -> MadeGroup:
    """A member expires on a host from which a client failed to authenticate."""
    failures = [line("authentication_failed", clock, group=None, host="10.0.0.7") for clock in clocks]
    return MadeGroup([*_ON_HOST, *expired(A)], refusals=failures)


def limited(clock: str) -> MadeGroup:
    """A member expires after the quota of its client id changed."""
    change = line("quota_changed", clock, group=None, client_id="app", reason="REQUEST", state="0.001")
    return MadeGroup([*stable(), *expired(A)], refusals=[change])


def task_killed(task: str) -> MadeGroup:
    """The consumer of task orders-1 leaves just after a task of its connector was killed."""
    killed = own("client_task_killed", "01:09:59", client=f"connector-consumer-{task}", detail=task)
    return MadeGroup([*leaves_at_once(f"connector-consumer-orders-1-{_UUIDS[0]}"), killed])


MADE: dict[str, MadeGroup] = {
    # --- a member joined
    "joins again under another id": MadeGroup(
        [
            *stable(),
            started("01:10:00", 1, joins(A2)),
            line("member_failed", "01:10:20", member_id=A),
            started("01:10:20", 2, EXPIRES.format(A)),
        ]
    ),
    "rejoins after UNKNOWN_MEMBER_ID": MadeGroup([started("01:00:00", 5, joins(A, _UNKNOWN_MEMBER))]),
    "rejoins after it left": MadeGroup([started("01:00:00", 5, joins(A, "consumer pro-actively leaving the group"))]),
    "two members hold one client id": MadeGroup([*stable(), started("01:05:00", 1, joins(A2))]),
    "joins after a generation gap": MadeGroup([*stable(), started("01:05:00", 3, joins(B))]),
    "joins soon after the logs begin": MadeGroup([started("01:00:00", 5, joins(A))], observed_from=at("00:50:00")),
    "an empty group on one host": MadeGroup(
        [
            *stable(PY),
            line("member_left", "01:05:00", member_id=PY, host="/10.0.0.7"),
            started("01:05:00", 1, LEAVES.format(PY)),
            line("group_emptied", "01:05:00", generation=2),
            started("01:09:00", 2, joins(PY2)),
            *done("01:09:01", 3),
            line("member_left", "01:20:00", member_id=PY2, host="/10.0.0.7"),
        ]
    ),
    "an empty group of one client id": MadeGroup(
        [*stable(PY), *all_gone(PY, "01:05:00"), started("01:09:00", 2, joins(PY2))]
    ),
    "joins as the next one in a log": MadeGroup(
        [*stable(PY), *in_log("01:00:01", PY), started("01:05:00", 4, joins(PY2)), *in_log("01:05:01", PY2)]
    ),
    "joins beside another one in a log": MadeGroup(
        [
            *stable(PY),
            *in_log("01:00:01", PY),
            started("01:05:00", 4, joins(PY2)),
            *in_log("01:05:01", PY2),
            *in_log("01:05:02", PY),
        ]
    ),
    "joins as its like is dropped": MadeGroup([*stable(PY), *joins_as_one_is_dropped(1)]),
    "joins as one of its like is dropped": MadeGroup(
        [*stable(PY), started("01:05:00", 1, joins(PY3)), *done("01:05:01", 2, 2), *joins_as_one_is_dropped(2)]
    ),
    "a group begins once more": MadeGroup([*stable(PY), started("01:09:00", 0, joins(PY2))]),
    "one of two members with one client id is replaced": MadeGroup(
        [
            *stable(PY),
            started("01:01:00", 1, joins(PY2)),
            *done("01:01:01", 2, 2),
            line("member_left", "01:05:00", member_id=PY2),
            started("01:05:00", 2, LEAVES.format(PY2)),
            *done("01:05:01", 3),
            started("01:09:00", 3, joins(PY3)),
        ]
    ),
    "a client joins an empty group that a nameless member had left": MadeGroup(
        [
            line("member_joined", "01:00:00", member_id=BARE, protocol="consumer", host="/10.0.0.7"),
            line("epoch_bumped", "01:00:00", generation=1, protocol="consumer"),
            line("member_left", "01:05:00", member_id=BARE, protocol="consumer"),
            line("epoch_bumped", "01:05:00", generation=2, protocol="consumer"),
            line("member_joined", "01:09:00", member_id=BARE2, client_id="app", protocol="consumer", host="/10.0.0.7"),
            line("epoch_bumped", "01:09:00", generation=3, protocol="consumer"),
        ]
    ),
    # --- a member left
    "unsubscribes": MadeGroup(left("the consumer unsubscribed from all topics")),
    "leaves for a reason of its own": MadeGroup(left("scaled in by the platform")),
    "leaves when its poll limit has run out": MadeGroup(left("", rebalance_timeout_ms=590_000)),
    "leaves long after its poll limit": MadeGroup(left("", rebalance_timeout_ms=300_000)),
    "leaves as its task is killed": task_killed("orders-1"),
    "leaves as another task is killed": task_killed("orders-0"),
    "leaves, and one like it comes": MadeGroup(
        [
            *stable(PY),
            line("member_left", "01:10:00", member_id=PY),
            started("01:10:00", 1, LEAVES.format(PY)),
            started("01:12:00", 2, joins(PY2)),
        ]
    ),
    "a console consumer leaves and is back": MadeGroup(
        [*leaves_at_once(CONSOLE), started("01:10:01", 2, joins(CONSOLE2))], group_id="console-consumer-45195"
    ),
    "a client without a poll limit leaves": MadeGroup([*leaves_at_once(JS), started("01:10:24", 2, joins(JS2))]),
    # --- a member's session expired
    "cannot authenticate": MadeGroup([*_JOINED, own("client_not_authenticated", "01:09:30"), *expired(A)]),
    "held back by a quota": MadeGroup([*_JOINED, own("client_throttled", "01:09:30", took_ms=60_000), *expired(A)]),
    "its quota has just changed": limited("01:09:30"),
    "its quota had changed before": limited("01:05:00"),
    "its host cannot authenticate": fails_to_authenticate("01:09:30"),
    "its host never can": fails_to_authenticate("01:05:00", "01:09:30"),
    "a console consumer expires and is back": MadeGroup(
        [*stable(CONSOLE), *expired(CONSOLE, *done("01:10:00", 2, 0)), started("01:10:01", 2, joins(CONSOLE2))],
        group_id="console-consumer-45195",
    ),
    "never sends a heartbeat": MadeGroup(
        [*stable(), line("member_loaded", "01:00:01", member_id=A, session_timeout_ms=599_000), *expired(A)]
    ),
    "expires, and one like it comes": MadeGroup([*stable(PY), *expired(PY), started("01:12:00", 2, joins(PY2))]),
    "expires as the coordinator stands still, and is back": MadeGroup(
        [*_FAILED_LATE, started("01:10:01", 2, joins(PY2))]
    ),
    "expires as the coordinator stands still": MadeGroup([*_FAILED_LATE, started("01:13:00", 2, joins(PY2))]),
    "a thread of Kafka Streams expires and is back": MadeGroup(
        [*stable(THREAD), *expired(THREAD), started("01:10:30", 2, joins(THREAD2))]
    ),
    "a thread of Kafka Streams expires": MadeGroup([*stable(THREAD), *expired(THREAD)]),
    "a thread of Kafka Streams never sends a heartbeat": MadeGroup(
        [
            *stable(THREAD),
            line("member_loaded", "01:00:01", member_id=THREAD, session_timeout_ms=599_000),
            *expired(THREAD),
        ]
    ),
    "a client that only resembles a thread of Kafka Streams expires": MadeGroup(
        [*stable(NO_THREAD), *expired(NO_THREAD)]
    ),
    "a static member of a group with epochs closes and stays away": fenced_static(
        line("static_member_closed", "01:09:15", member_id=BARE, instance_id="i1", protocol="consumer")
    ),
    "a static member of a group with epochs stays away": fenced_static(),
    "expires, and no line describes it": MadeGroup(expired(A)),
    "expires, and no assignment had a static member": MadeGroup(
        [silent("01:00:00", 0), *done("01:00:01", 1, static_count=0), *expired(A)]
    ),
    "a console consumer expires, and no line describes it": MadeGroup(expired(CONSOLE)),
    "expires as the log ends": MadeGroup([*stable(), *expired(A)], log_ends=at("01:10:02")),
    "expires as the log ends, and the generation stands": MadeGroup(
        [*stable(), *expired(A, *done("01:10:01", 2, 0)), started("01:30:00", 2, joins(B))], log_ends=at("01:10:02")
    ),
    "had closed when its session expired": MadeGroup(
        [_CONFIGURED, *_ON_HOST, own("client_closed", "01:09:40", member_id=A), *expired(A)],
        refusals=fails_to_authenticate("01:09:30").refusals,
    ),
    "static and too slow": MadeGroup(
        [
            *stable(STATIC, instance="i1"),
            own("client_joined", "01:00:01", member_id=STATIC, generation=1, instance_id="i1"),
            own("client_poll_expired", "01:09:00"),
            *expired(STATIC),
        ]
    ),
    "a new process started": MadeGroup(
        [
            _CONFIGURED,
            *stable(),
            own("client_joined", "01:00:01", member_id=A, generation=1),
            *expired(A, own("client_configured", "01:10:05")),
        ]
    ),
    "comes back as itself": MadeGroup(
        [*stable(), *expired(A), *done("01:10:01", 2, 0), started("01:10:08", 2, joins(A2, _UNKNOWN_MEMBER))]
    ),
    "comes back while the group rebalances": MadeGroup(
        [*stable(), *expired(A), line("member_id_assigned", "01:10:03", member_id=A2), *done("01:10:04", 2)]
    ),
    "its coordinator was away": MadeGroup(
        [*stable(), *expired(A), *done("01:10:01", 2, 0), _BACK],
        outages=[row(BROKER_OUTAGES, broker=1, down_at=at("01:09:00"), up_at=at("01:09:50"))],
    ),
    "expires as its coordinator wakes up": MadeGroup(_WAKES_UP, stalls=_SLEPT),
    "expires as its coordinator wakes up, and is back": MadeGroup(
        [*_WAKES_UP, *done("01:10:01", 2, 0), started("01:10:03", 2, joins(PY2))], stalls=_SLEPT
    ),
    "expires with members of two other groups, and its own process is back": MadeGroup(
        [*stable(), *expired(A), *done("01:10:01", 2, 0), started("01:10:08", 2, joins(A2, _UNKNOWN_MEMBER))],
        expiries=[started("01:10:00", 1, EXPIRES.format(A), group=g) for g in ("g", "h", "i")],
    ),
    "expires with members of two other groups, and is back": MadeGroup(
        [*stable(), *expired(A), *done("01:10:01", 2, 0), _BACK], expiries=_AT_ONCE
    ),
    "expires with members of two other groups": MadeGroup([*stable(), *expired(A)], expiries=_AT_ONCE),
    # --- what the coordinator's lines show
    "a static member returns with other metadata": MadeGroup(
        [started("01:00:00", 3, f"Updating metadata for static member {STATIC} with instance id i1; client reason: x")]
    ),
    "a loaded group is over capacity": MadeGroup(
        [started("01:00:00", 3, "Freshly-loaded group g (size 9) is over capacity 8. Rebalancing in order to")]
    ),
    "a join phase without its first line": MadeGroup(done("01:00:01", 4)),
    "words that no coordinator writes": MadeGroup([started("01:00:00", 3, "words that no coordinator writes")]),
    "moved before the generation was stored": MadeGroup(
        [
            started("01:00:00", 4, joins(A)),
            line("group_loaded", "01:00:02", broker=2, generation=4, member_count=1),
        ]
    ),
    "moved while the assignment was awaited": MadeGroup(
        [
            started("01:00:00", 4, joins(A)),
            line("join_completed", "01:00:01", generation=5, member_count=1),
            line("group_loaded", "01:00:02", broker=2, member_count=1),
        ]
    ),
    # --- a member of the group rejoined
    "metadata changed after topic_deleted": MadeGroup([*stable(), rejoins(_CHANGED)], [topic_change("topic_deleted")]),
    "metadata changed again after one topic": MadeGroup(
        [
            *stable(),
            rejoins(_CHANGED, clock="01:05:00"),
            *done("01:05:01", 2),
            started("01:10:00", 2, f"Leader {A} re-joining group during Stable; client reason: {_CHANGED}"),
        ],
        [topic_change("topic_created", clock="01:04:58")],
    ),
    "a connector changed a minute before": MadeGroup(
        [
            *stable(),
            own("client_joined", "01:00:01", member_id=A, generation=1),
            own("client_join_requested", "01:09:00", reason="Tasks [sink-0] configs updated"),
            rejoins(),
        ]
    ),
    "the leader rejoins with an empty reason": MadeGroup([*stable(), empty_reason("01:10:00")]),
    "the leader rejoins at once, with an empty reason": MadeGroup([*stable(), empty_reason("01:00:03")]),
    "the leader rejoins with an empty reason after one had gone": MadeGroup(
        [
            *stable(),
            line("member_failed", "01:05:00", member_id=B),
            started("01:05:00", 1, EXPIRES.format(B)),
            *done("01:05:01", 2),
            started("01:10:00", 2, f"Leader {A} re-joining group during Stable; client reason: "),
        ]
    ),
    "a masked member joins": MadeGroup([started("01:00:00", 4, joins("***")), *done("01:00:03", 5)]),
    "a masked member leaves": MadeGroup([started("01:10:00", 4, "Removing member ***** on LeaveGroup")]),
    "the leader rejoins after a move": MadeGroup(
        [
            *stable(),
            started("01:09:00", 1, joins(B)),
            line("group_loaded", "01:09:01", broker=2, generation=1, member_count=1),
            rejoins(broker=2),
        ]
    ),
    "a follower rejoins after topic_created, which it reads": MadeGroup(
        [*stable(), READS, started("01:10:00", 1, f"Updating metadata for member {A} during Stable")],
        [topic_change("topic_created")],
    ),
    "the only member rejoins as a topic is made": MadeGroup(
        [*stable(), started("01:00:02", 1, f"Updating metadata for member {A}")],
        [topic_change("topic_created", clock="00:59:59.500")],
    ),
    "the only member rejoins at once after a topic is made": MadeGroup(
        [*stable(), started("01:10:00", 1, f"Updating metadata for member {A}")],
        [topic_change("topic_created", clock="01:09:59.800")],
    ),
    "metadata changed after two topics": MadeGroup(
        [*stable(), rejoins(_CHANGED)], [topic_change("topic_created"), topic_change("topic_created", "ads")]
    ),
    "enforceRebalance": MadeGroup([*stable(), rejoins("rebalance enforced by user")]),
    "rejoins after a move": MadeGroup(
        [
            *stable(),
            started("01:09:00", 1, joins(B)),
            line("group_loaded", "01:09:01", broker=2, generation=1, member_count=1),
            rejoins("rebalance failed due to 'The coordinator is not available'", broker=2),
        ]
    ),
    "rejoins while the group rebalances": MadeGroup([*stable(), rejoins("group is already rebalancing")]),
    "a cooperative member rejoins at once": MadeGroup(
        [
            *stable(),
            line("member_loaded", "01:09:00", member_id=A, generation=1, assignor="cooperative-sticky"),
            started("01:09:57", 1, joins(B)),
            *done("01:09:58", 2, 2),
            started("01:10:00", 2, f"leader {A} re-joining group during Stable"),
        ]
    ),
    "the leader rejoins after topic_created, which it reads": MadeGroup(
        [*stable(), READS, rejoins()], [topic_change("topic_created")]
    ),
    "the leader rejoins after topic_deleted": MadeGroup([*stable(), rejoins()], [topic_change("topic_deleted")]),
    # --- the coordinator wrote no reason
    "no reason at generation 0": MadeGroup([silent("01:00:00", 0), *done("01:00:01", 1)]),
    "no reason in an empty group": MadeGroup([*_SILENT, *all_leave("01:05:00"), silent("01:09:00", 2)]),
    "no reason": MadeGroup([*_SILENT, silent("01:10:00", 1), *done("01:10:02", 2)]),
    "no reason, and no end": MadeGroup([*_SILENT, silent("01:10:00", 1)]),
    "no reason, and a worker stops": MadeGroup([*_SILENT, own("client_stopping", "01:09:59"), *all_leave("01:10:00")]),
    "no reason, and all leave": MadeGroup([*_SILENT, *all_leave("01:10:00")]),
    "no reason, and all leave for a minute": MadeGroup(
        [*_SILENT, *all_leave("01:10:00"), silent("01:11:00", 2), *done("01:11:01", 3)]
    ),
    "no reason, and a client asks to join": MadeGroup([*_SILENT, *asks("01:09:00", 1)]),
    "no reason, and two clients ask to join": MadeGroup(
        [*_SILENT, *asks("01:09:00", 1), *asks("01:09:30", 2, client="web")]
    ),
    "no reason, and a client asks to join after one": MadeGroup(
        [*_SILENT, silent("01:08:00", 1), *done("01:08:01", 2), *asks("01:09:00", 2)]
    ),
    # --- an epoch rose and no member joined or left
    "a KIP-848 client subscribes again": MadeGroup(
        epochs(READS, own("client_subscribed", "01:09:59", detail="orders, ads"))
    ),
    "an epoch with the same topics": MadeGroup(epochs(**SAME)),
    "an epoch with other topics": MadeGroup(epochs(**OTHER)),
    "an epoch of Streams with the same topics": MadeGroup([replace(e, protocol="streams") for e in epochs(**SAME)]),
    "an epoch that shows nothing": MadeGroup(epochs()),
    "an epoch with other topics after partitions_added": MadeGroup(epochs(**OTHER), [topic_change("partitions_added")]),
    "an epoch after topic_created": MadeGroup(epochs(), [topic_change("topic_created")]),
}
"""Made groups by the name that `decides` and `looks_alike` of a ruling call them, behind `made: `."""


_RUNS = [own("client_configured", "01:00:00", session_timeout_ms=45_000), *stable()]
_ASKED = {"detail": "FETCH", "reason": "request timeout: 30000ms"}

SILENT: dict[str, MadeGroup] = {
    "a request times out late": MadeGroup(
        [*_RUNS, *expired(A), own("client_request_cancelled", "01:10:10", took_ms=55_535, **_ASKED)]
    ),
    "a request is not answered": MadeGroup(
        [*_RUNS, *expired(A), own("client_request_cancelled", "01:10:10", took_ms=30_001, **_ASKED)]
    ),
}
"""Groups that lose a member whose process lives, as requests of its own log show it."""
