"""`hindsight doctor`: the clusters and the receivers that settings name, as JSON. It sends nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from kafka_hindsight.alerts.receivers import sender
from kafka_hindsight.doctor.doctor_checks import CheckWords
from kafka_hindsight.settings.alerts import Receiver, alert_settings
from kafka_hindsight.settings.clusters import clusters
from kafka_hindsight.settings.home import file_path
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import counted


def checks() -> Iterator[CheckWords]:
    """A check of the file, if there is one, and of each receiver."""
    try:
        if file := file_path():
            yield "good", "settings", f"{file}: {counted(len(clusters()), 'cluster')}"
        for receiver in alert_settings().receivers:
            yield _of_receiver(receiver)
    except BadInput as problem:
        yield from (("missing", "settings", sentence) for sentence in problem.sentences)


def _of_receiver(receiver: Receiver) -> CheckWords:
    url = os.environ.get(receiver.variable, "").strip()
    if not url:
        return (
            "later",
            "alerts",
            f"{receiver.name} has no URL: set {receiver.variable}, or Airflow's connection {receiver.connection}",
        )
    try:
        sender(receiver, url, None)
    except ModuleNotFoundError:
        return (
            "missing",
            "alerts",
            f"{receiver.name}: apprise is not installed. What to do: install the extra `alerts`.",
        )
    except BadInput as problem:
        return "missing", "alerts", problem.sentences[0]
    return "good", "alerts", f"{receiver.name} has a URL of the right form; no message was sent"


if __name__ == "__main__":
    print(json.dumps([*checks()]))
