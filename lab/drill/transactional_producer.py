"""A transactional producer of librdkafka that does what it is asked, one JSON object a line, on its standard input.

Its answer to each is a line: `done`, or the name of the error that ended the transaction.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from confluent_kafka import KafkaException, Producer

_WITHIN = 60


def main() -> int:
    """Begins with the first line, the configuration; ends with its input."""
    producer = Producer(json.loads(sys.stdin.readline()))
    producer.init_transactions(_WITHIN)
    print("done", flush=True)
    for line in sys.stdin:
        print(_answer(producer, json.loads(line)), flush=True)
    return 0


def _answer(producer: Producer, request: dict[str, Any]) -> str:
    try:
        match request:
            case {"do": "begin", "topic": topic, "count": count}:
                producer.begin_transaction()
                for number in range(count):
                    producer.produce(topic, f"record {number}".encode())
                producer.flush(_WITHIN)
            case {"do": "commit"}:
                producer.commit_transaction(_WITHIN)
    except KafkaException as error:
        return str(error.args[0].name())
    return "done"


if __name__ == "__main__":
    sys.exit(main())
