"""A producer of librdkafka that writes to partition 0 of a topic every 100 ms.

Its first line of JSON is its topic and its configuration. With the next one, or the end of its input, it is closed.
It answers with a line: how many records were acknowledged (`acked`), and by the error how many were not (`failed`).
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter

from confluent_kafka import KafkaError, KafkaException, Message, Producer

EVERY = 0.1
_CLOSES_WITHIN = 60


def main() -> int:
    """Write until it is asked to close."""
    order = json.loads(sys.stdin.readline())
    closing = threading.Event()
    print("done", flush=True)
    threading.Thread(target=_listen, args=(closing,), daemon=True).start()
    producer, counts, number = Producer(order["config"]), Counter[str](), 0

    def delivered(error: KafkaError | None, _: Message) -> None:
        counts[error.name() if error else "acked"] += 1

    while not closing.wait(EVERY):
        try:
            producer.produce(order["topic"], f"record {number}".encode(), partition=0, on_delivery=delivered)
        except (KafkaException, BufferError) as refusal:
            counts[str(refusal)] += 1
        number += 1
        producer.poll(0)
    producer.flush(_CLOSES_WITHIN)
    acked = counts.pop("acked", 0)
    print(json.dumps({"acked": acked, "failed": counts}), flush=True)
    return 0


def _listen(closing: threading.Event) -> None:
    sys.stdin.readline()
    closing.set()


if __name__ == "__main__":
    sys.exit(main())
