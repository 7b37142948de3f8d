"""The steps that a scenario can do to a cluster: small frozen objects, nothing but data.

Members, topics and brokers go by the role they play in the scenario; the play gives them names that say nothing.
`expect` is what the audit should call the act (lab.drill.act_expectations has the words); None: it is not scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from lab.drill.guards import GUARDS
from lab.drill.libraries import JAVA
from lab.drill.machine import HOSTS

MAIN = "main"
"""The topic that every scenario shares; every other topic but this one and OFFSETS is the scenario's own."""

OFFSETS = "__consumer_offsets"
"""Where coordinators keep their groups."""


@dataclass(frozen=True, kw_only=True)
class DrillStep:
    """One thing done, or one condition waited for. `needs`: what not every machine can do (lab.drill.machine)."""

    expect: str | None = None
    needs: ClassVar[str | None] = None


@dataclass(frozen=True, kw_only=True)
class OnMember(DrillStep):
    """Done to one member of the scenario's group."""

    member: str


@dataclass(frozen=True, kw_only=True)
class Start(OnMember):
    """A member starts.

    `config` stands above what the play gives every member. `settles`: wait until it has joined; `refused`: the group is
    full and does not take it; `host`: the host that it runs on, with others or alone; `shows`: how it shows who it is
    (lab.drill.guards); `lasts`: after so many seconds its certificate ends; `twin`: the member whose client id it has;
    `traces`: it prints what it reads (lab.drill.reads).
    """

    topics: tuple[str, ...] = (MAIN,)
    pattern: str | None = None
    library: str = JAVA
    config: Mapping[str, str] = field(default_factory=dict)
    settles: bool = True
    refused: bool = False
    host: str | None = None
    shows: str | None = None
    lasts: int = 3600
    twin: str | None = None
    traces: bool = False
    expect: str | None = "member_join"


@dataclass(frozen=True, kw_only=True)
class Close(OnMember):
    """It closes and its process ends."""

    expect: str | None = "member_leave"


@dataclass(frozen=True, kw_only=True)
class Kill(OnMember):
    """Its process is killed."""

    expect: str | None = "session_expired_dead"


@dataclass(frozen=True, kw_only=True)
class Pause(OnMember):
    """Its process is stopped (SIGSTOP)."""

    expect: str | None = "session_expired_alive"


@dataclass(frozen=True, kw_only=True)
class Resume(OnMember):
    """Its process goes on (SIGCONT)."""

    expect: str | None = "rejoin_after_expiry"


@dataclass(frozen=True, kw_only=True)
class Slow(OnMember):
    """Its next record takes so long."""

    ms: int
    expect: str | None = "max_poll_exceeded"


@dataclass(frozen=True, kw_only=True)
class Subscribe(OnMember):
    """It subscribes to other topics."""

    topics: tuple[str, ...]
    expect: str | None = "subscription_changed"


@dataclass(frozen=True, kw_only=True)
class EnforceRebalance(OnMember):
    """The application asks for a rebalance."""

    expect: str | None = "operator_rebalance"


@dataclass(frozen=True, kw_only=True)
class Configure(OnMember):
    """A worker of Connect is asked to give a connector so many tasks; one that is not there yet is created."""

    connector: str
    tasks: int
    expect: str | None = "connector_changed"


@dataclass(frozen=True, kw_only=True)
class Refuse(OnMember):
    """Brokers refuse it from then on, or hold it back: the group loses it."""


@dataclass(frozen=True, kw_only=True)
class WithdrawPassword(Refuse):
    """Its user is deleted: brokers ask for the password again after seconds (connections.max.reauth.ms)."""

    expect: str | None = "not_authenticated"


@dataclass(frozen=True, kw_only=True)
class EndCertificate(Refuse):
    """Wait until its certificate has ended. Connections that are open stay open."""

    expect: str | None = "not_authenticated"


@dataclass(frozen=True, kw_only=True)
class Deny(Refuse):
    """Its user may not read the group any more, or the topic that all share."""

    what: str
    expect: str | None = "access_denied"


@dataclass(frozen=True, kw_only=True)
class LimitRequests(Refuse):
    """It may keep the brokers busy for next to no time."""

    expect: str | None = "throttled"


@dataclass(frozen=True, kw_only=True)
class LimitFetches(OnMember):
    """It may fetch next to nothing. Its heartbeats are let through."""


@dataclass(frozen=True, kw_only=True)
class ExceedQuota(DrillStep):
    """A program whose client id has a quota writes records, or creates topics, until it is held back."""

    program: str
    quota: str


@dataclass(frozen=True, kw_only=True)
class Reported(DrillStep):
    """The audit should raise a finding of this rule that names the object, or quotes a line that does, whenever it is.

    `about`: the role of a member, a program or a broker, or `group`. With `no_finding` this rule does not name it, or
    no rule about access where none is given.
    """

    about: str
    rule: str | None = None
    expect: str | None = "finding"


@dataclass(frozen=True, kw_only=True)
class RemoveByAdmin(OnMember):
    """An administrator removes a static member."""

    expect: str | None = "removed_by_admin"


@dataclass(frozen=True, kw_only=True)
class RemoveAll(DrillStep):
    """An administrator removes every member of the group."""

    expect: str | None = "removed_by_admin"


