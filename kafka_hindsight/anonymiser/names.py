"""The names that logs and readings hold: found by the patterns that read their lines, and by how Kafka prints names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kafka_hindsight.anonymiser.pseudonyms import (
    AFTER,
    BEFORE,
    Phrase,
    Pseudonyms,
    addresses_in,
    is_ambiguous,
    is_id,
    is_kafkas,
    stem_of,
    words_of,
)
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.logs.forms import Form
from kafka_hindsight.logs.reading import RecordReading, read_record
from kafka_hindsight.logs.text_records import records_of

GROUPS, TOPICS, CLIENTS, HOSTS, USERS, PATHS = "groups", "topics", "clients", "hosts", "users", "paths"

_COLUMNS = {
    **dict.fromkeys(("group_id", "group", "groupId"), GROUPS),
    **dict.fromkeys(("topic", "subscription"), TOPICS),
    **dict.fromkeys(("member_id", "old_member_id", "leader_member_id", "client_id", "instance_id", "client"), CLIENTS),
    **dict.fromkeys(("member", "members"), CLIENTS),
    **dict.fromkeys(("host", "hostname", "pod_name", "node_name"), HOSTS),
}
"""The kinds of names by the columns of events, and by the fields of readings and records in JSON."""

_PAIRS = ("end_offsets", "begin_offsets", "stable_offsets", "committed", "committed_epochs", "assignment")
"""Fields of readings with lists that begin with a topic."""

_PARTITIONS = (Kind.CLIENT_ASSIGNED, Kind.CLIENT_REVOKED, Kind.CLIENT_LOST, Kind.CLIENT_ASSIGNMENT_FINISHED)
"""The kinds of events whose detail lists partitions."""

_LISTS = {Kind.CLIENT_SUBSCRIBED: TOPICS, Kind.CLIENT_STARTED: TOPICS, Kind.GROUPS_DELETED: GROUPS}
"""The kinds of events whose detail lists names, and what they name."""

_NAME = r"[A-Za-z0-9._-]+"
_PRINTED = tuple(
    (kind, re.compile(regex))
    for kind, regex in (
        (GROUPS, rf"\b(?:groupId|group\.id) ?= ?({_NAME})"),
        (TOPICS, rf"\btopic(?:Name)?=({_NAME})"),
        (TOPICS, rf"\b[Pp]artition[= ]({_NAME})-\d+(?![\w.-])"),
        (CLIENTS, rf"\b(?:client|transactional|groupInstance|instance|group\.instance)(?:Id|\.id) ?= ?({_NAME})"),
        (HOSTS, rf"://({_NAME}):\d"),
        (HOSTS, rf"(?<![\w./-])({_NAME})/(?:\d{{1,3}}\.){{3}}\d"),
        (
            HOSTS,
            r"(?<![\w.:/@-])((?=[A-Za-z0-9-]*[.-])[A-Za-z][A-Za-z0-9.-]*(?<!java)(?<!scala)(?<!py)(?<!go)):\d{4,5}\b",
        ),
        (HOSTS, rf"\bhost(?:\.name)? ?= ?({_NAME})"),
        (USERS, r"\bUser:([^\s,;:()\[\]{}'\"=]+)(?!=)"),
        (USERS, rf"\b(?:user\.name|username) ?= ?\\?[\"']?({_NAME})"),
    )
)
"""How Kafka prints names in lines that no pattern reads, too. Kafka's own words are not taken for hosts there."""

_DISTINGUISHED = re.compile(r"\bUser:((?:[A-Za-z.\d]+=[^,=()\n]{1,64},\s?)*[A-Za-z.\d]+=[^\s,()\[\]{}'\"]+)")
"""A principal by its certificate. Source: SslPrincipalMapper, whose default is the distinguished name."""

_LONGEST = 255
"""Characters of a part of a path, as file systems allow."""

_PATH = re.compile(r"(?<![\w./:<])/(?:[\w@+.-]+/)*[\w@+.-]+")
_NOT_NAMES = frozenset(
    ("null", "None", "Some", "__consumer_offsets", "__transaction_state", "__cluster_metadata", "__share_group_state")
)
"""What Kafka prints in place of a name, and the names of its own topics."""
_ENDS = re.compile(r"-?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}(?:-[0-9a-f]{12})?$")
"""The UUID of a member id; without its last group, which a list of partitions may have cut off as a number."""


