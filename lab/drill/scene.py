"""One scenario while it is played: who plays which role, who is in the group, and what has been waited for."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from kafka_hindsight.judgements.groups.coordinators import offsets_partition_of
from lab.drill import disks
from lab.drill.admin import CONSUMERS, SHARES, STREAMS_OWN, Admin, AdminFault, Group, LivePartition
from lab.drill.cluster import DrillCluster
from lab.drill.frameworks import PROTOCOL, THREAD, ConnectMember, ShareMember, StreamsMember
from lab.drill.guards import CERTIFICATE, SECRET
from lab.drill.hosts import Hosts
from lab.drill.libraries import CONNECT, JAVA, SHARE, STREAMS
from lab.drill.members import DrillMember, JavaMember, ProgramMember
from lab.drill.names import DrawnNames
from lab.drill.node import Node
from lab.drill.producers import CanaryProgram, TransactionalProducer
from lab.drill.reads import RECORDS_READ, Place, Span, as_fields, read_folder
from lab.drill.steps import MAIN, OFFSETS, Scenario, Start
from lab.drill.steps_on_brokers import TakenOver
from lab.drill.steps_on_offsets import OnOffsets
from lab.drill.steps_on_transactions import Begin
from lab.drill.truth_file import TruthFile, TruthRow
from lab.drill.writers import Writer

FRAMEWORKS: Mapping[str, Callable[[Path, Mapping[str, str], Sequence[str]], DrillMember]] = {
    STREAMS: StreamsMember,
    CONNECT: ConnectMember,
    SHARE: ShareMember,
}
JOINED = "Successfully joined group"
_LOOK_EVERY = 0.5
_SETTLED_FOR = 1.0
_REST = (0.5, 2.5)


def _kind_of(start: Start) -> str | None:
    """The kind of the groups that a member forms, where it is one of its own."""
    if start.library == SHARE:
        return SHARES
    return STREAMS_OWN if start.config.get(PROTOCOL) == STREAMS else None


class SceneFault(Exception):
    """A scenario did not come to what it waited for: what was found, what was needed."""


@dataclass(frozen=True)
class DrillStage:
    """Parts that all scenarios of a drill share.

    `clients`: the members' logs; `over`: set when the drill is stopped; `hosts`: where a scenario needs them;
    `canaries`: None on a cluster that others run, and in lessons; `began`: when, by the monotonic clock.
    """

    cluster: DrillCluster
    admin: Admin
    truth: TruthFile
    clients: Path
    names: DrawnNames
    main: str
    member_config: Mapping[str, str]
    hosts: Hosts | None = None
    canaries: CanaryProgram | None = None
    over: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)


@dataclass
class Scene:
    """One scenario in the play.

    `ends`: when the certificate of each member ends, by the monotonic clock;
    `writes`: since when each writer writes, and to which topic;
    `present`: the members that the group should have, by role;
    `record_counts`: how many records the drill wrote into partition 0 of a topic, by role;
    `failed_partitions`: the partitions that brokers led whose directory failed;
    `canary_counts`: how many partitions of a topic have canaries, by role; `maintenance`: the act that declared it.
    """

    stage: DrillStage
    scenario: Scenario
    rng: random.Random
    group: str = ""
    clients: dict[str, str] = field(default_factory=dict)
    topics: dict[str, str] = field(default_factory=dict)
    brokers: dict[str, int] = field(default_factory=dict)
    members: dict[str, DrillMember] = field(default_factory=dict)
    producers: dict[str, TransactionalProducer] = field(default_factory=dict)
    writers: dict[str, Writer] = field(default_factory=dict)
    writes: dict[str, TruthRow] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)
    record_counts: dict[str, int] = field(default_factory=dict)
    failed_partitions: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    canary_counts: dict[str, int] = field(default_factory=dict)
    generation: int = -1
    last: TruthRow = field(default_factory=dict)
    maintenance: TruthRow = field(default_factory=dict)
    stop_event: threading.Event = field(default_factory=threading.Event)
    stopped_for: str = ""

    def __post_init__(self) -> None:
        self.group = self.stage.names.group()
        self.topics = {MAIN: self.stage.main, OFFSETS: OFFSETS}
        self.prefix = self.stage.names.topic()
        self.names = DrawnNames(self.rng)  # Scenes are played side by side: each draws its members' names by itself.
        self.brokers = dict(zip("xyz", self.rng.sample(sorted(self.stage.cluster.brokers), 3)))

    def act(self, action: str, **fields: Any) -> TruthRow:
        """Write down what is done next."""
        self.generation = self.newest_generation()
        self.last = self.stage.truth.write(action, **fields)
        return self.last

    def act_on(self, member: str, action: str, **fields: Any) -> TruthRow:
        """Write down what is done next to a member. What is said of a share group names no client."""
        who = {"group": self.group, "client": self.clients[member], "group_instance_id": self.instances.get(member)}
        if self.kind == SHARES:
            who = {"group": self.group, "member": self.clients[member]}
        return self.act(action, **who, **fields)

    @property
    def kind(self) -> str:
        """The kind of the scenario's group."""
        return next((kind for s in self.scenario.steps if isinstance(s, Start) and (kind := _kind_of(s))), CONSUMERS)

    @property
    def transactional_id(self) -> str:
        """The transactional id of the scenario's producers."""
        return f"{self.prefix}-writer"

    def topic(self, role: str) -> str:
        """The name of a topic by its role."""
        return self.topics.setdefault(role, f"{self.prefix}-{role}")

    def watch(self, role: str, partitions: int) -> None:
        """Start canaries on those of so many partitions of a topic that have none.

        Where the drill itself counts the records of partition 0, that partition gets none.
        """
        if self.stage.canaries:
            is_counted = any(role == getattr(s, "uncleanly", None) for s in self.scenario.steps)
            is_counted |= any(isinstance(s, (TakenOver, OnOffsets)) and s.topic == role for s in self.scenario.steps)
            self.stage.canaries.watch(
                self.topic(role), range(self.canary_counts.get(role, int(is_counted)), partitions)
            )
            self.canary_counts[role] = partitions

    def forget(self, role: str) -> None:
        """Stop the canaries of a topic that is about to be deleted."""
        if self.stage.canaries and self.canary_counts.pop(role, None):
            self.stage.canaries.forget(self.topic(role))

    def broker(self, role: str) -> int:
        """The broker that plays a role; who is coordinator or controller is asked once."""
        if role not in self.brokers:
            self.brokers[role] = self._cast(role)
        return self.brokers[role]

    def _cast(self, role: str) -> int:
        if role == "coordinator":
            return self.stage.admin.group(self.group, self.kind).coordinator
        if role == "transactions":
            return self.stage.admin.transaction_coordinator(self.transactional_id)
        if role == "bystander":  # It neither coordinates the group nor will after an automatic election.
            offsets = [p for p in self.stage.admin.topics() if p.topic == OFFSETS]
            place = offsets[offsets_partition_of(self.group, len(offsets))]
            return self.rng.choice(sorted(set(self.stage.cluster.brokers) - {place.leader, place.replicas[0]}))
        if role in ("other", "apart"):
            others = {self.brokers.get(r, -1) for r in ("other", "apart")} | {self.broker("controller")}
            return self.rng.choice(sorted(set(self.stage.cluster.brokers) - others))
        return self.stage.admin.controller(kraft=self.stage.cluster.layout != "zookeeper")

    def make(self, step: Start) -> DrillMember:
        """A member that has not joined yet."""
        if step.member not in self.clients:
            own = self.names.client(self.group) + (THREAD if step.library == STREAMS else "")
            self.clients[step.member] = self.clients[step.twin] if step.twin else own
        client = self.clients[step.member]
        if step.shows:
            self._introduce(step, client)
        config = self.config(step, client)
        log = self.stage.clients / f"{client}{'-2' if step.twin else ''}.log"
        topics = [self.topic(t) for t in step.topics]
        if framework := FRAMEWORKS.get(step.library):
            return framework(log, config, topics)
        place = (topics, self.pattern(step), self._within(step), log.with_suffix(".out") if step.traces else None)
        if step.library != JAVA:
            return ProgramMember(step.library, log, config, *place)
        cluster = self.stage.cluster
        return JavaMember(cluster.libs, cluster.version, log, config, *place)

    def _within(self, step: Start) -> Sequence[str]:
        """The beginning of a member's command on a host of its own."""
        return self.hosts.within(self.host(step.host)) if step.host else ()

    @property
    def hosts(self) -> Hosts:
        """The drill's hosts."""
        assert self.stage.hosts
        return self.stage.hosts

    def host(self, role: str) -> str:
        """The name of a host by its role: scenarios are played side by side, and each has its own."""
        return f"{self.group}-{role}"

    def on_host(self, role: str) -> list[str]:
        """The members that have been started on a host."""
        there = {s.member for s in self.scenario.steps if isinstance(s, Start) and s.host == role}
        return sorted(there & self.members.keys())

    def pattern(self, step: Start) -> str | None:
        """The pattern that a member subscribes to, which fits the scenario's own topics alone."""
        return f"{self.prefix}-{step.pattern}".replace(".", r"\.", self.prefix.count(".")) if step.pattern else None

    def config(self, step: Start, client: str) -> dict[str, str]:
        """The whole configuration of a member. Its times are the broker's but in classic groups."""
        are_brokers = step.library == SHARE or step.config.get(PROTOCOL) in ("consumer", "streams")
        times = {} if are_brokers else self.stage.member_config
        own = {
            **self.stage.cluster.reach(step.library),
            **self.credentials(step, client),
            "group.id": self.group,
            "client.id": client,
            "auto.offset.reset": "earliest",
        }
        return {**own, **times, **step.config}

    def credentials(self, step: Start, client: str) -> dict[str, str]:
        """The settings with which a member shows who it is, at the listener that asks."""
        guard, cluster = self.stage.cluster.guard, self.stage.cluster
        if not step.shows or not guard:
            return {}
        return {"bootstrap.servers": cluster.addresses(step.shows), **guard.of_client(step.shows, client, step.library)}

    def _introduce(self, step: Start, client: str) -> None:
        """Give a member all that it needs to show who it is, and the right to read."""
        guard = self.stage.cluster.guard
        assert guard
        user = f"CN={client}" if step.shows == CERTIFICATE else client
        self.stage.admin.welcome(user, SECRET, self.group, self.topic(MAIN))
        if step.shows == CERTIFICATE:
            self.ends[step.member] = time.monotonic() + step.lasts
            guard.certify(client, step.lasts)

    def settle(self, within: float) -> None:
        """Wait until the group has exactly the members it should have, and has had them for a second."""
        clients = tuple(sorted(self.clients[m] for m in self.present))
        group: Group | None = None
        since = 0.0
        for now in self._looks(within):
            with suppress(AdminFault):
                group = self.stage.admin.group(self.group, self.kind)
                if not self._is_settled(group, clients):
                    since = 0.0
                elif not since:
                    since = now
                elif now - since >= _SETTLED_FOR:
                    self.rest(self.rng.uniform(*_REST))
                    return
        raise SceneFault(
            f"Found after {within:.0f} s: group {self.group} {group and (group.state, group.members)}. "
            f"Needed: settled with {clients}."
        )

    @staticmethod
    def _is_settled(group: Group, clients: tuple[str, ...]) -> bool:
        states = ("stable",) if clients else ("empty", "dead")
        return group.members == clients and group.state.lower() in states

    def wait_for_generation(self, within: float) -> bool:
        """Whether a generation came that the group did not have before the last act."""
        return any(self.newest_generation() > self.generation for _ in self._looks(within))

    def wait_for_join(self, member: str, within: float) -> bool:
        """Whether a Java member sends JoinGroup again, as its own log says."""
        before = self.count_said(member, "(Re-)joining group")
        return any(self.count_said(member, "(Re-)joining group") > before for _ in self._looks(within))

    def wait_until_joined(self, member: str, before: int, within: float) -> None:
        """Wait until a Java member has joined once more than before: a static one's former self may still be there."""
        if not any(self.count_said(member, JOINED) > before for _ in self._looks(within)):
            raise SceneFault(f"Needed within {within:.0f} s: {self.clients[member]} joins. It did not.")

    def wait_for_owners(self, topic: str, within: float) -> dict[str, list[str]]:
        """What each member of the group says it owns, by client id, once no partition of a topic is left over."""
        name, owners = self.topic(topic), dict[str, list[str]]()
        partitions = sorted(f"{name}-{p.partition}" for p in self.stage.admin.topics() if p.topic == name)
        for _ in self._looks(within):
            owners = {self.clients[m]: self.members[m].owned() for m in sorted(self.present)}
            if sorted(p for own in owners.values() for p in own) == partitions:
                return owners
        raise SceneFault(f"Found after {within:.0f} s: {owners}. Needed: an owner for each of {partitions}.")

    def count_said(self, member: str, words: str) -> int:
        """How often a member's own log has these words."""
        log = self.stage.clients / f"{self.clients[member]}.log"
        return log.read_text(errors="replace").count(words) if log.exists() else 0

    def wait_for_lapse(self, topic: str, since: datetime, within: float) -> bool:
        """Whether the leader of partition 0 of a topic takes a replica out of the ISR in time, as its log says.

        Kafka cannot be asked while a broker is paused: an AdminClient may wait for that very broker.
        """
        shrinks = re.compile(rf"^\[(.{{23}})\].*\[Partition {re.escape(topic)}-0 .*?Shrinking ISR from", re.M)

        def last() -> str:
            logs = self.stage.cluster.logs.glob("broker-*/server.log*")
            return max((at for log in logs for at in shrinks.findall(log.read_text(errors="replace"))), default="")

        return any(last() > f"{since:%Y-%m-%d %H:%M:%S}" for _ in self._looks(within))

    def wait_for_line(self, logs: str, words: str, within: float) -> None:
        """Wait until one of these files of the nodes' logs has the words."""
        for _ in self._looks(within):
            if any(words in log.read_text(errors="replace") for log in self.stage.cluster.logs.glob(logs)):
                return
        raise SceneFault(f"Needed within {within:.0f} s: '{words}' in {logs}. It did not come.")

    def reads(self) -> dict[Place, list[Span]]:
        """What the members that trace have printed so far."""
        traces = {s.member for s in self.scenario.steps if isinstance(s, Start) and s.traces}
        return read_folder(self.stage.clients, [self.clients[m] for m in traces & self.clients.keys()])

    def wait_for_reads(self, topic: str, holds: Callable[[Sequence[Span]], bool], what: str, within: float) -> None:
        """Wait until what members printed of partition 0 of a topic is as it should be."""
        place, spans = (self.topic(topic), 0), list[Span]()
        for _ in self._looks(within):
            spans = self.reads().get(place, [])
            if holds(spans):
                return
        read = [(s.client, s.first, s.last) for s in spans]
        raise SceneFault(f"Found after {within:.0f} s: of {place[0]}-0 were read {read}. Needed: {what}.")

    def wait_until(self, holds: Callable[[], bool], what: str, within: float) -> None:
        """Wait until the cluster answers as it should."""
        for _ in self._looks(within):
            with suppress(AdminFault):
                if holds():
                    return
        raise SceneFault(f"Needed within {within:.0f} s: {what}. It did not come.")

    def newest_generation(self) -> int:
        """The newest generation, or group epoch, that a coordinator has reported of the group."""
        name = re.escape(self.group)
        generations = re.compile(
            rf"(?:Stabilized group {name} generation|\[GroupId {name}\] Bumped group epoch to"
            rf"|Group {name} with generation) (\d+)"
        )
        logs = self.stage.cluster.logs.glob("broker-*/server.log*")
        return max((int(n) for log in logs for n in generations.findall(log.read_text(errors="replace"))), default=-1)

    def wait_for_partitions(self, holds: Callable[[tuple[LivePartition, ...]], bool], what: str, within: float) -> None:
        """Wait until the cluster's partitions are as they should be."""
        for _ in self._looks(within):
            with suppress(AdminFault):
                if holds(self.stage.admin.topics()):
                    return
        raise SceneFault(f"Needed within {within:.0f} s: {what}. It did not come.")

    def wait_for_controller(self, within: float) -> None:
        """Wait until the quorum names a controller that is up."""
        for _ in self._looks(within):
            with suppress(AdminFault):
                if self.stage.cluster.brokers[self.stage.admin.controller(kraft=True)].is_running():
                    return
        raise SceneFault(f"Needed within {within:.0f} s: a controller. None was elected.")

    def wait_for_end(self, node: Node, within: float) -> None:
        """Wait until a process has ended by itself."""
        for _ in self._looks(within):
            if not node.is_running():
                return
        raise SceneFault(f"Needed within {within:.0f} s: {node.name} ends by itself. It runs on.")

    def rest(self, seconds: float) -> None:
        """Let time pass. Raises SceneFault where the scene is stopped meanwhile."""
        if self.stop_event.wait(seconds):
            raise SceneFault(self.stopped_for)

    def stop(self, why: str) -> None:
        """End the scene from another thread: whatever waits for one of its members is answered by the member's end."""
        self.stopped_for = why
        self.stop_event.set()
        self._end_members()

    def _looks(self, within: float) -> Iterator[float]:
        """Now and again until the time is over."""
        until = time.monotonic() + within
        while (now := time.monotonic()) < until:
            yield now
            self.rest(_LOOK_EVERY)

    def abandon(self, why: str) -> None:
        """The scenario has failed: what its last act should have brought is not known, and its members are killed.

        Nor is it known whether the member of that act had joined.
        """
        unsure = self.last.get("client")
        if self.last:
            self.stage.truth.leave_open(self.last, f"the scenario ended here: {why}")
        for member in sorted(self.members):
            has_joined = member in self.present and self.clients[member] != unsure
            expect = "session_expired_dead" if has_joined else None
            self.act_on(member, "member_kill9", expect=expect)
            self.members[member].end()

    def end(self) -> None:
        """End every member that is left, unless they run on.

        A scenario on brokers leaves the brokers running, but one for good.
        """
        if self.scenario.runs_on:
            return
        self._end_members()
        self._write_reads()
        if self.stage.over.is_set() or self.scenario.is_for_good:
            return
        if self.scenario.on_brokers:
            self._leave_running(self.stage.cluster)
        if self.stage.canaries:
            for role in self.canary_counts:
                self.stage.canaries.leave(self.topic(role))

    def _write_reads(self) -> None:
        """Write down what members read. The end of a transaction takes an offset that no member reads: it is left out.

        The books of a group and partition balance where what was read again, skipped and gone is known.
        """
        of_transactions = {self.topic(s.topic) for s in self.scenario.steps if isinstance(s, Begin)}
        for (topic, partition), spans in self.reads().items():
            if topic not in of_transactions:
                about = {"group": self.group, "topic": topic, "partition": partition, "spans": as_fields(spans)}
                self.stage.truth.write(RECORDS_READ, expect="books_balance", **about)

    def _end_members(self) -> None:
        for member in list(self.members.values()):
            member.end()
        for producer in list(self.producers.values()):
            producer.end()
        for writer in list(self.writers.values()):
            writer.end()

    def _leave_running(self, cluster: DrillCluster) -> None:
        for number, node in cluster.brokers.items():
            is_odd = disks.mend(cluster.log_dirs(number)) or node.environment
            if is_odd and node.is_running():
                self.stage.truth.write("broker_kill9", broker=number, expect="failover_crash")
                node.kill()
            node.environment = {}
        for node in cluster.others.values():
            self._run(node)
        for number, node in cluster.brokers.items():
            if not node.is_running():
                self.stage.truth.write("broker_start", broker=number)
            self._run(node)
        cluster.wait_until_up()

    @staticmethod
    def _run(node: Node) -> None:
        if node.is_running():
            node.resume()
        else:
            node.start()
