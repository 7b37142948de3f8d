"""Groups with all that was witnessed of them: the excerpts of tests/excerpts/groups, and the sample night's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kafka_hindsight.catalog.kinds import CLIENT_KINDS, GROUP_KINDS
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.controllers import controller_epochs_of
from kafka_hindsight.judgements.brokers.topic_changes import topic_changes
from kafka_hindsight.judgements.rebalances import GroupContext, GroupHistory, rebuild_group
from kafka_hindsight.knowledge.reasons import name_in_member_id
from tests.support.nights import EXCERPTS
from tools.plain_reader import read_logs

GROUPS = EXCERPTS / "groups"
SAMPLE = Path(__file__).parents[2] / ".samples" / "night-4.1"
EXCERPT_NAMES = sorted(p.name for p in GROUPS.iterdir())


@dataclass(frozen=True)
class Witnessed:
    """One group: the events that name it, and what its cluster tells all groups."""

    group_id: str
    events: tuple[Event, ...]
    context: GroupContext

    def history(self) -> GroupHistory:
        return rebuild_group(self.group_id, self.events, self.context)

    def of(self, *origins: str) -> Witnessed:
        """What those witnesses alone tell."""
        return replace(self, events=tuple(e for e in self.events if e.origin in origins))

    def without(self, line_ids: Iterable[str]) -> Witnessed:
        """The group as it would be told had those lines not been written."""
        gone = set(line_ids)
        return self._where(lambda line_id: line_id not in gone)

    def only(self, line_ids: Iterable[str]) -> Witnessed:
        """The group as those lines alone tell it."""
        kept = set(line_ids)
        return self._where(lambda line_id: line_id in kept)

    def _where(self, holds: Callable[[str], bool]) -> Witnessed:
        changes = [c for c in self.context.topic_changes if holds(c.event.line_id)]
        return replace(
            self,
            events=tuple(e for e in self.events if holds(e.line_id)),
            context=replace(self.context, topic_changes=changes),
        )


def witnessed(folder: Path) -> list[Witnessed]:
    """The groups of a folder that holds logs/ and clients/, as the job gathers their events."""
    brokers = read_logs(folder / "logs", "broker", "night")[0]
    clients = read_logs(folder / "clients", "client", "night")[0] if (folder / "clients").exists() else []
    instants = [e.happened_at for e in brokers or clients]  # as the job takes the window where no broker wrote an event
    if not instants:
        return []
    changes = topic_changes(brokers, controller_epochs_of(brokers))
    context = GroupContext("night", min(instants), max(instants), changes)
    named = [e for e in (*brokers, *_with_clients(clients)) if e.kind in GROUP_KINDS or e.kind in CLIENT_KINDS]
    homes = _homes(named)
    by_group: dict[str, list[Event]] = defaultdict(list)
    for event in named:
        home = homes.get(event.client_id or "", set())
        group = event.group_id or (next(iter(home)) if len(home) == 1 else None)
        if group is not None:
            by_group[group].append(replace(event, group_id=group))
    return [Witnessed(group, tuple(events), context) for group, events in sorted(by_group.items())]


def _homes(events: Sequence[Event]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for event in events:
        client = _client(event)
        if event.group_id and client:
            found[client].add(event.group_id)
    return found


def _client(event: Event) -> str | None:
    return event.client_id or (None if event.instance_id else name_in_member_id(event.member_id))


def _with_clients(events: Sequence[Event]) -> list[Event]:
    """The lines of clients, each with its own client, or with the one that its log names."""
    named = defaultdict[str, set[str | None]](set)
    for event in events:
        named[event.source].add(_client(event))
    alone = {source: next(iter(found - {None})) for source, found in named.items() if len(found - {None}) == 1}
    return [replace(e, client_id=_client(e) or alone.get(e.source)) for e in events]


@cache
def excerpt(name: str) -> Witnessed:
    """The one group of an excerpt."""
    (group,) = witnessed(GROUPS / name)
    return group


@cache
def sample_night() -> tuple[Witnessed, ...]:
    """Every group of the sample night."""
    return tuple(g for g in witnessed(SAMPLE) if any(e.origin == "broker" for e in g.events))
