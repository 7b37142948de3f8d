"""Labels and colours that a reader sees instead of codes: one table for each vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import (
    Harm,
)
from kafka_hindsight.knowledge.harms import HARM_NOTES


@dataclass(frozen=True)
class Look:
    """The label and the colour of a code. `tone` is the name of a colour in the style sheet."""

    label: str
    tone: str


STATES: Mapping[str, str] = {"act": "Act", "look": "Look", "calm": "Calm"}
"""The states of a window, from the most urgent on."""

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
