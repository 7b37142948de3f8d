"""Scenarios of what groups skip and read again, and of partitions that stand still or fall behind."""

from __future__ import annotations

from collections.abc import Mapping

from lab.drill.libraries import JAVA, LIBRDKAFKA
from lab.drill.scenarios.groups import CONSUMER, COOPERATIVE, POLL_LIMIT
from lab.drill.steps import Back, Close, CreateTopic, DrillStep, Gone, Kill, Scenario, SetTopic, Slow, Start, Wait
from lab.drill.steps_on_brokers import Detected, InSync, KillBroker, Produce, StartBroker
from lab.drill.steps_on_offsets import (
    Billed,
    Committed,
    DeleteGroup,
    DeleteOffsets,
    DeleteRecords,
    FellBack,
    HasRead,
    HoldPartition,
    Jumped,
    LetGo,
    LogBegins,
    NeverStood,
    OffsetsExpire,
    Pace,
    ResetOffsets,
    Seek,
    Stood,
)
from lab.drill.steps_on_transactions import Begin, Commit, StartProducer
from lab.drill.steps_on_writers import CloseWriter, StartWriter

SOON = {"auto.commit.interval.ms": "1000"}
SELDOM = {"auto.commit.interval.ms": "120000"}
"""Commits of a member, the latter so rare that it dies before the first."""

LATEST = {"auto.offset.reset": "latest"}
AGAIN = "records_read_again"
STATIC = {"group.instance.id": "i1", "session.timeout.ms": "30000"}
OFTEN_CHECKED: Mapping[str, str] = {
    "log.retention.check.interval.ms": "5000",
    "offsets.retention.minutes": "2",
    "offsets.retention.check.interval.ms": "5000",
}
"""So that records and offsets go within minutes. A group without members for two minutes has no offsets any more."""

_DAY = "86400000"


def _reader(
    member: str, library: str = JAVA, config: Mapping[str, str] = SOON, expect: str = "member_join"
) -> DrillStep:
    return Start(member=member, topics=("t",), library=library, config=config, expect=expect, traces=True)


def _away(library: str = JAVA, config: Mapping[str, str] = SOON) -> tuple[DrillStep, ...]:
    """A group that has read and committed 50 of 200 records, and has no member."""
    return (
        CreateTopic(topic="t", partitions=1),
        Produce(topic="t", count=50),
        _reader("a", library, config),
        HasRead(upto=50),
        Committed(offset=50),
        Close(member="a"),
        Produce(topic="t", count=150),
    )


def _back(library: str, config: Mapping[str, str], jump: Jumped) -> tuple[DrillStep, ...]:
    """Another member comes. One that goes on at the end prints nothing before there are more records."""
    more = (Wait(seconds=6), Produce(topic="t", count=10)) if jump.offset_to == 200 else ()
    return _reader("b", library, {**SOON, **config}), *more, jump, Close(member="b")


def _scenario(name: str, sentence: str, *steps: DrillStep, since: tuple[int, ...] = (2, 6)) -> Scenario:
    return Scenario(name, sentence, steps, since=since, settings=OFTEN_CHECKED)


def _lost(
    name: str,
    sentence: str,
    how: tuple[DrillStep, ...],
    jump: Jumped,
    library: str = JAVA,
    config: Mapping[str, str] | None = None,
) -> Scenario:
    """A group is away, something is done to it or to its topic, and it comes back."""
    return _scenario(name, sentence, *_away(library), *how, *_back(library, config or {}, jump))


def _deleted(library: str, config: Mapping[str, str], to: int, is_exact: bool) -> Scenario:
    """The library's own name of the scenario; of Java's consumer there are two."""
    name = "records_deleted" + ("" if library == JAVA else f"_{library.replace('-', '_')}")
    jump = Jumped(offset_from=50, offset_to=to, cause="records_deleted", is_exact=is_exact)
    how = (DeleteRecords(below=120), Committed(offset=50))
    end = "the end" if config else "the first record that is left"
    sentence = f"An administrator deletes records that a group of {library} had not read: it goes on at {end}."
    return _lost(name + ("_latest" if config else ""), sentence, how, jump, library, config)


def _crash(name: str, sentence: str, library: str, config: Mapping[str, str], **more: tuple[int, ...]) -> Scenario:
    return _scenario(
        name,
        sentence,
        *_away(library, {**SOON, **config}),
        _reader("c", library, {**SELDOM, **config}),
        HasRead(upto=200),
        Kill(member="c"),
        Gone(member="c"),
        *_back(library, config, _read_again("crash_before_commit", 200, 50, is_exact=False)),
        **more,
    )


def _read_again(cause: str, offset_from: int, offset_to: int, is_exact: bool = True) -> Jumped:
    return Jumped(offset_from=offset_from, offset_to=offset_to, cause=cause, is_exact=is_exact, expect=AGAIN)


