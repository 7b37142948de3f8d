"""One frozen settings object, checked all at once, from the environment, the command line or JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from kafka_hindsight.settings.maintenance import EXAMPLE, maintenance_of
from kafka_hindsight.shared.exits import BadInput


@dataclass(frozen=True)
class Input:
    """One thing a user may set: its field in Settings, its name on make's command line, and what it means."""

    field: str
    variable: str
    meaning: str


INPUTS: tuple[Input, ...] = (
    Input("logs", "LOGS", "folder, file or URI of the brokers' logs, also with {date} and {hour}, or source://NAME"),
    Input(
        "client_logs",
        "CLIENT_LOGS",
        "folder, file or URI of the clients' logs, also with {date} and {hour}, or source://NAME",
    ),
    Input("snapshots", "SNAPSHOTS", "JSON-lines file or URI with readings of the cluster"),
    Input("cluster", "CLUSTER", "name of the cluster in the lake; default: the id that snapshots or logs name"),
    Input("lake", "LAKE", "folder or URI where the tables go"),
    Input("window_from", "FROM", "first instant of the window, such as 2026-11-20T00:00Z; goes with TO"),
    Input("window_to", "TO", "instant at which the window ends; without FROM and TO: everything in the input"),
    Input("glob", "GLOB", "which files to read, such as *.log,*.gz; default: what brokers and clients write"),
    Input("logs_tz", "LOGS_TZ", "zone of the clocks that wrote LOGS; default UTC"),
    Input("client_tz", "CLIENT_TZ", "zone of the clocks that wrote CLIENT_LOGS; default UTC"),
    Input("pattern", "PATTERN", "layout of the lines in LOGS, as log4j has it, such as '%d %-5p [%t] %c - %m%n'"),
    Input("client_pattern", "CLIENT_PATTERN", "layout of the lines in CLIENT_LOGS, as log4j or logback have it"),
    Input("look_ahead_hours", "LOOK_AHEAD_HOURS", "how long after the window its rebalances may end; default 2"),
    Input("look_back_hours", "LOOK_BACK_HOURS", "how far before the window open state is looked for; default 24"),
    Input("maintenance", "MAINTENANCE", f"when maintenance was declared: {EXAMPLE}; several with ; between them"),
)

KEEP = Input(
    "keep", "KEEP", "days that are kept, by layer, table or landing: bronze=90,gold=400,landing=14; default: everything"
)
"""What maintenance alone asks."""

LOOK_AHEAD_HOURS = 2
LOOK_BACK_HOURS = 24
MOST_HOURS = 24 * 31

SOURCE = "source://"
"""How a place begins that is a source; its name follows (kafka_hindsight/sources)."""

DATED = re.compile(r"\{(date|hour)(?::([^{}]+))?\}")
"""What stands in a place for a day and an hour of UTC, such as 2026-11-20 and 05, or as `{date:%Y/%m/%d}` says it."""

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

PLACES = ("snapshots", "lake")
"""The fields of Settings that name what Spark opens."""


@dataclass(frozen=True)
class Settings:
    """What one run works on. Paths are absolute or URIs; a missing window means everything in the input.

    `read_to_end`: the last record of a file that still grows is taken as it stands, instead of waiting for the next.
    `owners`: who owns which clusters, groups and topics (settings/owners.py); the page names them.
    """

    logs: str
    lake: str
    run_id: str
    run_at: datetime
    client_logs: str | None = None
    snapshots: str | None = None
    cluster: str | None = None
    window_from: datetime | None = None
    window_to: datetime | None = None
    glob: str | None = None
    logs_tz: str = "UTC"
    client_tz: str = "UTC"
    pattern: str | None = None
    client_pattern: str | None = None
    look_ahead_hours: int = LOOK_AHEAD_HOURS
    look_back_hours: int = LOOK_BACK_HOURS
    maintenance: str | None = None
    read_to_end: bool = False
    keep: str | None = None
    owners: Sequence[Mapping[str, Any]] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Settings out of raw values by field name; None and blank text count as not given.

        Raises: BadInput with one sentence for each problem, all at once.
        """
        return _Reading(given).settings()

    @property
    def places(self) -> tuple[str | None, ...]:
        """What Spark opens."""
        return tuple(getattr(self, field) for field in PLACES)

    def to_json(self) -> str:
        """The settings as `Settings.of(json.loads(...))` reads them back."""
        return json.dumps({f.name: _plain(getattr(self, f.name)) for f in fields(self)})

    def described(self) -> str:
        """The settings for people to read, one a line, secrets masked."""
        values = ((f.name, _plain(getattr(self, f.name))) for f in fields(self))
        return "\n".join(f"{name} = {masked(str(value))}" for name, value in values if value is not None)


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the variables of INPUTS say, by field name; blank ones are left out."""
    said = {i.field: environment.get(i.variable, "").strip() for i in INPUTS}
    return {field: text for field, text in said.items() if text}


def missing_inputs(settings: Settings) -> list[str]:
    """A sentence for each local input that does not exist. What a URI names is seen when Spark reads it."""
    return [
        f"{i.variable} names {value}, and nothing is there. Needed: {i.meaning}. Check the path."
        for i in INPUTS
        if i.field in ("logs", "client_logs", "snapshots")
        and (value := getattr(settings, i.field))
        and not is_uri(value)
        and not is_dated(value)
        and not Path(value).exists()
    ]


def is_uri(place: str) -> bool:
    """Whether a place names a file system of its own, so that only Spark can look into it."""
    return bool(_URI.match(place))


def is_dated(place: str) -> bool:
    """Whether the dates of a run stand in a place."""
    return bool(DATED.search(place))