@dataclass
class Names:
    """The names in some files, each with its kind; the addresses; the places of names that may be Kafka's own words."""

    kinds: dict[str, str] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)
    phrases: set[Phrase] = field(default_factory=set)
    partition_counts: set[int] = field(default_factory=set)
    """How many partitions `__consumer_offsets` has, as readings show."""

    def add(self, kind: str, name: Any) -> None:
        """Add a name. A member id loses its UUID, a host its address."""
        if not isinstance(name, str):
            return
        for part in name.split("/") if kind == HOSTS else (_ENDS.sub("", name),):
            is_known = self.kinds.get(part, PATHS) != PATHS
            if words_of(part) and part not in _NOT_NAMES and not is_known and not is_id(part):
                self.kinds[part] = kind
            if kind == GROUPS and part in self.kinds:  # a topic may have its name
                self.groups.add(part)

    def add_path(self, path: str) -> None:
        """Add the parts of a path, without those that consist of Kafka's words."""
        for part in path.split("/"):
            if len(part) > _LONGEST or part.endswith((".jar", ".class")):
                continue
            if not all(map(is_kafkas, words_of(stem := stem_of(part)))):
                self.add(PATHS, stem)

    def pseudonyms(self) -> Pseudonyms:
        """Pseudonyms for these names and addresses."""
        return Pseudonyms(self.kinds, self.groups, self.addresses, self.phrases, self.partition_counts)

    def add_lines(self, lines: bytes, form: Form) -> None:
        """Add the names in whole lines of one file: those that patterns read, and those that any line prints."""
        text = lines.decode(errors="replace")
        self._add_printed(text)
        for value in _values_in(text):
            with suppress(RecursionError):
                self._add_value(value, "")
        for record in records_of(lines, form, None):
            reading = read_record(*record)
            if reading.pattern:
                self._add_event(reading)

    def _add_printed(self, text: str) -> None:
        """Add what a text prints as names, whatever wrote it."""
        self.addresses.update(addresses_in(text))
        for kind, regex in _PRINTED:
            for name in set(regex.findall(text)):
                if kind != HOSTS or not is_ambiguous(name):
                    self.add(kind, name.rstrip("."))
        for principal in set(_DISTINGUISHED.findall(text)):
            for value in re.findall(r"=([^,]+)", principal):
                self.add(USERS, value)
        for path in set(_PATH.findall(text)):
            self.add_path(path)

    def _add_event(self, reading: RecordReading) -> None:
        assert reading.pattern is not None
        match = reading.pattern.compiled.match(reading.message)
        for group, number in reading.pattern.compiled.groupindex.items():
            for kind, name, offset in _names_in(reading.pattern.kind, group, reading.groups[number - 1] or ""):
                self.add(kind, name)
                if match and is_ambiguous(name):
                    begin = match.start(group) + offset
                    before, end = reading.message[max(begin - BEFORE, 0) : begin], begin + len(name)
                    self.phrases.add((before, name, reading.message[end : end + AFTER]))

    def _add_value(self, value: Any, field_name: str) -> None:
        if isinstance(value, str):
            if kind := _COLUMNS.get(field_name):
                self.add(kind, value)
        elif isinstance(value, list):
            for item in value:
                is_pair = field_name in _PAIRS and isinstance(item, list) and item
                self._add_value(item[0] if is_pair else item, "topic" if is_pair else field_name)
        elif isinstance(value, dict):
            if value.get("topic") == OFFSETS_TOPIC and isinstance(value.get("partitions"), list):
                self.partition_counts.add(len(value["partitions"]))
            if (kind := f"{value.get('resource_type')}s".lower()) in (TOPICS, GROUPS):
                self.add(kind, value.get("resource"))
            for name, item in value.items():
                self._add_value(item, name)


def _names_in(event: Kind, column: str, text: str) -> Iterator[tuple[str, str, int]]:
    """The names in the column of an event: the kind of each, its text, and where it begins."""
    if event in _LISTS and column == "detail":
        yield from ((_LISTS[event], m[0], m.start()) for m in re.finditer(_NAME, text))
    elif event in (*_PARTITIONS, Kind.ELECTION_STARTED) and column in ("detail", "members"):
        yield from ((TOPICS, m[1], m.start()) for m in re.finditer(rf"(?<![\w.-])({_NAME})-\d+(?![\w.-])", text))
    elif column == "members":
        yield from ((CLIENTS, m[0], m.start()) for m in re.finditer(r"[^,\s][^,]*", text))
    elif column in _COLUMNS:
        yield _COLUMNS[column], text, 0


def _values_in(text: str) -> Iterator[Any]:
    """The values of a document of JSON, or of lines of it."""
    for part in (text, *text.split("\n")):
        if part.lstrip()[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                yield json.loads(part)
                if part is text:
                    return