OFFSET_SCENARIOS: tuple[Scenario, ...] = (
    _lost(
        "retention_passed",
        "Retention deletes records that a group had not read: it goes on where the log begins.",
        (
            SetTopic(topic="t", name="retention.ms", value="1000"),
            LogBegins(at=200),
            SetTopic(topic="t", name="retention.ms", value=_DAY),
            Committed(offset=50),
        ),
        Jumped(offset_from=50, offset_to=200, cause="retention"),
    ),
    _deleted(JAVA, {}, 120, True),
    _deleted(JAVA, LATEST, 200, True),
    _deleted(LIBRDKAFKA, {}, 120, True),
    _deleted(LIBRDKAFKA, LATEST, 200, False),
    _deleted("kafka-python", {}, 120, True),
    _deleted("aiokafka", {}, 120, False),
    _deleted("franz-go", {}, 120, False),
    _lost(
        "offsets_expired",
        "Brokers forget the offsets of a group that is away too long: it reads all again.",
        (OffsetsExpire(), NeverStood()),
        _read_again("offsets_expired", 50, 0),
    ),
    _lost(
        "offsets_expired_latest",
        "Brokers forget the offsets of a group that is away too long: it skips all that came meanwhile.",
        (OffsetsExpire(),),
        Jumped(offset_from=50, offset_to=200, cause="offsets_expired"),
        config=LATEST,
    ),
    _lost(
        "group_deleted",
        "An administrator deletes a group: it reads all again.",
        (DeleteGroup(),),
        _read_again("group_deleted", 50, 0),
    ),
    _lost(
        "offsets_deleted",
        "An administrator deletes the offsets of a topic: the group reads it again.",
        (DeleteOffsets(),),
        _read_again("offsets_deleted", 50, 0),
    ),
    _lost(
        "offsets_reset_back",
        "An administrator sets a group back.",
        (ResetOffsets(to=10),),
        _read_again("reset_by_administrator", 50, 10),
    ),
    _lost(
        "offsets_reset_forward",
        "An administrator lets a group skip records.",
        (ResetOffsets(to=170),),
        Jumped(offset_from=50, offset_to=170, cause="reset_by_administrator"),
    ),
    _scenario(
        "sought",
        "An application goes back by itself, and no broker takes part.",
        CreateTopic(topic="t", partitions=1),
        Produce(topic="t", count=100),
        _reader("a"),
        HasRead(upto=100),
        Committed(offset=100),
        Seek(member="a", to=30),
        _read_again("seek_by_application", 100, 30),
        Close(member="a"),
    ),
    _scenario(
        "commit_failed",
        "A member that is too slow loses its partition before it commits: the next one reads its records again.",
        *_away(),
        _reader("c", config=SELDOM | POLL_LIMIT),
        HasRead(upto=200),
        Slow(member="c", ms=40_000),
        Gone(member="c"),
        _reader("b"),
        _read_again("commit_failed", 200, 50),
        Back(member="c"),
        Close(member="c"),
        Close(member="b"),
    ),
    _crash("crash_before_commit", "What a member that crashed had not committed is read again.", JAVA, {}),
    _crash("crash_before_commit_librdkafka", "The same, whichever library crashed.", LIBRDKAFKA, {}),
    _crash("crash_before_commit_kafka_python", "The same, whichever library crashed.", "kafka-python", {}),
    _crash(
        "crash_before_commit_by_brokers", "Under KIP-848 nothing else holds for commits.", JAVA, CONSUMER, since=(4, 0)
    ),
    _scenario(
        "crash_before_commit_static",
        "A static member that is back in time reads again without a rebalance.",
        CreateTopic(topic="t", partitions=1),
        Produce(topic="t", count=50),
        _reader("a", config=SOON | STATIC),
        HasRead(upto=50),
        Committed(offset=50),
        Kill(member="a", expect="no_rebalance"),
        _reader("a", config=SELDOM | STATIC, expect="static_rejoin_no_rebalance"),
        Produce(topic="t", count=150),
        HasRead(upto=200),
        Kill(member="a", expect="no_rebalance"),
        _reader("a", config=SOON | STATIC, expect="static_rejoin_no_rebalance"),
        _read_again("crash_before_commit", 200, 50, is_exact=False),
        Close(member="a", expect="static_leave_silent"),
        Gone(member="a"),
    ),
    _scenario(
        "partition_held",
        "A partition stands still although its owner is a member in good standing and reads others.",
        CreateTopic(topic="t", partitions=6),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        _reader("a", config=SOON | COOPERATIVE),
        _reader("b", config=SOON | COOPERATIVE),
        HasRead(upto=100),
        HoldPartition(),
        Wait(seconds=55),
        Stood(since="partition_held", cause="stands_alone"),
        LetGo(),
        HasRead(),
        Close(member="a"),
        Close(member="b"),
        CloseWriter(writer="w"),
    ),
    _scenario(
        "owner_stood",
        "A member that works on one record for a minute reads nothing, and its session goes on.",
        CreateTopic(topic="t", partitions=1),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        _reader("a"),
        HasRead(upto=400),
        Slow(member="a", ms=75_000, expect=None),
        Wait(seconds=50),
        Stood(since="member_slow_poll", cause="owner_stands"),
        HasRead(),
        Close(member="a"),
        CloseWriter(writer="w"),
    ),
    _scenario(
        "commits_seldom",
        "A member that commits every half minute is not behind: it reads all the time.",
        CreateTopic(topic="t", partitions=1),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        _reader("a", config={"auto.commit.interval.ms": "30000"}),
        HasRead(upto=100),
        Wait(seconds=100),
        HasRead(),
        Close(member="a"),
        CloseWriter(writer="w"),
        NeverStood(),
    ),
    _scenario(
        "transaction_markers",
        "The end of a transaction takes an offset that no member reads: a lag of one that nothing holds up.",
        CreateTopic(topic="t", partitions=1),
        StartProducer(producer="p"),
        _reader("a", config=SOON | {"isolation.level": "read_committed"}),
        Begin(producer="p", topic="t"),
        Commit(producer="p"),
        HasRead(upto=5),
        Wait(seconds=50),
        Close(member="a"),
        NeverStood(),
    ),
    _scenario(
        "held_by_transaction",
        "A transaction that stays open holds up whoever reads committed records alone.",
        CreateTopic(topic="t", partitions=1),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        StartProducer(producer="p", config={"transaction.timeout.ms": "300000"}),
        _reader("a", config=SOON | {"isolation.level": "read_committed"}),
        HasRead(upto=400),
        Begin(producer="p", topic="t"),
        Wait(seconds=55),
        Stood(since="transaction_begun", cause="held_by_transaction"),
        Commit(producer="p"),
        Wait(seconds=6),
        Close(member="a"),
        CloseWriter(writer="w"),
    ),
    _scenario(
        "fell_behind",
        "A member that takes longer than records come falls behind, and catches up when it is fast again.",
        CreateTopic(topic="t", partitions=1),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        _reader("a", config=SOON | {"max.poll.records": "3"}),
        HasRead(upto=400),
        Pace(member="a", ms=1000),
        Wait(seconds=100),
        Pace(member="a", ms=0),
        HasRead(),
        FellBack(),
        Wait(seconds=12),
        Close(member="a"),
        CloseWriter(writer="w"),
    ),
    _scenario(
        "deployment_reads_again",
        "A deployment in which one member is killed makes its group read records twice.",
        CreateTopic(topic="t", partitions=6),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        *(_reader(m, config={"auto.commit.interval.ms": "4000"}) for m in "abc"),
        HasRead(upto=100),
        *(
            step
            for m in "abc"
            for step in (
                *((Kill(member=m), Gone(member=m)) if m == "b" else (Close(member=m),)),
                _reader(m, config={"auto.commit.interval.ms": "4000"}, expect="rejoin_after_expiry"),
                Wait(seconds=4),
            )
        ),
        HasRead(),
        *(Close(member=m) for m in "abc"),
        CloseWriter(writer="w"),
        Billed(),
    ),
    _scenario(
        "handover_reads_again",
        "A group with a cooperative assignor reads on while it joins: the next owner of a partition reads that again.",
        CreateTopic(topic="t", partitions=6),
        StartWriter(writer="w", topic="t", library=LIBRDKAFKA),
        _reader("a", config=SOON | COOPERATIVE),
        HasRead(upto=100),
        *(step for m in "bc" for step in (_reader(m, config=SOON | COOPERATIVE), Wait(seconds=6))),
        HasRead(),
        *(Close(member=m) for m in "abc"),
        CloseWriter(writer="w"),
        Billed(),
    ),
    Scenario(
        "log_cut",
        "A replica that was not in sync takes over: the records that a group had read last are gone, and it goes back.",
        (
            CreateTopic(topic="t", placed=(("x", "y"),), configs={"unclean.leader.election.enable": "true"}),
            Produce(topic="t", count=50),
            _reader("a"),
            HasRead(upto=50),
            KillBroker(broker="y"),
            Detected(broker="y"),
            Produce(topic="t", count=40, acks="1"),
            HasRead(upto=90),
            Committed(offset=90),
            KillBroker(broker="x"),
            Wait(seconds=5),
            StartBroker(broker="y", uncleanly="t"),
            Produce(topic="t", count=25, acks="1"),
            Jumped(offset_from=90, offset_to=50, cause="log_truncated", expect="records_gone", within=120),
            StartBroker(broker="x"),
            InSync(),
            Close(member="a"),
        ),
        kraft_since=(3, 9),  # Before, its controller answers for every topic that unclean elections are off.
        on_brokers=True,
        settings=OFTEN_CHECKED,
    ),
)
