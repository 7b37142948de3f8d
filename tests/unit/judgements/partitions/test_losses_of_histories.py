"""The law of lost records, over made histories of three replicas: logs grow, lag, part and are cut as Kafka does it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, PartitionSnapshot
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.partitions.replicas.losses import loss_of
from tests.support.rows import AT, row

BROKERS = (1, 2, 3)


@dataclass
class History:
    """One partition; a record is a number that no other record has. Every broker that takes part in a step logs it."""

    logs: dict[int, list[int]] = field(default_factory=lambda: {b: [] for b in BROKERS})
    leader: int = 1
    epoch: int = 0
    isr: list[int] = field(default_factory=lambda: list(BROKERS))
    high: int = 0
    written: int = 0
    clock: datetime = AT
    events: list[Event] = field(default_factory=list)
    readings: list[PartitionSnapshot] = field(default_factory=list)

    def show(self, kind: str, broker: int, **columns: Any) -> None:
        self.clock += timedelta(seconds=1)
        shown = {"line_id": f"{len(self.events)}", "kind": kind, "broker": broker, "happened_at": self.clock} | columns
        self.events.append(row(EVENTS, topic="t", partition=0, **shown))

    def read(self) -> None:
        self.clock += timedelta(seconds=1)
        self.readings.append(
            row(
                PARTITION_SNAPSHOTS,
                topic="t", partition=0, snapshot_at=self.clock, leader_epoch=self.epoch, end_offset=self.high,
                isr=list(self.isr),
            )
        )  # fmt: skip

    def lead(self, broker: int, isr: list[int]) -> None:
        """The broker begins to lead a new epoch. What all in sync have is committed."""
        self.leader, self.isr, self.epoch = broker, isr, self.epoch + 1
        at = {"leader_epoch": self.epoch, "isr": ",".join(map(str, isr))}
        self.show("partition_state_changed", 9, leader=broker, **at)
        self.show("leader_started", broker, log_offset=len(self.logs[broker]), high_watermark=self.high, **at)
        for follower in isr:
            if follower != broker:
                self.follow(follower, 0)
        self.commit()

    def commit(self) -> None:
        self.high = min(len(self.logs[b]) for b in self.isr)

    def write(self, count: int) -> None:
        self.logs[self.leader] += range(self.written, self.written + count)
        self.written += count
        self.commit()

    def follow(self, broker: int, fetched: int) -> None:
        """It opens its log, cuts it where it parts from the leader's, and fetches some records."""
        own, leads = self.logs[broker], self.logs[self.leader]
        kept = shared(own, leads)
        self.show("log_end_loaded", broker, log_offset=len(own))
        shown = {"leader_epoch": self.epoch, "leader": self.leader}
        self.show("follower_started", broker, log_offset=len(own), **shown)
        if kept < len(own):
            self.show("log_truncated", broker, log_offset=kept)
        self.logs[broker] = leads[: kept + fetched]

    def drop(self, broker: int) -> None:
        self.isr = [b for b in self.isr if b != broker]
        self.show("isr_updated", self.leader, isr=",".join(map(str, self.isr)))
        self.commit()

    def take_back(self, broker: int) -> None:
        self.follow(broker, self.written)
        self.isr = sorted({*self.isr, broker})
        self.show("isr_updated", self.leader, isr=",".join(map(str, self.isr)))
        self.commit()


def shared(one: list[int], other: list[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def live(history: History, chance: random.Random) -> None:
    """Some clean life: writes, lags, returns, and leaders that die while another is in sync."""
    history.show("partition_state_changed", 9, leader=1, leader_epoch=0, isr="1,2,3")
    history.show("leader_started", 1, leader_epoch=0, isr="1,2,3", log_offset=0, high_watermark=0)
    for _ in range(chance.randrange(25)):
        others = [b for b in BROKERS if b != history.leader]
        broker = chance.choice(others)
        act = chance.choice(("write", "write", "fetch", "drop", "back", "die", "read"))
        if act == "write":
            history.write(chance.randrange(5))
        elif act == "fetch" and broker in history.isr:
            own, leads = history.logs[broker], history.logs[history.leader]
            history.logs[broker] = leads[: max(history.high, shared(own, leads)) + chance.randrange(4)]
            history.commit()
        elif act == "drop" and broker in history.isr:
            history.drop(broker)
        elif act == "back":
            history.take_back(broker)
        elif act == "die" and broker in history.isr:
            history.lead(broker, [b for b in history.isr if b != history.leader])
        elif act == "read":
            history.read()


@given(st.randoms(use_true_random=False))
def test_bounds_hold_the_true_loss_and_are_exact_with_all_witnesses(chance: random.Random) -> None:
    history = History()
    live(history, chance)
    old, holders = history.leader, [history.leader]
    for broker in [b for b in history.isr if b != old]:
        history.drop(broker)
    new = chance.choice([b for b in BROKERS if b != old])
    history.write(chance.randrange(5))
    lost = len(history.logs[old]) - shared(history.logs[old], history.logs[new])
    begun_at = history.clock
    history.lead(new, [new])
    history.write(chance.randrange(5))
    if chance.random() < 0.5:
        history.read()
    history.take_back(old)
    history.read()

    unclean = Leadership(history.epoch, new, begun_at + timedelta(seconds=1), True, (new,), (), ())
    whole = loss_of(unclean, old, holders, history.events, history.readings)
    assert whole.low == lost
    assert whole.high == lost or (lost == 0 and whole.high is not None), (
        "without a cut no line shows where logs diverge"
    )
    for _ in range(4):
        silent = chance.choice([*BROKERS, 9, None])
        kinds = {e.kind for e in history.events if chance.random() < 0.05}
        heard = [e for e in history.events if e.broker != silent and e.kind not in kinds]
        readings = [r for r in history.readings if chance.random() < 0.7]
        loss = loss_of(unclean, old, holders, heard, readings)
        assert loss.low <= lost and (loss.high is None or lost <= loss.high)
