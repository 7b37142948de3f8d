"""Processes beside ours give results in order, and errors as they are; they end with the process that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from kafka_hindsight.engine.worker_processes import results_in_order
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared import parent
from kafka_hindsight.shared.exits import BadInput, PublicationRefused

AUDIT = """
import os, sys, time
from kafka_hindsight.engine.worker_processes import results_in_order
from tests.unit.engine.test_worker_processes import own_process, rest
if __name__ == "__main__":
    print(*{*results_in_order(own_process, range(8))}, flush=True)
    list(results_in_order(rest, range(2)))
"""


def doubled(number: int) -> int:
    time.sleep(0.05 if number == 0 else 0)
    return 2 * number


def refuse(sentences: Sequence[str]) -> None:
    raise BadInput(*sentences)


def own_process(number: int) -> int:
    time.sleep(0.1)
    return os.getpid()


def rest(number: int) -> None:
    time.sleep(600)


def test_results_come_in_order_of_their_arguments() -> None:
    assert list(results_in_order(doubled, range(20))) == list(range(0, 40, 2))


def test_error_of_a_process_keeps_its_sentences() -> None:
    sentences = ("Found: one.", "Found: another.")
    with pytest.raises(BadInput) as refusal:
        list(results_in_order(refuse, [sentences]))
    assert refusal.value.sentences == sentences
    assert PublicationRefused("one").sentences == ("one",)


def test_worker_processes_end_after_a_kill_of_the_one_that_started_them() -> None:
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    audit = subprocess.Popen([sys.executable, "-c", AUDIT], env=environment, stdout=subprocess.PIPE, text=True)
    assert audit.stdout
    workers = [int(word) for word in audit.stdout.readline().split()]
    assert workers and audit.pid not in workers
    audit.kill()
    audit.wait()
    until = time.monotonic() + 60
    while any(map(parent.is_alive, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(parent.is_alive, workers))
