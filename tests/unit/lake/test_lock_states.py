"""The lock of an object store against a store that loses answers, and holders that stand still: no sleep, no thread.

The model plays the network by hand. A request waits on the wire until it arrives at the store, or is lost; its run may
have stopped waiting long before. The clock moves when the test says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kafka_hindsight.lake.lock_states import DEAD_AFTER, FAILED, FREE, READS, TRANSITIONS, Answer, Contender, Phase

LOCK, GUARDED = "lock", ("a table", "another table", "published.json")
RUNS = range(3)


@dataclass
class Request:
    """A request on the wire: a read, or a write over a version."""

    place: str
    write: Any = None
    over: int = 0
    is_read: bool = False
    by: Run | None = None
    """The run that asks, for a guarded place."""


@dataclass
class Run:
    """A run that takes the lock, writes guarded places, and gives the lock back."""

    lock: Contender
    asked_at: float = 0.0
    waits_for: Request | None = None
    answer: tuple[Any, ...] | None = None
    fenced: set[str] = field(default_factory=set)
    target: str = ""
    """The place that it writes next, if it holds the lock."""
    version: int | None = None
    """The version of the target that it has read."""
    is_proven: bool = False
    """Whether it has asked for the lock since then."""
    is_uncertain: bool = False
    """Whether a write was never answered."""

    @property
    def is_free_to_ask(self) -> bool:
        return self.waits_for is None and self.lock.phase is not Phase.LOST

    @property
    def places_to_fence(self) -> list[str]:
        return [p for p in GUARDED if p not in self.fenced] if self.lock.is_successor else []


class Store:
    """Places with a version each. A write names the version that it replaces."""

    def __init__(self) -> None:
        self.contents: dict[str, list[Any]] = {place: [None] for place in (LOCK, *GUARDED)}

    def version(self, place: str) -> int:
        return len(self.contents[place]) - 1

    def do(self, request: Request) -> tuple[Any, ...]:
        """Give ("read", content, version), ("written", version) or ("refused",)."""
        version = self.version(request.place)
        if request.is_read:
            return "read", self.contents[request.place][-1], version
        if request.over != version:
            return ("refused",)
        self.contents[request.place].append(request.write)
        return "written", version + 1


class LockModel(RuleBasedStateMachine):
    """Three runs of one cluster, and every fault of the way between them and the store."""

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.numbers, self.store = 1_000.0, count(1), Store()
        self.wire: list[Request] = []
        self.worker = ""
        """The take whose run has begun to work, after it has fenced what it has to."""
        self.latecomers: list[str] = []
        """Takes that have written after a later one had begun to work."""
        self.runs = [self.new_run() for _ in RUNS]

    def new_run(self) -> Run:
        return Run(Contender(f"take {next(self.numbers)}"))

    @rule(n=st.sampled_from(RUNS), data=st.data())
    def take_one_step(self, n: int, data: st.DataObject) -> None:
        """One run asks, hears or stops waiting, or one request on the wire arrives or is lost."""
        act = data.draw(
            st.sampled_from(["ask", "renew", "hear", "give up", *(["arrive", "lose"] if self.wire else [])])
        )
        match act:
            case "ask" | "renew":
                self.ask(n, data.draw(st.sampled_from(GUARDED)), act == "renew")
            case "hear":
                self.hear(n)
            case "give up":
                self.give_up_waiting(n)
            case "arrive":
                self.deliver(self.wire.pop(data.draw(st.integers(0, len(self.wire) - 1))))
            case "lose":
                self.wire.pop(data.draw(st.integers(0, len(self.wire) - 1)))

    def ask(self, n: int, place: str, renews: bool) -> None:
        """A run sends its next request."""
        run = self.runs[n]
        if run.is_free_to_ask:
            run.waits_for, run.asked_at = self.next_request(run, place, renews), self.clock
            self.wire.append(run.waits_for)

    @rule(n=st.sampled_from(RUNS), place=st.sampled_from(GUARDED), times=st.integers(1, 12))
    def go_on(self, n: int, place: str, times: int) -> None:
        """A run is answered at once, some times."""
        for _ in range(times):
            if self.runs[n].is_free_to_ask:
                self.ask(n, place, renews=False)
                self.deliver(self.wire.pop())
                self.hear(n)

    @rule(n=st.sampled_from(RUNS), place=st.sampled_from(GUARDED), gives_up=st.booleans())
    def leave_write_on_the_wire(self, n: int, place: str, gives_up: bool) -> None:
        """A run goes on until a guarded write of it is on the wire, and fails there, or stands still."""
        for _ in range(12):
            run = self.runs[n]
            if not run.is_free_to_ask:
                return
            self.ask(n, place, renews=False)
            if self.wire[-1].by and not self.wire[-1].is_read:
                if gives_up:
                    self.give_up_waiting(n)
                    self.deliver(self.wire.pop())
                return
            self.deliver(self.wire.pop())
            self.hear(n)

    @rule(n=st.sampled_from(RUNS))
    def renew_without_an_answer(self, n: int) -> None:
        """A holder gives a sign of life, hears nothing, and asks whether it still has the lock."""
        if self.runs[n].is_free_to_ask and self.runs[n].lock.phase is Phase.HOLDING:
            self.ask(n, GUARDED[0], renews=True)
            self.deliver(self.wire.pop())
            self.give_up_waiting(n)
            self.go_on(n, GUARDED[0], 1)

    @rule(n=st.sampled_from(RUNS))
    def wait_for_a_minute(self, n: int) -> None:
        """A run looks twice, a minute apart, while all others stand still, and goes on."""
        self.go_on(n, GUARDED[0], 1)
        self.let_time_pass(61)
        self.go_on(n, GUARDED[0], 2)

    def next_request(self, run: Run, place: str, renews: bool) -> Request:
        lock = run.lock
        if lock.phase in READS:
            return Request(LOCK, is_read=True)
        if lock.phase is Phase.TAKING or renews:
            return Request(LOCK, {"token": lock.token, "signs": next(self.numbers)}, int(lock.version or 0))
        run.target = run.target or (run.places_to_fence or [place])[0]
        if run.version is None:
            return Request(run.target, is_read=True, by=run)
        if not run.is_proven:
            run.lock = lock.in_doubt()
            return Request(LOCK, is_read=True)
        run.is_uncertain = True
        return Request(run.target, lock.token, run.version, by=run)

    @property
    def holder(self) -> str | None:
        """The take that has the lock, as the store knows it. A run that has lost it may not know that yet."""
        return (self.store.contents[LOCK][-1] or FREE).get("token")

    def deliver(self, request: Request) -> None:
        answer = self.store.do(request)
        if by := request.by:
            is_fence = request.place in by.places_to_fence
            if answer[0] == "read" and not by.places_to_fence and self.holder == by.lock.token:
                self.worker = by.lock.token
            if answer[0] == "written" and not is_fence and by.lock.token != self.worker:
                self.latecomers.append(by.lock.token)
        for run in self.runs:
            if run.waits_for is request:
                run.answer = answer

    def hear(self, n: int) -> None:
        """An answer reaches its run, however late."""
        run = self.runs[n]
        if run.answer:
            kind, *rest = run.answer
            request, run.waits_for, run.answer = run.waits_for, None, None
            assert request
            if request.place == LOCK:
                self.hear_of_lock(run, kind, rest)
            elif kind == "read":
                run.version, run.is_proven = rest[1], False
            else:
                run.is_uncertain = False
                if kind == "written" and run.places_to_fence:
                    run.fenced.add(run.target)
                run.target, run.version, run.is_proven = "", None, False

    def hear_of_lock(self, run: Run, kind: str, rest: list[Any]) -> None:
        if kind == "read":
            holder, version = rest
            tag = str(version) if version else None
            run.is_proven = run.lock.phase is Phase.DOUBTING
            run.lock = run.lock.after_read(holder or FREE, tag, run.asked_at, self.clock)
        elif kind == "written":
            run.lock = run.lock.after_write(str(rest[0]))
        else:
            run.lock = run.lock.after_refusal()

    def give_up_waiting(self, n: int) -> None:
        """No answer comes, though the request may still be on the wire. A guarded write without one fails the run."""
        run = self.runs[n]
        if run.waits_for:
            place, run.waits_for, run.answer = run.waits_for.place, None, None
            if place == LOCK:
                run.lock = run.lock.after_silence()
            else:
                self.end(n)

    @rule(n=st.sampled_from(RUNS), is_killed=st.booleans())
    def finish(self, n: int, is_killed: bool) -> None:
        """A run ends, or is killed, and another one takes its place. What it has sent may still arrive."""
        if is_killed:
            self.runs[n] = self.new_run()
        elif self.runs[n].is_free_to_ask and self.runs[n].lock.phase is Phase.HOLDING:
            self.end(n)

    def end(self, n: int) -> None:
        run = self.runs[n]
        is_failed = run.is_uncertain or bool(run.places_to_fence)
        if run.lock.phase is Phase.HOLDING:
            self.wire.append(Request(LOCK, FAILED if is_failed else FREE, int(run.lock.version or 0)))
        self.runs[n] = self.new_run()

    @rule(seconds=st.sampled_from([1.0, 15.0, 61.0]))
    def let_time_pass(self, seconds: float) -> None:
        """Everybody stands still: whoever is not asked to act for 61 s was suspended."""
        self.clock += seconds

    @invariant()
    def nobody_writes_after_another_one_has_begun(self) -> None:
        assert not self.latecomers, f"{self.latecomers} wrote while {self.worker} worked: {self.store.contents}"

    def teardown(self) -> None:
        """Without faults the next run gets the lock, fences what it has to, and writes."""
        for request in self.wire:
            self.store.do(request)
        self.wire.clear()
        self.runs = [self.new_run()]
        for _ in range(40):
            self.ask(0, GUARDED[0], False)
            self.deliver(self.wire.pop())
            self.hear(0)
            self.clock += 15
            if self.store.contents[GUARDED[0]][-1] == self.runs[0].lock.token and not self.runs[0].places_to_fence:
                return
        raise AssertionError(f"the lock is never taken: {self.runs[0]}")


TestLockModel = LockModel.TestCase
TestLockModel.settings = settings(max_examples=400, stateful_step_count=60, deadline=None)


def test_holder_asks_for_the_lock_after_it_has_read_what_it_replaces() -> None:
    """A proof from before the read is worth nothing: another run may have taken the lock and fenced meanwhile."""
    model = LockModel()
    model.go_on(n=0, place=GUARDED[0], times=2)
    model.renew_without_an_answer(n=0)
    model.wait_for_a_minute(n=1)
    model.go_on(n=1, place=GUARDED[0], times=10)
    assert model.worker == model.runs[1].lock.token
    model.go_on(n=0, place=GUARDED[0], times=2)
    model.nobody_writes_after_another_one_has_begun()
    assert model.runs[0].lock.phase is Phase.LOST


def _holding(token: str = "ours") -> Contender:
    return Contender(token).after_read(FREE, None, 0, 0).after_write("1")


def test_every_answer_of_a_phase_has_one_next_phase() -> None:
    of_reads = {Answer.NONE, Answer.FREE, Answer.OURS, Answer.ALIVE, Answer.QUIET, Answer.DEAD}
    of_writes = {Answer.NONE, Answer.WRITTEN, Answer.REFUSED}
    expected = {(p, a) for p in Phase if p is not Phase.LOST for a in (of_reads if p in READS else of_writes)}
    assert {*TRANSITIONS} == expected


def test_late_answer_does_not_make_a_holder_dead() -> None:
    """What was asked a second after the first look shows nothing about the minute in which its answer came."""
    other: Mapping[str, Any] = {"token": "theirs"}
    first = Contender("ours").after_read(other, "1", 0, 0)
    assert first.after_read(other, "1", 1, 61).answer is Answer.QUIET
    assert first.after_read(other, "1", DEAD_AFTER, 61).phase is Phase.TAKING


def test_lost_answer_of_a_take_is_ours_when_it_is_read() -> None:
    dead = Contender("ours").after_read({"token": "theirs"}, "1", 0, 0).after_read({"token": "theirs"}, "1", 60, 60)
    holder = dead.after_silence().after_read({"token": "ours"}, "2", 61, 61)
    assert holder.phase is Phase.HOLDING and holder.is_successor


@pytest.mark.parametrize("end", [FREE, FAILED])
def test_next_one_succeeds_a_holder_that_failed_at_once(end: Mapping[str, Any]) -> None:
    taking = Contender("next").after_read(end, "7", 0, 0)
    assert taking.phase is Phase.TAKING and taking.is_successor is (end == FAILED)


@pytest.mark.parametrize("holder", [FREE, FAILED, {"token": "theirs"}])
def test_holder_whose_lock_is_another_ones_has_lost_it(holder: Mapping[str, Any]) -> None:
    assert _holding().in_doubt().after_read(holder, "2", 5, 5).phase is Phase.LOST
    assert _holding().after_refusal().after_read({"token": "ours"}, "2", 5, 5).phase is Phase.HOLDING
