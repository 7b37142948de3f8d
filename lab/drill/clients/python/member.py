"""A consumer of aiokafka or kafka-python that does what it is asked, one JSON object a line, on its standard input."""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import sys
import threading
import time
from typing import Any

POLL_MS = 100
Orders = queue.SimpleQueue[dict[str, Any]]


def aiokafka(config: dict[str, Any], topics: list[str], orders: Orders) -> None:
    """Play a member of aiokafka."""
    from aiokafka import AIOKafkaConsumer

    async def _played() -> None:
        consumer = AIOKafkaConsumer(*topics, **config)
        await consumer.start()
        while True:
            while not orders.empty():
                if (order := orders.get())["do"] == "leave":
                    await consumer.stop()
                    return
                await asyncio.sleep(order["ms"] / 1000)
            _print(await consumer.getmany(timeout_ms=POLL_MS))

    asyncio.run(_played())


def kafka_python(config: dict[str, Any], topics: list[str], orders: Orders) -> None:
    """Play a member of kafka-python."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(*topics, **config)
    while True:
        while not orders.empty():
            if (order := orders.get())["do"] == "leave":
                consumer.close()
                return
            time.sleep(order["ms"] / 1000)
        _print(consumer.poll(POLL_MS))


def _print(batches: dict[Any, list[Any]]) -> None:
    """Print what a poll brought (lab.drill.reads)."""
    now = time.time_ns() // 1_000_000
    for place, records in batches.items():
        if records:
            first, last = records[0].offset, records[-1].offset
            print(f"{now} read {place.topic}-{place.partition} {first} {last} {len(records)}", flush=True)


PLAYS = {"aiokafka": aiokafka, "kafka-python": kafka_python}


def main() -> None:
    """Joins at the first line; leaves at `leave`, or when its input ends."""
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    orders: Orders = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    if (first := orders.get())["do"] == "join":
        settings = {name.replace(".", "_"): value for name, value in first["config"].items()}
        config = {name: int(value) if value.isdecimal() else value for name, value in settings.items()}
        PLAYS[sys.argv[1]](config, first["topics"], orders)


def _listen(orders: Orders) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    orders.put({"do": "leave"})


if __name__ == "__main__":
    main()
