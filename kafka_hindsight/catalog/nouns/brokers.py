"""The absences of brokers, and starts that fail, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.tones import Tone


@dataclass(frozen=True, kw_only=True)
class OutageNoun(Noun):
    """One kind of absence in words. `verb` says how the broker went away, to follow its name: `broker 2 crashed`."""

    label: str
    tone: Tone
    verb: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class StartFailureNoun(Noun):
    """One reason why a start failed in words. `clause` follows a colon: `its start failed: a setting was wrong`."""

    clause: str
    advice: str


# fmt: off
class OutageKind(NounCode):
    """Kind of a broker's absence."""

    noun: OutageNoun

    CONTROLLED_SHUTDOWN = OutageNoun(
        code="controlled_shutdown", label="controlled shutdown", tone=Tone.PROTOCOL, verb="was shut down",
        meaning="It had a controlled shutdown.",
        advice="Find out what stopped it, if it was not declared: a liveness probe, an eviction, a node that is drained"
        " or reclaimed, an autoscaler and an operator all end a broker by SIGTERM. Declare maintenance (MAINTENANCE)"
        " where it was meant.",
    )
    CRASH = OutageNoun(
        code="crash", label="crash", tone=Tone.BROKER, verb="crashed",
        meaning="It ended without a shutdown, or before its shutdown was over.",
        advice="Find out why the process ended: its last lines, its exit code, the kernel's log (killed when memory ran"
        " out), the state of its host. It recovers its logs at the next start: let it finish before the next stop.",
    )
    UNRESPONSIVE = OutageNoun(
        code="unresponsive", label="alive, but unresponsive", tone=Tone.BROKER, verb="stopped responding",
        meaning="It was alive, and the controller did not hear it.",
        advice="The process ran, but the controller received no heartbeat: look for long pauses (GC, a suspended host,"
        " a disk that hangs) and for a network partition between the broker and the controller.",
    )
    FAILED_START = OutageNoun(
        code="failed_start", label="failed start", tone=Tone.BROKER, verb="could not start",
        meaning="It could not start.",
        advice="Read the last lines that the broker wrote: they name what it could not do, such as reach the controller"
        " quorum, open a log directory or bind a port. Mend that, then start the broker again.",
    )
    UNKNOWN = OutageNoun(
        code="unknown", label="cause not known", tone=Tone.UNKNOWN, verb="went away",
        meaning="The evidence does not show which.",
        advice="Give Hindsight the broker's own log for this time, where there is one: it shows whether the process"
        " ended or was unresponsive. While its machine is off, a broker writes none.",
    )


LOG_DIRS_FAILED = OutageNoun(
    code=OutageKind.CRASH, label="log directory failed", tone=Tone.BROKER,
    verb="halted because its log directory failed",
    meaning="It halted because its log directory failed.",
    advice="Look at the disk of these log directories: whether it is mounted, has room, and can be read and written,"
    " and whether something else removes or renames files there. Kafka supports no log directories on Windows's file"
    " systems. Mend or replace it, then start the broker again.",
)
"""A crash whose lines show that a log directory had failed."""


class StartFailure(NounCode):
    """Why the start of a broker failed; the most specific first."""

    noun: StartFailureNoun

    NOT_AUTHENTICATED = StartFailureNoun(
        code="not_authenticated",
        clause="it could not authenticate with the controllers",
        meaning="It could not authenticate with the controllers.",
        advice="Renew the certificate or the password of the controller listener: openssl x509 -enddate shows when one"
        " ends.",
    )
    ID_TAKEN = StartFailureNoun(
        code="id_taken",
        clause="its id was registered already",
        meaning="Its id was registered already: for its former process, or for another broker.",
        advice="Where its former process has just ended, wait until its session is over (zookeeper.session.timeout.ms,"
        " broker.session.timeout.ms) and start it again. Else look whether it still runs, or another broker has the"
        " same id.",
    )
    NOT_REGISTERED = StartFailureNoun(
        code="not_registered",
        clause="no controller registered it in time, or ZooKeeper did not answer",
        meaning="No controller registered it in time, or ZooKeeper did not answer.",
        advice="Check that most controllers run and take its certificate or password, and that the broker reaches them"
        " as controller.quorum.voters, controller.quorum.bootstrap.servers or zookeeper.connect names them.",
    )
    OTHER_CLUSTER = StartFailureNoun(
        code="other_cluster",
        clause="its disk belongs to another cluster",
        meaning="Its disk belongs to another cluster.",
        advice="Compare cluster.id in the meta.properties of its log directories with the cluster's id: either the"
        " wrong disk is mounted, or the broker is pointed at the wrong controllers.",
    )
    PORT_IN_USE = StartFailureNoun(
        code="port_in_use",
        clause="a port that it listens on was taken, or an address is not this host's",
        meaning="Another process listened on its port.",
        advice="Find the process that holds the port: it may be the former broker, which has not ended. Check"
        " listeners.",
    )
    DIRECTORY_LOCKED = StartFailureNoun(
        code="directory_locked",
        clause="another process of the broker still ran, and held its log directories",
        meaning="Another process of it still ran, and held its log directories.",
        advice="Stop the process that runs before you start another one, or give the other one an id, directories and"
        " ports of its own.",
    )
    OUT_OF_MEMORY = StartFailureNoun(
        code="out_of_memory",
        clause="its memory was too small",
        meaning="Its memory was too small.",
        advice="Give it a larger heap (KAFKA_HEAP_OPTS), or its container more memory than the heap.",
    )
    CONFIGURATION = StartFailureNoun(
        code="configuration",
        clause="a setting was wrong, or the file of the settings was not found",
        meaning="A setting was wrong.",
        advice="Correct the setting, or the path, that the exception names.",
    )
    LOG_DIR_FAILED = StartFailureNoun(
        code="log_dir_failed",
        clause="a log directory could not be used, or was not formatted",
        meaning="A log directory could not be used, or was not formatted.",
        advice="Look at the disk of the directory: whether it is mounted, has room, and can be read and written. A new"
        " one is formatted with kafka-storage.sh.",
    )
    EXCEPTION = StartFailureNoun(
        code="exception",
        clause="its process ended with an exception",
        meaning="It ended with another exception.",
        advice="Read the exception below the line of the failed start.",
    )
    STOPPED = StartFailureNoun(
        code="stopped",
        clause="its process was stopped before it served",
        meaning="It was stopped before it served.",
        advice="Find out who or what stopped it.",
    )
# fmt: on
