"""Which alerts go where, and when not: the section [alerts] of hindsight.toml.

Receivers' URLs are never written there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from kafka_hindsight.alerts.model import Sighting
from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.settings.clusters import read_file
from kafka_hindsight.settings.keys import TEXT, TEXTS, Key, some_of, tables_of
from kafka_hindsight.settings.owners import Owner, fits
from kafka_hindsight.shared.exits import BadInput

_ROUTE = re.compile(r"[a-z][a-z0-9_]{0,39}")
SENDS = ("pages", "digest")
"""What a route may send."""

_ABOUT = {
    "clusters": Key("names of clusters, with * for any text", TEXTS),
    "labels": Key("labels, of which a cluster has one", TEXTS),
    "groups": Key("groups, with * for any text", TEXTS),
    "topics": Key("topics, with * for any text", TEXTS),
}
KEYS: Mapping[str, Mapping[str, Key]] = {
    "alerts": {
        "link": Key("the address of a report's page, with {cluster} and {page}", TEXT),
        "routes": Key("which alerts go to which receivers", tables_of("routes")),
        "owners": Key("who owns which clusters, groups and topics", tables_of("owners")),
        "mutes": Key("what is not sent until an instant", tables_of("mutes")),
    },
    "routes": {
        "name": Key("names its connection hindsight_alerts_<name>", {**TEXT, "pattern": f"^{_ROUTE.pattern}$"}),
        "severities": Key("how grave what is sent is", {**some_of(FindingSeverity), "minItems": 1}),
        "quiet": Key("the hours of a day in which it waits", {"$ref": "#/$defs/quiet"}),
        "sends": Key("pages, which cannot wait, the digest, or both", some_of(SENDS)),
        "rules": Key("rules, with * for any text", TEXTS),
        "owner": Key("what it is about: what an owner owns", TEXT),
        **_ABOUT,
    },
    "owners": {"name": Key("the owner, as routes name it", TEXT), **_ABOUT},
    "quiet": {
        "from": Key("when it begins, such as 22:00", TEXT),
        "to": Key("when it ends, such as 07:00", TEXT),
        "zone": Key("the zone of these times, such as Europe/Berlin; default UTC", TEXT),
    },
    "mutes": {
        "rule": Key("a rule", TEXT),
        "group": Key("a group", TEXT),
        "cluster": Key("a cluster", TEXT),
        "until": Key("when it ends, such as 2026-12-01T06:00:00Z", {**TEXT, "format": "date-time"}),
        "why": Key("why it is not sent", TEXT),
    },
}
"""What each table of [alerts] may hold."""

NEEDED = {"routes": ("name", "severities"), "owners": ("name",), "quiet": ("from", "to"), "mutes": ("until",)}
"""What each has to hold."""


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
class Patterns:
    """Names of clusters, groups and topics, with `*` for any text. Empty: all of them.

    `labelled`: the clusters that have one of the labels that were given; None where none was.
    """

    clusters: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    labelled: tuple[str, ...] | None = None

    def matches(self, seen: Sighting) -> list[bool]:
        """Whether each of the kinds of patterns that are given fits."""
        named = ((self.clusters, (seen.cluster,)), (self.groups, seen.groups), (self.topics, seen.topics))
        labelled = [seen.cluster in self.labelled] if self.labelled is not None else []
        return [*(fits(patterns, names) for patterns, names in named if patterns), *labelled]


@dataclass(frozen=True)
class Route:
    """What is sent where, and its receivers: HINDSIGHT_ALERTS_<NAME>, or the connection hindsight_alerts_<name>.

    All that is given has to fit: `severities`, `rules`, `about`; of what an `owner` owns, one pattern. `sends`: pages,
    which are what cannot wait, and the digest, which is all else.
    """

    name: str
    severities: tuple[str, ...]
    quiet: Quiet | None = None
    sends: tuple[str, ...] = SENDS
    rules: tuple[str, ...] = ()
    about: Patterns = Patterns()
    owner: Owner | None = None

    def wants(self, seen: Sighting) -> bool:
        """Whether an alert goes this way."""
        asked = [
            seen.severity in self.severities,
            "digest" in self.sends or self.pages(seen),
            not self.rules or fits(self.rules, [seen.rule]),
            *self.about.matches(seen),
        ]
        return all(asked) and (self.owner is None or self.owner.owns(seen.cluster, seen.groups, seen.topics))

    def pages(self, seen: Sighting) -> bool:
        """Whether an alert is sent by itself."""
        return seen.cannot_wait and "pages" in self.sends

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
    """Routes, mutes, owners, and the address of a report's page as a template with {cluster} and {page}."""

    routes: tuple[Route, ...] = (DEFAULT_ROUTE,)
    mutes: tuple[Mute, ...] = ()
    link: str = ""
    owners: tuple[Owner, ...] = ()


