"""The subjects that a window has answers about: each module here answers for one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_hindsight.catalog.rows import Incident, NightSubject
from kafka_hindsight.report.answer import Answer
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.broker_answer import broker_answer
from kafka_hindsight.report.subjects.client_answer import client_answer
from kafka_hindsight.report.subjects.group_answer import group_answer
from kafka_hindsight.report.subjects.incident_answer import incident_answer
from kafka_hindsight.report.subjects.owner_answer import owner_answer, owner_names
from kafka_hindsight.report.subjects.topic_answer import partition_answer, topic_answer
from kafka_hindsight.shared import plain, words


@dataclass(frozen=True)
class SubjectKind:
    """A kind of subject: the names of those with a view of their own in a window, and the answer about one."""

    names: Callable[[PageRows], Sequence[str]]
    answer: Callable[[PageRows, str], Answer]


def _incidents(page: PageRows) -> Sequence[str]:
    """The incidents with a view of their own."""
    return [
        i.incident_id for i in page.of(Incident) if page.incident_anchor(i) == plain.anchor("incident", i.incident_id)
    ]


def _with_presence(kind: str, answer_of: Callable[[PageRows, str], Answer]) -> Callable[[PageRows, str], Answer]:
    """Give answers that say how it is known that a subject was there, where nothing that happened to it proves more."""

    def answer(page: PageRows, name: str) -> Answer:
        own = answer_of(page, name)
        row = next((row for row in page.rows_of(NightSubject, "name", name) if row.kind == kind), None)
        if own.proof or row is None:
            return own
        first_at, last_at = (words.instant(at, page.day) for at in (row.first_at, row.last_at))
        versions = f" It ran Kafka {words.listed(row.versions)}." if row.versions and kind == "broker" else ""
        explanation = f"The first reading or line that shows it is of {first_at}, the last one of {last_at}.{versions}"
        return replace(own, proof=row.evidence, explanation=" ".join(filter(None, (own.explanation, explanation))))

    return answer


SUBJECTS: Mapping[str, SubjectKind] = {
    "incident": SubjectKind(_incidents, incident_answer),
    "group": SubjectKind(lambda page: page.groups, _with_presence("group", group_answer)),
    "topic": SubjectKind(lambda page: page.topics, _with_presence("topic", topic_answer)),
    "partition": SubjectKind(lambda _: (), partition_answer),
    "broker": SubjectKind(
        lambda page: [str(broker) for broker in page.brokers], _with_presence("broker", broker_answer)
    ),
    "client": SubjectKind(lambda page: page.clients, client_answer),
    "owner": SubjectKind(owner_names, owner_answer),
}


def answers(page: PageRows) -> Iterator[Answer]:
    """The answers about all subjects of a window that have a view of their own."""
    for kind in SUBJECTS.values():
        yield from (kind.answer(page, name) for name in kind.names(page))
