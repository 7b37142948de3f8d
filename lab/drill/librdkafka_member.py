"""A consumer of librdkafka that does what it is asked, one JSON object a line, on its standard input."""

from __future__ import annotations

import json
import logging
import queue
import sys
import threading
import time
from typing import Any

from confluent_kafka import Consumer

from lab.drill.members import POLL_MS
from lab.drill.reads import READ


def main() -> int:
    """Joins at the first line; leaves at `leave`, or when its input ends. Prints what it reads (lab.drill.reads)."""
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    first = requests.get()
    if first["do"] == "leave":
        return 0
    consumer = Consumer(first["config"], **_logging())
    consumer.subscribe(first["topics"])
    while True:
        while not requests.empty():
            match requests.get():
                case {"do": "subscribe", "topics": topics}:
                    consumer.subscribe(topics)
                case {"do": "slow", "ms": ms}:
                    time.sleep(ms / 1000)
                case {"do": "leave"}:
                    consumer.close()
                    return 0
        message = consumer.poll(POLL_MS / 1000)
        if message is not None and not message.error():
            offset = message.offset()
            place = f"{message.topic()}-{message.partition()}"
            print(time.time_ns() // 1_000_000, READ, place, offset, offset, 1, flush=True)


def _logging() -> dict[str, logging.Logger]:
    """With --logger its lines pass Python's logging, with a time; else librdkafka writes them to stderr itself."""
    if sys.argv[1:] != ["--logger"]:
        return {}
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    return {"logger": logging.getLogger("confluent")}


def _listen(requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        requests.put(json.loads(line))
    requests.put({"do": "leave"})


if __name__ == "__main__":
    sys.exit(main())
