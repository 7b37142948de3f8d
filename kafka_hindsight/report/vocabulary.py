"""Labels and colours that a reader sees instead of codes: one table for each vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import (
    FailoverKind,
    Harm,
    LagStatus,
    OutOfSyncKind,
    RemedySetting,
    TruncationVerdict,
)
from kafka_hindsight.knowledge.harms import HARM_NOTES


@dataclass(frozen=True)
class Look:
    """The label and the colour of a code. `tone` is the name of a colour in the style sheet."""

    label: str
    tone: str


STATES: Mapping[str, str] = {"act": "Act", "look": "Look", "calm": "Calm"}
"""The states of a window, from the most urgent on."""

FAILOVERS: Mapping[FailoverKind, Look] = {
    FailoverKind.LOG_DIR_FAILED: Look("log directory failed", "lost"),
    FailoverKind.UNCLEAN_ELECTION: Look("unclean election", "lost"),
    FailoverKind.OFFLINE: Look("left without a leader", "lost"),
    FailoverKind.LEADER_RESTORED: Look("has a leader again", "asked"),
    FailoverKind.REASSIGNMENT: Look("reassignment", "topic"),
    FailoverKind.CONTROLLED_SHUTDOWN: Look("controlled shutdown", "protocol"),
    FailoverKind.BROKER_UNRESPONSIVE: Look("broker unresponsive", "broker"),
    FailoverKind.BROKER_CRASH: Look("broker crash", "broker"),
    FailoverKind.PREFERRED_ELECTION: Look("preferred election", "asked"),
    FailoverKind.UNKNOWN: Look("not known", "unknown"),
}

OUT_OF_SYNC: Mapping[OutOfSyncKind, Look] = {
    OutOfSyncKind.SLOW: Look("it was alive and fetched too late", "broker"),
    OutOfSyncKind.NOT_AUTHENTICATED: Look("it could not authenticate", "lost"),
    OutOfSyncKind.DISK: Look("its log directory failed", "lost"),
    OutOfSyncKind.UNKNOWN: Look("cause not known", "unknown"),
    OutOfSyncKind.OUTAGE: Look("it was away", "protocol"),
    OutOfSyncKind.REASSIGNMENT: Look("it was moved away", "topic"),
}
"""In the order of how bad they are."""

TRUNCATIONS: Mapping[TruncationVerdict, Look] = {
    TruncationVerdict.COMMITTED_LOST: Look("committed records", "bad"),
    TruncationVerdict.UNKNOWN: Look("not known", "warn"),
    TruncationVerdict.NOTHING_COMMITTED_LOST: Look("nothing committed", "plain"),
}
"""In the order of how bad they are."""

LAG: Mapping[LagStatus, Look] = {
    LagStatus.STOP: Look("stopped committing", "bad"),
    LagStatus.STALL: Look("commits, but stands still", "bad"),
    LagStatus.REWIND: Look("went back", "warn"),
    LagStatus.WARN: Look("lag never falls", "warn"),
    LagStatus.OK: Look("keeps up", "good"),
}
"""In the order of how bad they are."""

_HARM_TONES: Mapping[Harm, str] = {
    Harm.NO_CONTROLLER: "broker",
    Harm.BROKER_LOST: "broker",
    Harm.DATA_AT_RISK: "broker",
    Harm.CONSUMERS_STOPPED: "unknown",
    Harm.LAG_GREW: "unknown",
    Harm.POSTURE: "unknown",
    Harm.ROUTINE: "member",
}
HARMS: Mapping[Harm, Look] = {
    harm: Look(note.label, _HARM_TONES.get(harm, "lost")) for harm, note in HARM_NOTES.items()
}
"""In the order of harm."""
REMEDY_LABELS: Mapping[RemedySetting, str] = {
    RemedySetting.STATIC_MEMBERSHIP: "static membership",
    RemedySetting.COOPERATIVE_ASSIGNMENT: "a cooperative assignor",
    RemedySetting.SESSION_TIMEOUT: "a longer session timeout",
    RemedySetting.MAX_POLL_INTERVAL: "a longer poll interval",
}
