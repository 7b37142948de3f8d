"""Each step killed at one of its writes to an object store: before the store has it, or before the answer arrives.

Before the store stands a proxy that counts what is written, so a seed draws the same moments again. Holders of locks
count as dead after four seconds in place of sixty.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import obstore
from obstore.store import S3Store

from kafka_hindsight.shared.at_once import at_once
from lab.chaos.kills import KillCount, judge
from lab.chaos.lakes import contents, look_at, others
from lab.chaos.night import Planned
from lab.chaos.stores import BUCKET, CHUNK, ENDPOINT, proxy, store
from lab.chaos.worker import DEAD_AFTER, KILLED, Worker

_DEAD_AFTER_S = 4.0
_WRITES = (b"PUT ", b"POST ", b"DELETE ")


class Writes:
    """The writes that pass. At one of them `kill` is called."""

    def __init__(self, kill: Callable[[], None]) -> None:
        self.count, self._kill_at, self._is_late = 0, 0, False
        self._kill = kill

    def begin(self, kill_at: int = 0, is_late: bool = False) -> None:
        """Count from one. Kill at this number; if it is late, when the store has answered."""
        self.count, self._kill_at, self._is_late = 0, kill_at, is_late

    async def join(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on one connection."""
        with closing(writer), suppress(OSError):
            answers, asks = await asyncio.open_connection("127.0.0.1", port)
            with closing(asks):
                is_last = list[bool]()
                back = asyncio.create_task(self._answer(answers, writer, is_last))
                while data := await reader.read(CHUNK):
                    self.count += data.startswith(_WRITES)
                    if data.startswith(_WRITES) and self.count == self._kill_at:
                        if not self._is_late:
                            self._kill()
                            break
                        is_last.append(True)
                    asks.write(data)
                back.cancel()

    async def _answer(
        self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter, is_last: Sequence[bool]
    ) -> None:
        while data := await answers.read(CHUNK):
            if is_last:
                self._kill()
                break
            writer.write(data)
        writer.close()


def kills_on_store(
    draw: Callable[[str], random.Random], folder: Path, plan: Sequence[tuple[Planned, bool]], count: int
) -> Iterator[KillCount]:
    """Run a plan into a lake in a store, and beside it into one on disk; kill steps `count` times.

    Then they run again. The tables are those on disk. The plan names with each step whether it is killed.
    """
    beside, lake = folder / "beside", f"s3a://{BUCKET}/killed"
    folder.mkdir(parents=True)
    workers = list[Worker]()
    writes = Writes(lambda: workers[0].kill())
    with store(folder) as port, proxy(port, partial(writes.join, port)) as counted:
        also = {ENDPOINT: counted, DEAD_AFTER: str(_DEAD_AFTER_S)}
        with closing(Worker(folder / "far", also=also)) as worker, closing(Worker(folder / "alone")) as alone:
            workers.append(worker)
            for planned, is_disturbed in plan:
                alone.do(planned.step, {**planned.settings, "lake": str(beside)})
                if not is_disturbed:
                    worker.do(planned.step, {**planned.settings, "lake": lake})
                    continue
                rng = draw(f"kills on a store of {planned.what}")
                yield _kills(worker, writes, rng, lake, planned, contents(beside), count)


def _kills(
    worker: Worker,
    writes: Writes,
    rng: random.Random,
    lake: str,
    planned: Planned,
    expected: Mapping[str, str],
    count: int,
) -> KillCount:
    """Kill one step, each time from the same beginning. The lake ends as an undisturbed run leaves it."""
    outcome = KillCount(f"kill of {planned.what} on an object store")
    before, began = look_at(lake).gold, _copy(lake, f"{lake}-{planned.step}-before")
    writes.begin()
    worker.do(planned.step, {**planned.settings, "lake": lake})
    in_all, after = writes.count, look_at(lake).gold
    if differing := others(contents(lake), dict(expected)):
        outcome.note(f"undisturbed: other rows than on disk in {differing}")
    for number in range(count):
        kill_at, is_late = rng.randint(1, in_all), rng.random() < 0.5
        while True:
            place = _copy(began, f"{lake}-{planned.step}-{number}-{kill_at}")
            writes.begin(kill_at, is_late)
            answer = worker.run(planned.step, {**planned.settings, "lake": place})
            if answer.code == KILLED:
                break
            kill_at = max(1, kill_at // 2)
        writes.begin()
        look = look_at(place)
        again = worker.run(planned.step, {**planned.settings, "lake": place}).sentences
        moment = "after" if is_late else "before"
        outcome.note(f"killed {moment} write {kill_at} of {in_all}: {again or 'done again'}")
        judge(outcome, place, again, look, (before, after), dict(expected))
    return outcome


def _copy(lake: str, to: str) -> str:
    """Copy a lake within the bucket. What is empty there stands for a folder."""
    bucket, prefix = S3Store(BUCKET), _key(lake)
    names = [entry["path"] for batch in obstore.list(bucket, prefix=prefix) for entry in batch if entry["size"]]
    at_once(*(partial(obstore.copy, bucket, name, _key(to) + name.removeprefix(prefix)) for name in names))
    return to


def _key(lake: str) -> str:
    return lake.partition(f"{BUCKET}/")[2]
