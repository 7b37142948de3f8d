"""docs/causes.md and docs/rulings.md: each ruling with its whole sentence, and where it is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from kafka_hindsight import judgements
from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.judgements.reasoning.proofs import Predicate
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from kafka_hindsight.knowledge.advice import advise
from tools.pages.advice_page import JAVA_MEMBER
from tools.pages.markdown import as_table, code, link, page, prose

CAUSES_OF = "gold.rebalances.cause"

READ_AS: Mapping[str, str] = {
    "again": " again, where it was the controller before",
    "effect": "would have avoided some rebalances",
    "trigger": "Why the rebalance had begun",
    "behind": " when it was so many records behind",
    "causes": "causes, each with its count",
    "change": "how a topic changed",
    "coverage": "time",
    "fate": "was shut down, crashed or was unresponsive",
    "failover.leader_to": "new leader",
    "reset_clause": ". Controller epochs begin again, where they had been higher before",
    "every": "Every",
    "former": "former one",
    "absence": "was away, or its disk had failed",
    "groups": "groups",
    "id_clause": " under its member id",
    "host.fate": "what became of the host",
    "host.host": "address",
    "host.members": "how many",
    "host.span": "at a time that their sessions show",
    "no_return": " and did not come back within the time that the logs cover",
    "which": " Its own log would show which.",
    "error": " (exception)",
    "delay": "time",
    "departure": "after it had left or had been removed",
    "in_use": "how it compares with the session timeout in use",
    "present_value": " (now the value in use)",
    "interval": "time",
    "isr": "in-sync replicas",
    "isr_coverage": "what is known of the ISR before",
    "time_out": "for so long",
    "later": "time",
    "lead": "time",
    "leading.explanation": "What the first of the rebalances says",
    "leading.group_id": "group",
    "other_changes": " and others",
    "new": "new leader",
    "new_log_end": "offset",
    "delay_clause": " and how much later a death would be noticed",
    "others": "brokers",
    "outcome": "which controller became active, if any",
    "outage.broker": "broker",
    "outage.down_at:%H:%M:%S": "time of the outage",
    "cost": "number",
    "size": "how many rebalances",
    "poll_limit": "max.poll.interval.ms",
    "session_length": "time",
    "lookalike": "a member that may be the same",
    "member_count": "how many",
    "restarts": "so many restarts",
    "late_joins": " How many left members behind",
    "rhythm": " How it repeats",
    "seconds": "number",
    "session": " of its session timeout",
    "silence": "time",
    "silences": "so many silences were",
    "since_join": "time",
    "times": "so many times",
    "other_outages": " and others were down too",
    "topics": " and its topics changed",
    "total": "how many",
    "value": "smallest value that suffices",
    "wait": "time",
    "what": " up to a known offset",
    "reader_clause": " which the group reads",
    "who": "the member",
    "why_resigned": "what makes a controller of its mode resign",
}
"""Readable descriptions of the fields in sentences of rulings. A field that is not listed describes itself."""

_HOW_TO_FIND = (
    "To find the ruling behind a sentence of the report, search this page for words of the sentence beside its names,"
    " numbers and times. What differs from row to row stands in braces."
)


def sentence_of(predicate: Predicate[Any]) -> str:
    """The sentence of a predicate: the first line of its docstring."""
    return (predicate.__doc__ or "").partition("\n")[0]


def as_read(sentence: str) -> str:
    """A ruling's sentence with its fields in braces, in words."""

    def in_words(match: re.Match[str]) -> str:
        text = READ_AS.get(match[1], match[1])
        return f"{' ' if text.startswith(' ') else ''}{{{text.strip()}}}"

    return re.sub(r"\{([^{}]*)\}", in_words, sentence)


