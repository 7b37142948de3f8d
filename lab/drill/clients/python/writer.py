"""A producer of kafka-python that writes to partition 0 of a topic every 100 ms.

Its first line of JSON is its topic and its configuration. With the next one, or the end of its input, it is closed.
It answers with a line: how many records were acknowledged (`acked`), and by the error how many were not (`failed`).
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections import Counter

from kafka import KafkaProducer
from kafka.errors import KafkaError

EVERY = 0.1
_CLOSES_WITHIN = 60


def main() -> None:
    """Write until it is asked to close."""
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    order = json.loads(sys.stdin.readline())
    closing = threading.Event()
    print("done", flush=True)
    threading.Thread(target=_listen, args=(closing,), daemon=True).start()
    producer = KafkaProducer(**{name.replace(".", "_"): _value(text) for name, text in order["config"].items()})
    counts, number = Counter[str](), 0

    def failed(error: Exception) -> None:
        counts[type(error).__name__] += 1

    while not closing.wait(EVERY):
        try:
            future = producer.send(order["topic"], f"record {number}".encode(), partition=0)
            future.add_callback(lambda _: counts.update(["acked"]))
            future.add_errback(failed)
        except KafkaError as refusal:
            failed(refusal)
        number += 1
    producer.close(_CLOSES_WITHIN)
    acked = counts.pop("acked", 0)
    print(json.dumps({"acked": acked, "failed": counts}), flush=True)


def _value(text: str) -> object:
    return {"true": True, "false": False}.get(text, int(text) if text.isdecimal() else text)


def _listen(closing: threading.Event) -> None:
    sys.stdin.readline()
    closing.set()


if __name__ == "__main__":
    main()
