"""The absences of brokers in words."""

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
    meaning="It halted, because a log directory that it needs had failed.",
    advice="Look at the disk of these log directories: whether it is mounted, has room, and can be read and written,"
    " and whether something else removes or renames files there. Kafka supports no log directories on Windows's file"
    " systems. Mend or replace it, then start the broker again.",
)
"""A crash whose lines show that a log directory had failed."""
# fmt: on