def owners_of(path: Path | None) -> list[dict[str, Any]]:
    """The owners that a clusters file names, as Settings takes them.

    Edge case: none where the file cannot be used. The look for alerts says why, and no night stops over it.
    """
    try:
        return [owner.as_dict() for owner in settings_of(read_file(path)).owners]
    except BadInput:
        return []


def settings_of(file: Mapping[str, Any]) -> AlertSettings:
    """The settings of a file: its [alerts], and the labels of its [[clusters]].

    Raises: BadInput with every problem at once.
    """
    # What is wrong in the tables of clusters is said where the schedule reads them.
    tables = [c for c in file.get("clusters", ()) if isinstance(c, Mapping) and isinstance(c.get("labels", []), list)]
    labels = {str(c.get("name")): [*map(str, c.get("labels", []))] for c in tables}
    return _Reading(labels).settings(file.get("alerts", {}))


class _Reading:
    """One pass that gathers every problem before it complains."""

    def __init__(self, labels: Mapping[str, Sequence[str]]) -> None:
        self.labels = labels
        self.problems: list[str] = []
        self.owners: dict[str, Owner] = {}

    def settings(self, said: Mapping[str, Any]) -> AlertSettings:
        self.known("alerts", said)
        self.owners = {str(o.get("name", "")): self.owner(o) for o in self.tables(said, "owners")}
        routes = tuple(self.route(r) for r in self.tables(said, "routes"))
        names = [r.name for r in routes]
        for name in sorted({n for n in names if names.count(n) > 1}):
            self.problems.append(f"[alerts]: the route {name!r} is there twice. Needed: one of each name.")
        read = AlertSettings(
            routes=routes or (DEFAULT_ROUTE,),
            mutes=tuple(self.mute(m) for m in self.tables(said, "mutes")),
            owners=tuple(self.owners.values()),
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
        for key in sorted(set(said) - set(KEYS[what])):
            hint = " Receivers belong into the environment or an Airflow connection." if "url" in key else ""
            self.problems.append(f"[alerts] {what}: {key!r} is not known. Needed: {', '.join(KEYS[what])}.{hint}")

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
        return Route(
            name,
            tuple(map(str, severities)),
            self.quiet(name, said["quiet"]) if "quiet" in said else None,
            self.sends(name, said),
            self.texts(f"route {name}", said, "rules"),
            self.patterns(f"route {name}", said),
            self.owned(name, said.get("owner")),
        )

    def sends(self, route: str, said: Mapping[str, Any]) -> tuple[str, ...]:
        sends = self.texts(f"route {route}", said, "sends") or SENDS
        if set(sends) - set(SENDS):
            self.problems.append(f"[alerts] route {route}: sends is {list(sends)}. Needed: some of {', '.join(SENDS)}.")
        return sends

    def owned(self, route: str, owner: Any) -> Owner | None:
        if owner is not None and owner not in self.owners:
            known = ", ".join(self.owners) or "a table [[alerts.owners]] of that name"
            self.problems.append(f"[alerts] route {route}: owner is {owner!r}. Needed: {known}.")
        return self.owners.get(owner)

    def owner(self, said: Mapping[str, Any]) -> Owner:
        self.known("owners", said)
        name = str(said.get("name", ""))
        read = self.patterns(f"owner {name}", said)
        if not name or read == Patterns():
            self.problems.append("[alerts] owners: one has no name or owns nothing. Needed: a name, and what is owned.")
        clusters = (*read.clusters, *(read.labelled or ()))
        return Owner(name=name, clusters=clusters, groups=read.groups, topics=read.topics)

    def patterns(self, what: str, said: Mapping[str, Any]) -> Patterns:
        clusters, groups, topics = (self.texts(what, said, name) for name in ("clusters", "groups", "topics"))
        return Patterns(clusters, groups, topics, self.labelled(what, said) if "labels" in said else None)

    def labelled(self, what: str, said: Mapping[str, Any]) -> tuple[str, ...]:
        wanted = self.texts(what, said, "labels")
        for label in sorted({*wanted} - {label for labels in self.labels.values() for label in labels}):
            self.problems.append(f"[alerts] {what}: no cluster has the label {label!r}. Needed: one of [[clusters]].")
        return tuple(name for name, labels in self.labels.items() if {*wanted} & {*labels})

    def texts(self, what: str, said: Mapping[str, Any], name: str) -> tuple[str, ...]:
        given = said.get(name, [])
        if isinstance(given, list) and all(isinstance(text, str) for text in given):
            return tuple(given)
        self.problems.append(f"[alerts] {what}: {name} is {given!r}. Needed: a list of texts.")
        return ()

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
