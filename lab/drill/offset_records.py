"""The records of `__consumer_offsets` of a drill, kept as RECORDS takes them: a recording has no brokers to ask."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import confluent_kafka
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from lab.drill.steps import OFFSETS

RECORDS = "internal_topics.jsonl"
"""Their file in the folder of a drill."""

_READER = {"group.id": "drill-records", "enable.auto.commit": False, "enable.partition.eof": True}
_ANSWERS_WITHIN = 20


def keep_records(bootstrap: str, folder: Path) -> None:
    """Write each record that is there now, a JSON object a line; what no broker gives out is left out."""
    consumer = Consumer({"bootstrap.servers": bootstrap, **_READER})
    partitions = consumer.list_topics(OFFSETS, timeout=_ANSWERS_WITHIN).topics[OFFSETS].partitions
    consumer.assign([TopicPartition(OFFSETS, partition, OFFSET_BEGINNING) for partition in partitions])
    left = set(partitions)
    with (folder / RECORDS).open("w", encoding="utf-8") as file:
        while left and (message := consumer.poll(_ANSWERS_WITHIN)) is not None:  # A tombstone is false.
            if message.error():  # The end of the partition, since each is asked to say so.
                left -= {message.partition()}
            else:
                file.write(json.dumps(_fields_of(message)) + "\n")
    consumer.close()


def _fields_of(message: confluent_kafka.Message) -> dict[str, object]:
    """The fields of one record: `at` in milliseconds, `key` and `value` in base64."""
    key, value = message.key(), message.value()
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "at": message.timestamp()[1],
        "key": None if key is None else base64.b64encode(bytes(key)).decode(),
        "value": None if value is None else base64.b64encode(bytes(value)).decode(),
    }
