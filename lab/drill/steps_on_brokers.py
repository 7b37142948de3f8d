"""The steps of a scenario on brokers, controllers and partitions: nothing but data, as in lab.drill.steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lab.drill.guards import GUARDS
from lab.drill.machine import CLOCKS
from lab.drill.steps import MAIN, DrillStep


@dataclass(frozen=True, kw_only=True)
class OnBroker(DrillStep):
    """Done to one broker, by its role.

    A role is `coordinator` (of the scenario's group), `transactions` (the coordinator of its transactions),
    `controller`, `other` and `apart` (two different ones that are not the controller), or one of `x`, `y`, `z`, which
    are three different brokers.

    `undecided`: what the audit may call it, and need not.
    """

    broker: str
    undecided: str | None = None


@dataclass(frozen=True, kw_only=True)
class KillBroker(OnBroker):
    """Its process is killed."""

    expect: str | None = "failover_crash"


@dataclass(frozen=True, kw_only=True)
class StopBroker(OnBroker):
    """It shuts down under control."""

    expect: str | None = "failover_orderly"


@dataclass(frozen=True, kw_only=True)
class StopAll(DrillStep):
    """Every broker shuts down under control, all at once."""

    expect: str | None = "failover_planned"


@dataclass(frozen=True, kw_only=True)
class StartAll(DrillStep):
    """Every broker starts again."""


@dataclass(frozen=True, kw_only=True)
class DeclareMaintenance(DrillStep):
    """From now on an operator says that work is done on the cluster."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class EndMaintenance(DrillStep):
    """The work that was declared is done."""


@dataclass(frozen=True, kw_only=True)
class PauseBroker(OnBroker):
    """Its process is stopped (SIGSTOP)."""

    expect: str | None = "failover_unresponsive"


@dataclass(frozen=True, kw_only=True)
class ResumeBroker(OnBroker):
    """Its process goes on (SIGCONT)."""


@dataclass(frozen=True, kw_only=True)
class StartBroker(OnBroker):
    """It starts again. `uncleanly`: the topic whose partition 0 it must take over though it has not every record."""

    uncleanly: str | None = None


@dataclass(frozen=True, kw_only=True)
class FailStart(OnBroker):
    """It is started so often, and each start fails. `why`: a code of broker_outages.start_failure."""

    why: str
    times: int = 1
    expect: str | None = "failed_start"


@dataclass(frozen=True, kw_only=True)
class NewDisks(OnBroker):
    """Its disks are replaced by empty ones, formatted for this cluster; it is not running."""


@dataclass(frozen=True, kw_only=True)
class Upgrade(OnBroker):
    """It starts with the newest Kafka from now on."""


@dataclass(frozen=True, kw_only=True)
class SetClock(OnBroker):
    """From its next start on its clock is so many seconds ahead of the others'; 0: as they are."""

    ahead: int
    needs: ClassVar[str] = CLOCKS


@dataclass(frozen=True, kw_only=True)
class Certify(OnBroker):
    """From its next start on it has a certificate of its own at a listener, which ends after so many seconds."""

    listener: str
    lasts: int = 80_000
    needs: ClassVar[str] = GUARDS


@dataclass(frozen=True, kw_only=True)
class Advertise(OnBroker):
    """From its next start on clients with a password are sent to this host; None: to its own again."""

    host: str | None = None
    needs: ClassVar[str] = GUARDS


@dataclass(frozen=True, kw_only=True)
class UsePassword(OnBroker):
    """From its next start on it reaches the other brokers by a password."""

    needs: ClassVar[str] = GUARDS


@dataclass(frozen=True, kw_only=True)
class WithdrawBrokerPassword(OnBroker):
    """That password is withdrawn until the other brokers have taken it out of an ISR, and is given back then."""

    topic: str
    within: float = 60
    expect: str | None = "follower_refused"


@dataclass(frozen=True, kw_only=True)
class RotateLogs(DrillStep):
    """The log files of brokers, or of every node where none is named, are rotated.

    `keeps`: the rotated ones stay; else what was written since the last time is gone.
    """

    brokers: tuple[str, ...] = ()
    keeps: bool = True


@dataclass(frozen=True, kw_only=True)
class AddController(DrillStep):
    """A controller of KRaft starts beside a cluster on ZooKeeper, to take it over."""


@dataclass(frozen=True, kw_only=True)
class Bridge(OnBroker):
    """From its next start on a broker on ZooKeeper registers with the controller of KRaft too."""


@dataclass(frozen=True, kw_only=True)
class TakeOver(DrillStep):
    """From the next start of a broker on the controller of KRaft takes over: all of them register with it."""

    expect: str | None = "controller_change"


@dataclass(frozen=True, kw_only=True)
class Migrated(DrillStep):
    """Wait until the controller of KRaft has taken over."""

    within: float = 90


@dataclass(frozen=True, kw_only=True)
class ToKraft(OnBroker):
    """From its next start on it is a broker of KRaft."""


@dataclass(frozen=True, kw_only=True)
class FinishMigration(DrillStep):
    """The controller starts again without ZooKeeper, which ends."""


@dataclass(frozen=True, kw_only=True)
class QuorumBack(DrillStep):
    """Wait until a majority of the controllers has elected one again; before, too few were up."""

    within: float = 60
    expect: str | None = "quorum_lost"


@dataclass(frozen=True, kw_only=True)
class Detected(OnBroker):
    """Wait until no partition counts the broker among its in-sync replicas."""

    within: float = 90


@dataclass(frozen=True, kw_only=True)
class InSync(DrillStep):
    """Wait until every partition has a leader and all its replicas."""

    within: float = 150


@dataclass(frozen=True, kw_only=True)
class OnController(DrillStep):
    """Done to the controller that stands beside the brokers. `how`: the act of lab.drill.node.Node."""

    action: ClassVar[str]
    how: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class KillController(OnController):
    """Its process is killed."""

    action, how = "controller_kill9", "kill"


@dataclass(frozen=True, kw_only=True)
class StopController(OnController):
    """It shuts down in order."""

    action, how = "controller_shutdown", "stop"


@dataclass(frozen=True, kw_only=True)
class PauseController(OnController):
    """Its process is stopped (SIGSTOP)."""

    action, how = "controller_sigstop", "pause"


@dataclass(frozen=True, kw_only=True)
class ResumeController(OnController):
    """Its process goes on (SIGCONT)."""

    action, how = "controller_sigcont", "resume"


@dataclass(frozen=True, kw_only=True)
class StartController(OnController):
    """It starts again, and follows itself in a new epoch."""

    action, how = "controller_start", "start"
    expect: str | None = "controller_change"


@dataclass(frozen=True, kw_only=True)
class Imbalance(DrillStep):
    """Leaders stand elsewhere than they should, and a reading is due that shows it."""

    expect: str | None = "imbalance"


@dataclass(frozen=True, kw_only=True)
class PreferredElection(DrillStep):
    """An administrator gives the partitions of a topic back to their first replicas."""

    topic: str = MAIN
    expect: str | None = "preferred_election"


@dataclass(frozen=True, kw_only=True)
class Reassign(DrillStep):
    """An administrator moves partition 0 of a topic to other brokers."""

    topic: str
    to: tuple[str, ...]
    expect: str | None = "reassignment"


@dataclass(frozen=True, kw_only=True)
class Offline(DrillStep):
    """A topic of which no replica is left."""

    topic: str
    expect: str | None = "offline_partition"


@dataclass(frozen=True, kw_only=True)
class Produce(DrillStep):
    """Records for partition 0 of a topic, of so many bytes each. `refused`: none of them may be taken."""

    topic: str
    count: int
    acks: str = "all"
    bytes: int = 10
    refused: bool = False


@dataclass(frozen=True, kw_only=True)
class FailDirectory(OnBroker):
    """Log directories of a broker go, as a disk does.

    `directory`: `metadata` (the first one, where KRaft keeps its metadata too), `data` (the second one), or `all`.
    """

    directory: str = "data"
    expect: str | None = "log_dir_failed"


@dataclass(frozen=True, kw_only=True)
class Unled(OnBroker):
    """Wait until the broker leads none of the partitions that its failed directory holds."""

    within: float = 90


@dataclass(frozen=True, kw_only=True)
class Halted(OnBroker):
    """Wait until its process has ended by itself."""

    within: float = 60


@dataclass(frozen=True, kw_only=True)
class MendDirectories(OnBroker):
    """Its directories are there again, with what they held; it sees them when it starts next."""


@dataclass(frozen=True, kw_only=True)
class Throttle(OnBroker):
    """As a follower of a topic it may fetch next to nothing: once it is out of the ISR it stays out, alive.

    Nothing throttles a follower that is in sync. Source: AbstractFetcherThread, shouldFollowerThrottle.
    """

    topic: str


@dataclass(frozen=True, kw_only=True)
class Unthrottle(OnBroker):
    """It may fetch as fast as it can again."""

    topic: str


@dataclass(frozen=True, kw_only=True)
class StillOut(OnBroker):
    """Look which partitions of a topic have it out of their ISR. Where none has, what follows is not too early."""

    topic: str


@dataclass(frozen=True, kw_only=True)
class Lapsed(DrillStep):
    """Wait until partition 0 of a topic has lost the paused broker from its ISR. Much later it may be missed."""

    topic: str
    within: float = 9


@dataclass(frozen=True, kw_only=True)
class Rolled(DrillStep):
    """The brokers have been restarted one after the other.

    `too_early`: those that were stopped before the one before them was back in every ISR.
    """

    order: tuple[str, ...] = ("x", "y", "z")
    too_early: tuple[str, ...] = ()
    expect: str | None = "brokers_rolled"


@dataclass(frozen=True, kw_only=True)
class Balanced(DrillStep):
    """Wait until the controller has given every partition of the shared topic back to its first replica by itself."""

    within: float = 330
    expect: str | None = "automatic_election"


@dataclass(frozen=True, kw_only=True)
class CancelReassignment(DrillStep):
    """The move of partition 0 of a topic is called off."""

    topic: str
    expect: str | None = "no_failover"


@dataclass(frozen=True, kw_only=True)
class Undershot(DrillStep):
    """Partition 0 of a topic, which lost a replica and refused records, has it back.

    Its topic is to be deleted soon: then nothing else adds to the time that it had too few.
    """

    topic: str
    expect: str | None = "under_min_isr"


@dataclass(frozen=True, kw_only=True)
class TakenOver(OnBroker):
    """Wait until the broker leads partition 0 of a topic.

    What the leader before it took since `Produce` with acks=1 is not there: it will cut it off when it comes back.
    """

    topic: str
    within: float = 90
    expect: str | None = "records_truncated"