def is_source(place: str) -> bool:
    """Whether a place is a source: logs outside of files, which land in the lake before they are read."""
    return place.startswith(SOURCE)


_SECRET_PARAMETER = r"(?i:[?&;][^=&;]*(?:key|secret|token|sig|password|credential)[^=&;]*=)"
_CREDENTIALS = re.compile(rf"(?<=://)[^/@\s]*:[^/@\s]*@|{_SECRET_PARAMETER}[^&;\s]")
"""What a URI carries to open a file system. A name alone is none: abfss://container@account..."""


def masked(text: str) -> str:
    """The text without passwords, tokens and keys that a URI may carry."""
    text = re.sub(r"(?<=://)[^/@\s]+@", "***@", text)
    return re.sub(rf"({_SECRET_PARAMETER})[^&;\s]+", r"\1***", text)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


class _Reading:
    """One pass over raw values that gathers every problem before it complains."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.problems: list[str] = []
        self.variables = {i.field: i.variable for i in (*INPUTS, KEEP)}

    def settings(self) -> Settings:
        known = {f.name for f in fields(Settings)}
        for name in sorted(set(self.given) - known):
            self.problems.append(f"{name!r} is not a setting. Needed: one of {', '.join(sorted(known))}.")
        window_from, window_to = self.window()
        read = Settings(
            logs=self.place("logs", needed="a folder, a file or a URI with the brokers' logs") or "",
            lake=self.place("lake", needed="a folder or a URI for the tables") or "",
            run_id=self.run_id(),
            run_at=self.instant("run_at", needed=True) or datetime.min.replace(tzinfo=UTC),
            client_logs=self.place("client_logs"),
            snapshots=self.place("snapshots"),
            cluster=self.text("cluster"),
            window_from=window_from,
            window_to=window_to,
            glob=self.text("glob"),
            logs_tz=self.zone("logs_tz"),
            client_tz=self.zone("client_tz"),
            pattern=self.text("pattern"),
            client_pattern=self.text("client_pattern"),
            look_ahead_hours=self.hours("look_ahead_hours", LOOK_AHEAD_HOURS),
            look_back_hours=self.hours("look_back_hours", LOOK_BACK_HOURS),
            maintenance=self.maintenance(),
            read_to_end=self.given.get("read_to_end") is True,
            keep=self.text("keep"),
            owners=self.given.get("owners") or None,
        )
        if self.problems:
            raise BadInput(*self.problems)
        return read

    def called(self, field: str) -> str:
        return self.variables.get(field, field)

    def text(self, field: str) -> str | None:
        value = self.given.get(field)
        if value is None or not str(value).strip():
            return None
        text = str(value).strip()
        if _CONTROL.search(text):
            self.problems.append(
                f"{self.called(field)} holds a control character: {text!r}. Needed: printable text. Retype it."
            )
        return text

    def place(self, field: str, needed: str | None = None) -> str | None:
        text = self.text(field)
        if text is None:
            if needed:
                self.problems.append(f"{self.called(field)} is not given. Needed: {needed}.")
            return None
        if is_uri(text) and _CREDENTIALS.search(text):
            self.problems.append(
                f"{self.called(field)} is {masked(text)}, with a password or a key. Needed: a URI without one, since"
                " command lines, Airflow's tables and logs show it. Give the key as spark.hadoop.fs... in"
                " HINDSIGHT_SPARK_CONF."
            )
        return text if is_uri(text) else os.path.abspath(os.path.expanduser(text))

    def run_id(self) -> str:
        text = self.text("run_id") or ""
        if not _RUN_ID.fullmatch(text):
            self.problems.append(f"run_id is {text!r}. Needed: letters, digits, dot, dash and underscore.")
        return text

    def instant(self, field: str, needed: bool = False) -> datetime | None:
        value = self.given.get(field)
        text = value.isoformat() if isinstance(value, datetime) else self.text(field)
        if text is None:
            if needed:
                self.problems.append(f"{self.called(field)} is not given. Needed: an instant.")
            return None
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            self.problems.append(
                f"{self.called(field)} is {text!r}. Needed: an ISO instant, such as 2026-11-20T00:00Z; "
                "without a zone it is UTC."
            )
            return None
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)

    def window(self) -> tuple[datetime | None, datetime | None]:
        before = len(self.problems)
        start, end = self.instant("window_from"), self.instant("window_to")
        if len(self.problems) > before:
            return None, None
        if (start is None) != (end is None):
            given, other = ("FROM", "TO") if end is None else ("TO", "FROM")
            self.problems.append(f"{given} is given and {other} is not. Needed: both, or neither for everything.")
        elif start is not None and end is not None and start >= end:
            self.problems.append(
                f"FROM is {start.isoformat()} and TO is {end.isoformat()}. Needed: a FROM that lies before TO."
            )
        return start, end

    def zone(self, field: str) -> str:
        name = self.text(field) or "UTC"
        try:
            ZoneInfo(name)
        except (OSError, ValueError, KeyError):
            self.problems.append(
                f"{self.called(field)} is {name!r}. Needed: a zone of the IANA database, such as Europe/Berlin or UTC."
            )
        return name

    def maintenance(self) -> str | None:
        text = self.text("maintenance")
        try:
            maintenance_of(text)
        except BadInput as problem:
            self.problems += problem.sentences
        return text

    def hours(self, field: str, default: int) -> int:
        text = self.text(field)
        if text is None:
            return default
        if not text.isascii() or not text.isdigit() or int(text) > MOST_HOURS:
            self.problems.append(f"{self.called(field)} is {text!r}. Needed: whole hours from 0 to {MOST_HOURS}.")
            return default
        return int(text)
