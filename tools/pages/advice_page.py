"""The page of all advice to groups: each cause, for each protocol and library, in sentences and commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kafka_hindsight.catalog.codes import Cause, ClientLibrary, Protocol, RemedySetting
from kafka_hindsight.knowledge.advice import MemberFacts, advise, change_words, changes_of, member_kinds
from kafka_hindsight.shared.grouping import grouped
from tools.pages.markdown import as_codes, as_table, code, page, prose

JAVA_MEMBER = MemberFacts(protocol=Protocol.CLASSIC, library=ClientLibrary.JAVA)
"""The member that the pages of causes and the runbook are about."""

_HEADINGS = ("Protocol", "Library", "Key: now -> new", "As it is written, or set", "How")

_NEEDS = {
    RemedySetting.SESSION_TIMEOUT: 12_000,
    RemedySetting.MAX_POLL_INTERVAL: 312_000,
    RemedySetting.STATIC_MEMBERSHIP: 25_000,
    RemedySetting.COOPERATIVE_ASSIGNMENT: None,
}
"""The times of the example: a silence, a batch, a restart."""

_EXAMPLE: Mapping[str, Any] = {"session_ms": 10_000, "heartbeat_ms": 5_000, "poll_ms": 300_000, "assignors": ("range",)}


def advice_page(causes: Sequence[Cause]) -> str:
    """The advice about each cause, and the settings that would help, as each library writes them."""
    parts = [
        "What a group is advised to do, by the cause of its rebalance, its protocol and the library of its members"
        " (`kafka_hindsight/knowledge/advice.py`). No setting is named that a member has not, and none is raised that"
        " is known to be long enough. `gold.rebalances.changes` and `gold.remedies.changes` have each setting to"
        " change. The [commands](advice_commands.md) were tried on real brokers.",
        "## Settings to change",
        "For a member whose session is 10 s, whose heartbeats come every 5 s, which may take 300 s between two polls"
        " and offers the assignor range. It was silent for 12 s, needed 312 s for a batch, and 25 s to restart.",
    ]
    for setting in RemedySetting:
        parts += [f"### {setting.noun.label}", as_table(_HEADINGS, _change_rows(setting))]
    for cause in causes:
        rows = [(protocol, prose(libraries), prose(text)) for protocol, libraries, text in _texts(cause)]
        commands = list(dict.fromkeys(c for facts in member_kinds() for c in advise(cause, facts).commands))
        parts += [f"## {cause}", as_table(("Protocol", "Library", "What to do"), rows)]
        parts.append(f"See how it is: {as_codes(commands)}.")
    return page("Advice", "kafka_hindsight/catalog/nouns/ and kafka_hindsight/knowledge/advice.py", parts)


def _change_rows(setting: RemedySetting) -> Iterator[tuple[str, ...]]:
    """A row for each protocol and change, with the libraries that write it so."""
    changes = [
        (facts.protocol, change, facts.library.noun.label)
        for facts in member_kinds()
        for change in changes_of(setting, replace(facts, **_EXAMPLE), _NEEDS[setting])
    ]
    for (protocol, change), rows in grouped(changes, lambda row: row[:2]).items():
        written = change.command or change.paste
        how = "; ".join(filter(None, (change.gain, change.how)))
        labels = prose(", ".join(row[2] for row in rows))
        yield code(protocol), labels, prose(change_words(change)), code(written) if written else "", prose(how)


def _texts(cause: Cause) -> Iterator[tuple[str, str, str]]:
    """Each protocol with the libraries that get the same advice, and that advice."""
    texts = [(facts.protocol, advise(cause, facts).text, facts.library.noun.label) for facts in member_kinds()]
    everywhere = len({text for _, text, _ in texts}) == 1
    if everywhere:
        yield "each", "each", texts[0][1]
        return
    for (protocol, text), rows in grouped(texts, lambda row: row[:2]).items():
        all_of_protocol = len(rows) == sum(row[0] == protocol for row in texts)
        yield code(protocol), "each" if all_of_protocol else ", ".join(row[2] for row in rows), text
