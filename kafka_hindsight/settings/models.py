"""What users may set, as models of pydantic: types with their checks, what one run works on, and errors in words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_args
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from kafka_hindsight.settings.config import has_secret, is_dated, is_uri, masked
from kafka_hindsight.settings.maintenance import EXAMPLE, instant_of, maintenance_of
from kafka_hindsight.shared.exits import BadInput

LOOK_AHEAD_HOURS = 2
LOOK_BACK_HOURS = 24
MOST_HOURS = 24 * 31

PLACES = ("logs", "client_logs", "snapshots", "lake")
"""The fields that name places."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _printable(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("printable text, without a control character")
    return text


def _place(place: str, info: ValidationInfo) -> str:
    """A location. A relative path starts at the folder of the file that names it, else where we work."""
    if not is_uri(place):
        return os.path.normpath(Path(info.context or Path.cwd()) / os.path.expanduser(place))
    if has_secret(place):
        raise ValueError(
            "a URI without a password or a key, since command lines, Airflow's tables and logs show it: give the key as"
            " spark.hadoop.fs... in HINDSIGHT_SPARK_CONF"
        )
    return place


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError("a zone of the IANA database, such as Europe/Berlin or UTC") from None
    return name


def _instant(given: Any) -> datetime:
    try:
        return instant_of(given.isoformat() if isinstance(given, datetime) else str(given).strip())
    except (ValueError, OverflowError):
        raise ValueError("an ISO instant, such as 2026-11-20T00:00Z; without a zone it is UTC") from None


def _maintenance(text: str) -> str:
    maintenance_of(text)
    return text