@dataclass(frozen=True, kw_only=True)
class Gone(DrillStep):
    """Wait until the group has settled without the member."""

    member: str
    within: float = 70


@dataclass(frozen=True, kw_only=True)
class Back(DrillStep):
    """Wait until the group has settled with the member again."""

    member: str
    within: float = 70


@dataclass(frozen=True, kw_only=True)
class Settled(DrillStep):
    """Wait until the group has settled with the members it should have."""

    within: float = 70


@dataclass(frozen=True, kw_only=True)
class Rebalanced(DrillStep):
    """Wait until the group has a generation that it did not have before the last act.

    `else_note`: what to write where none comes, for acts that do not rebalance in every version: their expectation is
    then withdrawn. Without it the scenario has failed.
    """

    within: float = 30
    else_note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Owners(DrillStep):
    """Each member is asked what it owns, once the group's members together own a topic."""

    topic: str
    within: float = 40
    expect: str | None = "owners"


@dataclass(frozen=True, kw_only=True)
class CutHost(DrillStep):
    """A host loses its network, and its members live on. `expect` is said of each of them."""

    host: str
    expect: str | None = "session_expired_alive"


@dataclass(frozen=True, kw_only=True)
class JoinHost(DrillStep):
    """A host that was cut off has its network again. `expect` is said of each of its members."""

    host: str
    expect: str | None = "rejoin_after_expiry"


@dataclass(frozen=True, kw_only=True)
class HostGone(DrillStep):
    """Wait until the group has settled without the members of a host that was cut off."""

    host: str
    within: float = 70
    expect: str | None = "host_silent"


@dataclass(frozen=True, kw_only=True)
class FellBehind(DrillStep):
    """The group had stood still since its last act, for longer than readings are apart, while records came."""

    expect: str | None = "fell_behind"


@dataclass(frozen=True, kw_only=True)
class SlowHost(DrillStep):
    """No more than so much passes the link of a host, such as 16kbit; what does not fit is dropped. None: all again."""

    host: str
    rate: str | None = None
    expect: str | None = "no_rebalance"


@dataclass(frozen=True, kw_only=True)
class Rejoining(DrillStep):
    """Wait until a Java member has sent a JoinGroup that it had not sent when this step began."""

    member: str
    within: float = 20


@dataclass(frozen=True, kw_only=True)
class Wait(DrillStep):
    """Let time pass."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Until(DrillStep):
    """Let time pass until the drill has lasted so long."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class CreateTopic(DrillStep):
    """A topic.

    `placed`: the brokers of each partition by role, the preferred leader first. With `expect` the group of the scenario
    subscribes to it by pattern.
    """

    topic: str
    partitions: int = 3
    replicas: int = 3
    placed: tuple[tuple[str, ...], ...] = ()
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SetTopic(DrillStep):
    """One setting of a topic."""

    topic: str
    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class DeleteTopic(DrillStep):
    """A topic that the group of the scenario reads goes."""

    topic: str
    expect: str | None = "topic_deleted"


@dataclass(frozen=True, kw_only=True)
class AddPartitions(DrillStep):
    """A topic that the group of the scenario reads grows."""

    topic: str
    to: int
    expect: str | None = "partitions_added"


KRAFT_ANSWERS = (3, 3)
"""The first KRaft that names its controller (KIP-836) and takes a request for preferred leaders."""


@dataclass(frozen=True)
class Scenario:
    """An exercise: what a person learns from it, what it needs, what is done.

    `since`: the first Kafka that can do it, `kraft_since`: the first that can without ZooKeeper, `before`: the first
    that cannot. `layouts`: where it makes sense; `most_brokers`: a larger cluster keeps its majority; `is_last`:
    afterwards the cluster is another one; `is_for_good`: what it stops stays down, so nothing is played afterwards;
    `settings`: what the brokers of its drill are set to; `runs_on`: its members run on until the drill is over.
    """

    name: str
    sentence: str
    steps: tuple[DrillStep, ...]
    since: tuple[int, ...] = (2, 6)
    kraft_since: tuple[int, ...] = (3, 0)
    before: tuple[int, ...] = (5,)
    layouts: tuple[str, ...] = ("combined", "separate", "zookeeper")
    most_brokers: int = 9
    on_brokers: bool = False
    is_last: bool = False
    is_for_good: bool = False
    runs_on: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def libraries(self) -> frozenset[str]:
        """The client libraries of its members and producers."""
        return frozenset(library for step in self.steps if (library := getattr(step, "library", "")))

    @property
    def needs(self) -> frozenset[str]:
        """The needs that the machine must meet."""
        starts = [step for step in self.steps if isinstance(step, Start)]
        of_members = {HOSTS for step in starts if step.host} | {GUARDS for step in starts if step.shows}
        return frozenset({step.needs for step in self.steps if step.needs} | of_members)

    def fits(self, version: str, layout: str, brokers: int = 3) -> bool:
        """Whether a cluster of that version, layout and size can play it."""
        number = tuple(int(part) for part in version.split("."))
        first = self.since if layout == "zookeeper" else max(self.since, self.kraft_since)
        return first <= number < self.before and layout in self.layouts and brokers <= self.most_brokers