def causes_page(
    causes: Sequence[Cause], tables: Mapping[str, Sequence[Ruling[Any]]], declared: Mapping[int, str]
) -> str:
    """The page of the causes of rebalances, and of the rulings that decide them.

    Args:
        causes: The causes.
        tables: The tables of rulings, by the case in which they are asked.
        declared: Where each ruling is declared, by its id().
    """
    parts = [
        "The causes of `gold.rebalances`.",
        as_table(("Cause", "Means"), [(link(c), prose(c.meaning)) for c in causes]),
        "A verdict is reached by rulings. Each table is asked in one case; its rulings are tried in this order, and the"
        " first that holds decides. Each ruling has a real example, and one that only looks like it: a group of the"
        " sample night or of an excerpt in `tests/excerpts/` and the start of the rebalance, or lines made from Kafka's"
        " source in `tests/support/made_groups.py`.",
        _HOW_TO_FIND,
        as_table(
            ("Asked when", "Rulings in order"),
            [
                (when, ", ".join(f"{n} {' or '.join(map(link, r.codes))}" for n, r in enumerate(t, 1)))
                for when, t in tables.items()
            ],
        ),
    ]
    for cause in causes:
        noun = (
            ("Symptom", prose(cause.noun.symptom)),
            ("What to do", f"{prose(advise(cause, JAVA_MEMBER).text)} {link(cause, 'advice.md')} has other clients."),
            ("Source", prose(cause.noun.source)),
        )
        parts += [f"## {cause}", f"**{prose(cause.meaning)}**", _points(noun)]
        for when, table in tables.items():
            parts += [_ruling(when, n, table, declared) for n, ruling in enumerate(table) if cause in ruling.codes]
    return page("Causes", "kafka_hindsight/catalog/nouns/causes.py and kafka_hindsight/judgements/rebalances", parts)


def rulings_page(columns: Mapping[str, Mapping[str, Sequence[Ruling[Any]]]], declared: Mapping[int, str]) -> str:
    """The page of all rulings except those on causes of rebalances.

    Args:
        columns: The tables of rulings, by the column that they fill and the case in which they are asked.
        declared: Where each ruling is declared, by its id().
    """
    parts = [
        "A verdict is reached by rulings. The rulings of a table are tried in order, and the first that holds decides."
        f" The rulings on `{CAUSES_OF}` are on [their own page](causes.md). Each ruling names a captured case that"
        " it decides, and one that looks like it and that another ruling decides. `made:` marks a case made from"
        " Kafka's source, because no line of it has been captured.",
        _HOW_TO_FIND,
    ]
    for column, tables in columns.items():
        if column != CAUSES_OF:
            parts.append(f"## {column}")
            parts += [_ruling(when, n, t, declared) for when, t in tables.items() for n in range(len(t))]
    return page("Rulings", "kafka_hindsight/judgements", parts)


def _ruling(when: str, place: int, table: Sequence[Ruling[Any]], declared: Mapping[int, str]) -> str:
    """One ruling of a table: what it needs, what rules it out, and its cases."""
    ruling = table[place]
    before = f"ruling 1{f' to {place}' if place > 1 else ''} of the same table" if place else ""
    rules_out = [*(prose(sentence_of(p)).rstrip(".") for p in ruling.unless), *([before] if before else [])]
    points = (
        ("Needs", " ".join(prose(sentence_of(p)) for p in ruling.proof)),
        ("Ruled out by", "; ".join(rules_out) or "nothing else"),
        ("Holds here", code(ruling.cases[0])),
        ("Only looks so here", code(ruling.cases[1])),
        ("Source", prose(ruling.source)),
        ("Declared in", declared[id(ruling)]),
    )
    head = f"**When {when}, ruling {place + 1}: {ruling.confidence}.** {prose(as_read(ruling.sentence))}"
    return f"{head}\n\n{_points(points)}"


def _points(texts: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"- {name}: {text}" for name, text in texts)


def places() -> dict[int, str]:
    """Where each ruling is declared, by its id(): the module and the name of its table."""
    modules = (m.name for m in walk_packages(judgements.__path__, f"{judgements.__name__}."))
    return {id(ruling): place for name in modules for ruling, place in _declared_in(name)}


def _declared_in(module: str) -> Iterator[tuple[Ruling[Any], str]]:
    loaded = import_module(module)
    for name, declared_as in getattr(loaded, "__annotations__", {}).items():
        if "Ruling[" in str(declared_as) and isinstance(value := getattr(loaded, name, None), (list, tuple)):
            for number, ruling in enumerate((r for r in value if isinstance(r, Ruling)), start=1):
                yield ruling, f"{code(module.replace('.', '/') + '.py')}, {code(name)}, number {number}"
