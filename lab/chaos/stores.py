"""An object store that answers late: moto's server of S3, and before it a proxy that keeps each answer back."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import threading
import time
import urllib.request
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from lab.chaos.kills import KillCount
from lab.chaos.lakes import contents
from lab.chaos.worker import Worker
from lab.drill.cluster import free_ports
from setup.build import build_environment

BUCKET, ENDPOINT = "lakes", "AWS_ENDPOINT_URL"
_MEAN_SECONDS = 0.1
_STALLS, _STALL_SECONDS = 0.005, (5, 15)
"""One answer of two hundred waits so long: longer than a retry of S3's clients, shorter than their patience."""

CHUNK = 65_536
_STARTS_WITHIN = 60


def slow(
    rng: random.Random, folder: Path, settings: Mapping[str, Any], steps: Sequence[str], slow_steps: Collection[str]
) -> KillCount:
    """Steps into a lake in a store, and beside them into one on disk: each leaves equal tables.

    The store answers late to `slow_steps`.
    """
    beside, far, is_late = folder / "beside", f"s3a://{BUCKET}/slow", threading.Event()
    waited = list[float]()
    with (
        store(folder) as port,
        proxy(port, lambda reader, writer: _late(reader, writer, port, _delays(rng, is_late), waited)) as late,
        closing(Worker(folder / "far", also={ENDPOINT: late})) as worker,
    ):
        outcome = KillCount(f"{', '.join(slow_steps)} on an object store that answers late")
        for step in steps:
            worker.do(step, {**settings, "lake": str(beside)})
            if step not in slow_steps:
                worker.do(step, {**settings, "lake": far})
                continue
            is_late.set()
            began, so_far = time.monotonic(), len(waited)
            answer = worker.run(step, {**settings, "lake": far})
            took, waits = time.monotonic() - began, waited[so_far:]
            is_late.clear()
            is_equal = not answer.sentences and contents(far) == contents(beside)
            outcome.attempts += 1
            outcome.equal += is_equal
            outcome.whole += not answer.sentences
            outcome.note(
                f"{step}: {len(waits)} answers waited {sum(waits):.0f} s in all, {max(waits):.0f} s at most; "
                f"{took:.0f} s; {answer.sentences or ('equal' if is_equal else 'NOT equal')}"
            )
    return outcome


def _delays(rng: random.Random, is_late: threading.Event) -> Callable[[], float]:
    def delay() -> float:
        if not is_late.is_set():
            return 0
        return rng.uniform(*_STALL_SECONDS) if rng.random() < _STALLS else rng.expovariate(1 / _MEAN_SECONDS)

    return delay


@contextmanager
def store(folder: Path) -> Iterator[int]:
    """Run the store with an empty bucket, and set the environment for S3. Yields the store's port."""
    build_environment(folder / "moto", "s3.txt")
    (port,) = free_ports(1)
    command = [str(folder / "moto" / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    before = {**os.environ}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _make_bucket(f"http://127.0.0.1:{port}/{BUCKET}")
            os.environ |= {
                ENDPOINT: f"http://127.0.0.1:{port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "verysecret",
                "AWS_REGION": "us-east-1",
            }
            yield port
        finally:
            os.environ.clear()
            os.environ |= before
            server.terminate()


@contextmanager
def proxy(port: int, joined: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> Iterator[str]:
    """Serve a port before the store's, each connection by `joined`. Yields its address."""
    (before,) = free_ports(1)

    async def serve() -> None:
        async with await asyncio.start_server(joined, "127.0.0.1", before) as server:
            await server.serve_forever()

    threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
    yield f"http://127.0.0.1:{before}"


def _make_bucket(bucket: str) -> None:
    until = time.monotonic() + _STARTS_WITHIN
    while True:
        try:
            urllib.request.urlopen(urllib.request.Request(bucket, method="PUT"), timeout=10).close()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


async def _late(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    port: int,
    delay: Callable[[], float],
    waited: list[float],
) -> None:
    """A connection through the proxy: what is asked goes on at once, what is answered waits."""

    def answer() -> float:
        waited.append(delay())
        return waited[-1]

    answers, asks = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.gather(_pass_on(reader, asks, lambda: 0), _pass_on(answers, writer, answer), return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: Callable[[], float]) -> None:
    with closing(writer):
        while data := await reader.read(CHUNK):
            await asyncio.sleep(delay())
            writer.write(data)
            await writer.drain()
