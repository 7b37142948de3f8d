"""Which alerts go where, and when not: the section [alerts] of hindsight.toml.

Receivers' URLs are never written there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from spark_jobs.alerts.model import Sighting
from spark_jobs.catalog.codes import FindingSeverity
from spark_jobs.shared.exits import BadInput

_ROUTE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_KNOWN = {
    "alerts": ("link", "routes", "mutes"),
    "routes": ("name", "severities", "quiet"),
    "quiet": ("from", "to", "zone"),
    "mutes": ("rule", "group", "cluster", "until", "why"),
}


@dataclass(frozen=True)
class Quiet:
    """Hours of a day in which a route waits; they may span midnight."""

    start: time
    end: time
    zone: str

    def holds(self, now: datetime) -> bool:
        """Whether it is quiet now."""
        at = now.astimezone(ZoneInfo(self.zone)).time()
        if self.start <= self.end:
            return self.start <= at < self.end
        return at >= self.start or at < self.end


@dataclass(frozen=True)
class Route:
    """Severities, and the receivers of their alerts: HINDSIGHT_ALERTS_<NAME>, or the connection
    hindsight_alerts_<name>.
    """

    name: str
    severities: tuple[str, ...]
    quiet: Quiet | None = None

    @property
    def variable(self) -> str:
        """The variable that holds its receivers."""
        return f"HINDSIGHT_ALERTS_{self.name.upper()}"

    @property
    def connection(self) -> str:
        """The Airflow connection that holds its receivers, as its password."""
        return f"hindsight_alerts_{self.name}"


@dataclass(frozen=True)
class Mute:
    """No alert for a rule, a group or a cluster, or for what fits all that are named, until an instant."""

    until: datetime
    why: str
    rule: str | None = None
    group: str | None = None
    cluster: str | None = None

    def covers(self, seen: Sighting, now: datetime) -> bool:
        """Whether it silences this now."""
        group = seen.subject if seen.subject_kind == "group" else None
        pairs = ((self.rule, seen.rule), (self.group, group), (self.cluster, seen.cluster))
        return now < self.until and all(wanted in (None, found) for wanted, found in pairs)


DEFAULT_ROUTE = Route("default", ("critical", "warning"))
"""Where no route is named: HINDSIGHT_ALERTS_DEFAULT hears of everything that is not for information only."""


@dataclass(frozen=True)
class AlertSettings:
    """Routes, mutes, and the address of a report's page as a template with {cluster} and {page}."""

    routes: tuple[Route, ...] = (DEFAULT_ROUTE,)
    mutes: tuple[Mute, ...] = ()
    link: str = ""


def settings_of(said: Mapping[str, Any]) -> AlertSettings:
    """The settings of a file's [alerts]. Raises: BadInput with every problem at once."""
    return _Reading().settings(said)


class _Reading:
    """One pass that gathers every problem before it complains."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def settings(self, said: Mapping[str, Any]) -> AlertSettings:
        self.known("alerts", said)
        routes = tuple(self.route(r) for r in self.tables(said, "routes"))
        names = [r.name for r in routes]
        for name in sorted({n for n in names if names.count(n) > 1}):
            self.problems.append(f"[alerts]: the route {name!r} is there twice. Needed: one of each name.")
        read = AlertSettings(
            routes=routes or (DEFAULT_ROUTE,),
            mutes=tuple(self.mute(m) for m in self.tables(said, "mutes")),
            link=str(said.get("link", "")),
        )
        if self.problems:
            raise BadInput(*self.problems)
        return read

    def tables(self, said: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        tables = said.get(name, [])
        if isinstance(tables, list) and all(isinstance(t, Mapping) for t in tables):
            return tables
        self.problems.append(f"[alerts]: {name} is not a list of tables. Needed: [[alerts.{name}]] for each.")
        return []

    def known(self, what: str, said: Mapping[str, Any]) -> None:
        for key in sorted(set(said) - set(_KNOWN[what])):
            hint = " Receivers belong into the environment or an Airflow connection." if "url" in key else ""
            self.problems.append(f"[alerts] {what}: {key!r} is not known. Needed: {', '.join(_KNOWN[what])}.{hint}")

    def route(self, said: Mapping[str, Any]) -> Route:
        self.known("routes", said)
        name, severities = str(said.get("name", "")), said.get("severities", [])
        if not _ROUTE.fullmatch(name):
            self.problems.append(f"[alerts] routes: name is {name!r}. Needed: small letters, digits and underscores.")
        if not isinstance(severities, list) or not severities or set(map(str, severities)) - set(FindingSeverity):
            self.problems.append(
                f"[alerts] route {name}: severities is {severities!r}. Needed: some of {', '.join(FindingSeverity)}."
            )
            severities = []
        return Route(name, tuple(map(str, severities)), self.quiet(name, said["quiet"]) if "quiet" in said else None)

    def quiet(self, route: str, said: Any) -> Quiet | None:
        try:
            self.known("quiet", said)
            read = Quiet(time.fromisoformat(said["from"]), time.fromisoformat(said["to"]), said.get("zone", "UTC"))
            ZoneInfo(read.zone)
            return read
        except (KeyError, TypeError, ValueError, OSError):
            self.problems.append(
                f"[alerts] route {route}: quiet is {said!r}. Needed: "
                '{from = "22:00", to = "07:00", zone = "Europe/Berlin"}.'
            )
            return None

    def mute(self, said: Mapping[str, Any]) -> Mute:
        self.known("mutes", said)
        until, named = said.get("until"), {k: str(said[k]) for k in ("rule", "group", "cluster") if k in said}
        if not isinstance(until, datetime):
            self.problems.append(
                f"[alerts] mutes: until is {until!r}. Needed: when it ends, such as 2026-12-01T06:00:00Z: "
                "a mute without an end is forgotten."
            )
            until = datetime.min.replace(tzinfo=UTC)
        if not named:
            self.problems.append("[alerts] mutes: one names nothing. Needed: a rule, a group, a cluster, or several.")
        aware = until if until.tzinfo else until.replace(tzinfo=UTC)
        return Mute(aware, str(said.get("why", "")), **named)
