"""The subjects that a window has answers about: each module here answers for one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.broker import broker_answer
from kafka_hindsight.report.subjects.client import client_answer
from kafka_hindsight.report.subjects.group import group_answer
from kafka_hindsight.report.subjects.incident import incident_answer
from kafka_hindsight.report.subjects.topic import topic_answer

SUBJECTS: Mapping[str, tuple[Callable[[PageRows], Sequence[str]], Callable[[PageRows, str], Answer]]] = {
    "incident": (lambda page: [row.incident_id for row in page.of(Incident)], incident_answer),
    "group": (lambda page: page.groups, group_answer),
    "topic": (lambda page: page.topics, topic_answer),
    "broker": (lambda page: [str(broker) for broker in page.brokers], broker_answer),
    "client": (lambda page: page.clients, client_answer),
}
"""For each kind the names of its subjects in a window, and the function that answers about one."""


def answers(page: PageRows) -> Iterator[Answer]:
    """The answers about all subjects of a window."""
    for names, answer in SUBJECTS.values():
        yield from (answer(page, name) for name in names(page))
