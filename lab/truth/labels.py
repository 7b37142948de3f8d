"""Labels of what happened in logs that strangers published: one TOML file a repository (tests/truth/README.md)."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from kafka_hindsight.catalog.codes import (
    Cause,
    Code,
    ControllerChangeCause,
    FailoverKind,
    IncidentKind,
    OutageKind,
    OutOfSyncKind,
    StartFailure,
)
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput

LABELS = HOME / "tests" / "truth"
APART = LABELS / "strangers"
"""The second set: listed before any of its folders was opened, and scored apart."""

VERDICTS: Mapping[str, type[Code]] = {
    "rebalances.cause": Cause,
    "broker_outages.kind": OutageKind,
    "broker_outages.start_failure": StartFailure,
    "controller_changes.cause": ControllerChangeCause,
    "failovers.kind": FailoverKind,
    "out_of_sync_periods.kind": OutOfSyncKind,
    "incidents.kind": IncidentKind,
}
"""What a label can be about: a table of gold and its column with the verdict → the codes that it may hold."""

_LINE = re.compile(r"(?P<file>\S(?:.*\S)?):(?P<number>[1-9]\d*) (?P<digest>[0-9a-f]{8})")


def digest_of(line: bytes) -> str:
    """Eight characters that change where the line does. Its line ending does not count."""
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()[:8]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LogLine(_Model):
    """One line of one file, by number, from 1 on. The digest shows whether the file is the one that was labelled."""

    file: str
    number: int
    digest: str


def _lines(text: object) -> object:
    """`FILE:NUMBER DIGEST`, several of which any is enough with ` or ` between them, as lines."""
    if not isinstance(text, str):
        return text
    matches = [_LINE.fullmatch(part) for part in text.split(" or ")]
    if not all(matches):
        raise ValueError(f"found {text!r}; needed is FILE:NUMBER DIGEST, several of equal worth with ' or ' between")
    return tuple(LogLine(file=m["file"], number=int(m["number"]), digest=m["digest"]) for m in matches if m)


AnyOf = Annotated[tuple[LogLine, ...], BeforeValidator(_lines)]
"""Lines of equal worth: the audit has to quote one of them."""


class Label(_Model):
    """One thing that happened: which row must show it, and which codes are right.

    `at`: when, as the lines say it. `subject`: whose row. `right`: every code that an expert could defend. `lines`:
    the path of evidence; of each entry one line must be quoted. `client`: the library of the member, if there is one.
    """

    verdict: str
    at: AwareDatetime
    group: str | None = None
    broker: int | None = None
    topic: str | None = None
    partition: int | None = None
    right: Annotated[tuple[str, ...], Field(min_length=1)]
    lines: Annotated[tuple[AnyOf, ...], Field(min_length=1)]
    client: str = ""
    why: str = ""

    @model_validator(mode="after")
    def _check_codes(self) -> Label:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict {self.verdict!r} is not one of {', '.join(VERDICTS)}")
        strange = sorted(set(self.right) - set(VERDICTS[self.verdict]))
        if strange:
            raise ValueError(f"{self.verdict} cannot be {', '.join(strange)}; the codes are in kafka_hindsight/catalog")
        return self

    @property
    def table(self) -> str:
        """The table of gold in which its row is."""
        return self.verdict.split(".")[0]

    @property
    def column(self) -> str:
        """The column of that table which holds the verdict."""
        return self.verdict.split(".")[1]

    def is_of(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is about what the label is about."""
        subject = {"group_id": self.group, "broker": self.broker, "topic": self.topic, "partition": self.partition}
        return all(row.get(column) == value for column, value in subject.items() if value is not None)


class QuietTime(_Model):
    """A time in which nothing happened, to one group, to one broker, or at all: who blames someone has invented it."""

    begin: AwareDatetime
    end: AwareDatetime
    group: str | None = None
    broker: int | None = None
    why: str = ""

    def holds(self, at: datetime, row: Mapping[str, Any]) -> bool:
        """Whether a row that starts then blames someone in this time."""
        subject = {"group_id": self.group, "broker": self.broker}
        return self.begin <= at <= self.end and all(row.get(c) == v for c, v in subject.items() if v is not None)


class Truth(_Model):
    """The labels of one folder of one repository at one commit.

    `files`: which of its files are audited; `client_logs`: which of these as CLIENT_LOGS, the others as LOGS;
    `zone`, `glob`: LOGS_TZ and GLOB, where a user has to give them. The times of labels are in UTC.
    """

    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    folder: str = "."
    files: tuple[str, ...] = ("*",)
    client_logs: tuple[str, ...] = ()
    kafka: str
    mode: Literal["zookeeper", "kraft", "unknown"]
    layout: str
    client: str = ""
    zone: str = "UTC"
    glob: str = ""
    labels: tuple[Label, ...] = ()
    quiet: tuple[QuietTime, ...] = ()
    name: str = ""

    def lines(self) -> set[LogLine]:
        """Every line that a label names."""
        return {line for label in self.labels for entry in label.lines for line in entry}


def label_files(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """The files of labels of one set, all or those named."""
    return [path for path in sorted(folder.glob("*+*.toml")) if not names or path.stem in names]


def read_truth(path: Path) -> Truth:
    """The labels of one file.

    Raises BadInput with everything that is wrong in it.
    """
    try:
        return Truth.model_validate({**tomllib.loads(path.read_text(encoding="utf-8")), "name": path.stem})
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path.name} is not TOML: {error}") from None
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, e['loc'])) or 'the file'}: {e['msg']}" for e in error.errors())
        raise BadInput(f"{path.name} cannot be scored. Correct:\n  " + "\n  ".join(wrong)) from None