Text = Annotated[str, AfterValidator(_printable)]
Place = Annotated[
    Text, BeforeValidator(lambda place: str(place) if isinstance(place, Path) else place), AfterValidator(_place)
]
Zone = Annotated[Text, AfterValidator(_zone)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
Hours = Annotated[int, Field(ge=0, le=MOST_HOURS)]
Maintenance = Annotated[Text, AfterValidator(_maintenance)]
Engine = Literal["auto", "local", "spark"]


class Table(BaseModel):
    """What a user writes. No other keys; what is null or blank is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {key: v for key, v in given.items() if v is not None and not (isinstance(v, str) and not v.strip())}


_LOGS = "folder, file or URI of the brokers' logs, also with {date} and {hour}, or source://NAME"
_LAKE = "folder or URI where the tables go"


class Inputs(Table):
    """What is read of a cluster, and how."""

    logs: Place | None = Field(default=None, description=_LOGS)
    client_logs: Place | None = Field(
        default=None,
        description="folder, file or URI of the clients' logs, also with {date} and {hour}, or source://NAME",
    )
    snapshots: Place | None = Field(default=None, description="JSON-lines file or URI with readings of the cluster")
    lake: Place | None = Field(default=None, description=_LAKE)
    glob: Text | None = Field(
        default=None, description="which files to read, such as *.log,*.gz; default: what brokers and clients write"
    )
    logs_tz: Zone = Field(default="UTC", description="zone of the clocks that wrote LOGS; default UTC")
    client_tz: Zone = Field(default="UTC", description="zone of the clocks that wrote CLIENT_LOGS; default UTC")
    pattern: Text | None = Field(
        default=None, description="layout of the lines in LOGS, as log4j has it, such as '%d %-5p [%t] %c - %m%n'"
    )
    client_pattern: Text | None = Field(
        default=None, description="layout of the lines in CLIENT_LOGS, as log4j or logback have it"
    )
    look_ahead_hours: Hours = Field(
        default=LOOK_AHEAD_HOURS,
        description=f"how long after the window its rebalances may end, in hours; default {LOOK_AHEAD_HOURS}",
    )
    look_back_hours: Hours = Field(
        default=LOOK_BACK_HOURS,
        description=f"how far before the window open state is looked for, in hours; default {LOOK_BACK_HOURS}",
    )
    maintenance: Maintenance | None = Field(
        default=None, description=f"when maintenance was declared: {EXAMPLE}; several with ; between them"
    )
    engine: Engine = Field(
        default="auto",
        description="what reads and judges: local, this process; spark, Spark's workers; auto, Spark for more than"
        " 300 MB of logs and where a master is configured",
    )
    keep: Text | None = Field(
        default=None,
        description="days that are kept, by layer, table or landing: bronze=90,gold=400,landing=14; default: all",
    )


class Settings(Inputs):
    """What one run works on. Paths are absolute or URIs; a missing window means everything in the input.

    What has a description is an input: a user may set it. `read_to_end`: the last record of a file that still grows is
    taken as it stands, instead of waiting for the next. `audits_others`: what asked for the run also audits the other
    clusters that LOGS hold. `owners`: who owns which clusters, groups and topics (settings/owners.py); the page names
    them.
    """

    logs: Place = Field(description=_LOGS)
    lake: Place = Field(description=_LAKE)
    cluster: Text | None = Field(
        default=None, description="name of the cluster in the lake; default: the id that snapshots or logs name"
    )
    window_from: Instant | None = Field(
        default=None, description="first instant of the window, such as 2026-11-20T00:00Z; goes with TO"
    )
    window_to: Instant | None = Field(
        default=None, description="instant at which the window ends; without FROM and TO: everything in the input"
    )
    run_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")
    run_at: Instant
    read_to_end: bool = False
    audits_others: bool = False
    owners: Sequence[Mapping[str, Any]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_clients_alone(cls, given: Any) -> Any:
        """Where only CLIENT_LOGS is given, LOGS is the same place."""
        if isinstance(given, Mapping) and given.get("client_logs") and not given.get("logs"):
            return {**given, "logs": given["client_logs"]}
        return given

    @model_validator(mode="after")
    def _has_a_window(self) -> Self:
        start, end = self.window_from, self.window_to
        if (start is None) != (end is None):
            given, other = ("FROM", "TO") if end is None else ("TO", "FROM")
            raise BadInput(f"{given} is given and {other} is not. Needed: both, or neither for everything.")
        if start is not None and end is not None and start >= end:
            raise BadInput(
                f"FROM is {start.isoformat()} and TO is {end.isoformat()}. Needed: a FROM that lies before TO."
            )
        return self

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Settings out of raw values by field name. Raises: BadInput with one sentence for each problem."""
        return checked(cls, given)

    def to_json(self) -> str:
        """The settings as `Settings.of(json.loads(...))` reads them back."""
        return self.model_dump_json()

    def described(self) -> str:
        """The settings for people to read, one a line, secrets masked."""
        values = self.model_dump(mode="json", exclude_none=True)
        return "\n".join(f"{name} = {masked(str(value))}" for name, value in values.items())


KEEP = "keep"
"""What maintenance alone asks."""

MEANINGS = {name: of.description for name, of in Settings.model_fields.items() if of.description}
"""The fields that a user may set, each with what it means."""

INPUTS = tuple(name for name in MEANINGS if name != KEEP)
"""Those of an audit."""


def variable(field: str) -> str:
    """The name of a setting on make's command line."""
    return param_name(field).upper()


def param_name(field: str) -> str:
    """The name of a setting among a DAG's params."""
    return field.removeprefix("window_")


def from_environment(
    environment: Mapping[str, str], prefix: str = "", fields: Sequence[str] = INPUTS
) -> dict[str, str]:
    """What the variables of these fields say, by field; blank ones are left out."""
    values = {field: environment.get(prefix + variable(field), "").strip() for field in fields}
    return {field: text for field, text in values.items() if text}


def missing_inputs(settings: Settings) -> list[str]:
    """A sentence for each local input that does not exist. What a URI names is seen when Spark reads it."""
    return [
        f"{variable(field)} names {place}, and nothing is there. Needed: {MEANINGS[field]}. Check the path."
        for field in ("logs", "client_logs", "snapshots")
        if (place := getattr(settings, field))
        and not is_uri(place)
        and not is_dated(place)
        and not Path(place).exists()
    ]


T = TypeVar("T", bound=BaseModel)


def checked(model: type[T], given: Any, file: Path | None = None) -> T:
    """What was given, as a model.

    Args:
        model: The model.
        given: Raw values.
        file: The file that holds them; None where they are variables, options or JSON.

    Returns:
        The values. Relative paths start at the file's folder.

    Raises:
        BadInput: One sentence for each problem, all at once, without a secret.
    """
    try:
        return model.model_validate(given, context=file.parent if file else None)
    except ValidationError as problem:
        raise BadInput(*(s for error in problem.errors() for s in _sentences(model, given, error, file))) from None


def _sentences(model: type[BaseModel], given: Any, error: Any, file: Path | None) -> Iterator[str]:
    """An error of pydantic's in words: what was found, what is needed, what to do."""
    location, cause = error["loc"], error.get("ctx", {}).get("error")
    where = f"{file}: " if file else ""
    if isinstance(cause, BadInput):
        yield from (where + sentence for sentence in cause.sentences)
        return
    table = _table_at(model, location)
    name = ".".join(_named(given, location)) if file else variable(str(location[0]))
    match error["type"]:
        case "extra_forbidden":
            key = name if file else repr(location[0])
            yield f"{where}{key} is not known. Needed: one of {', '.join(table.model_fields)}. Rename it."
        case "missing":
            yield f"{where}{name} is not given. Needed: {table.model_fields[location[-1]].description}. Add it."
        case _:
            needed = cause or re.sub(r"^(Input|String|List|Value) should (be )?(have )?", "", error["msg"])
            value = error["input"]
            shown = repr(masked(value)) if isinstance(value, str) else masked(repr(value))
            yield f"{where}{name} is {shown}. Needed: {needed}. Mend it."


def _table_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel]:
    """The model of the table that holds what an error is about."""
    for key in location[:-1]:
        if isinstance(key, str) and key in model.model_fields:
            annotation = model.model_fields[key].annotation
            models = [of for of in (annotation, *get_args(annotation)) if isinstance(of, type)]
            model = next((of for of in models if issubclass(of, BaseModel)), model)
    return model


def _named(given: Any, location: Sequence[int | str]) -> Iterator[str]:
    """The keys on the way to what an error is about; a table of several by its name, else by its number."""
    for key in location:
        given = given[key] if isinstance(key, int) or (isinstance(given, Mapping) and key in given) else None
        is_named = isinstance(key, int) and isinstance(given, Mapping) and given.get("name")
        yield str(given["name"] if is_named else key + 1 if isinstance(key, int) else key)
