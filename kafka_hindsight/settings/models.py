"""Settings as models of pydantic: types with their checks, the settings of one run, and errors in words."""

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
from pydantic.fields import FieldInfo

from kafka_hindsight.settings.config import has_secret, is_dated, is_uri, masked
from kafka_hindsight.settings.maintenance import EXAMPLE, instant_of, maintenance_of
from kafka_hindsight.shared.exits import BadInput

LOOK_AHEAD_HOURS = 2
LOOK_BACK_HOURS = 24
MOST_HOURS = 24 * 31

PLACES = ("logs", "client_logs", "snapshots", "records", "lake", "expectations")
"""The fields that name places."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _printable(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("printable text, without a control character")
    return text


def _place(place: str, info: ValidationInfo) -> str:
    """A path or URI. A relative path starts at the folder of the file that names it, else at the working folder."""
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


def _instant(value: Any) -> datetime:
    try:
        return instant_of(value.isoformat() if isinstance(value, datetime) else str(value).strip())
    except (ValueError, OverflowError):
        raise ValueError("an ISO instant, such as 2026-11-20T00:00Z; without a zone it is UTC") from None


def _maintenance(text: str) -> str:
    maintenance_of(text)
    return text


Text = Annotated[str, AfterValidator(_printable)]
PathOrUri = Annotated[
    Text, BeforeValidator(lambda place: str(place) if isinstance(place, Path) else place), AfterValidator(_place)
]
Zone = Annotated[Text, AfterValidator(_zone)]
Instant = Annotated[datetime, BeforeValidator(_instant)]
Hours = Annotated[int, Field(ge=0, le=MOST_HOURS)]
Maintenance = Annotated[Text, AfterValidator(_maintenance)]
EngineName = Literal["auto", "local", "spark"]


class UserValues(BaseModel):
    """Values that a user writes. Other keys are refused; null or blank counts as not set."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {key: v for key, v in values.items() if v is not None and not (isinstance(v, str) and not v.strip())}


_LOGS = "folder, file or URI of the brokers' logs, also with {date} and {hour}, or source://NAME"
_LAKE = "folder or URI where the tables go"


class Inputs(UserValues):
    """The inputs of an audit: where they are, and how they are read."""

    logs: PathOrUri | None = Field(default=None, description=_LOGS)
    client_logs: PathOrUri | None = Field(
        default=None,
        description="folder, file or URI of the clients' logs, also with {date} and {hour}, or source://NAME",
    )
    snapshots: PathOrUri | None = Field(default=None, description="JSON-lines file or URI with readings of the cluster")
    records: PathOrUri | None = Field(
        default=None,
        description="folder, file or URI with records of __consumer_offsets, as segments or JSON lines",
    )
    lake: PathOrUri | None = Field(default=None, description=_LAKE)
    expectations: PathOrUri | None = Field(
        default=None,
        description="folder or URI of your own Great Expectations suites; default: <LAKE>/expectations",
    )
    glob: Text | None = Field(
        default=None, description="which files to read, by name, such as *.log,*.gz; default: those with lines of Kafka"
    )
    logs_tz: Zone = Field(default="UTC", description="time zone of the clocks that wrote LOGS; default UTC")
    client_tz: Zone = Field(default="UTC", description="time zone of the clocks that wrote CLIENT_LOGS; default UTC")
    pattern: Text | None = Field(
        default=None, description="layout of LOGS, where none is recognised, as log4j has it: '%d %-5p [%t] %c - %m%n'"
    )
    client_pattern: Text | None = Field(
        default=None, description="layout of CLIENT_LOGS, where none is recognised, as log4j or logback have it"
    )
    look_ahead_hours: Hours = Field(
        default=LOOK_AHEAD_HOURS,
        description=f"hours after the window in which its rebalances may end; default {LOOK_AHEAD_HOURS}",
    )
    look_back_hours: Hours = Field(
        default=LOOK_BACK_HOURS,
        description=f"hours before the window in which open state is looked for; default {LOOK_BACK_HOURS}",
    )
    maintenance: Maintenance | None = Field(
        default=None, description=f"declared maintenance, such as {EXAMPLE}; several are separated by ;"
    )
    engine: EngineName = Field(
        default="auto",
        description="what does the work: local (this process), spark (Spark's workers), or auto (Spark where a"
        " master is configured, and for more than 300 MB of logs where Spark is installed)",
    )
    keep: Text | None = Field(
        default=None,
        description="days to keep, by layer, table or landing: bronze=90,gold=400,landing=14; default: everything",
    )


class Settings(Inputs):
    """The settings of one run. Paths are absolute or URIs; without a window the run audits everything in the input.

    A field with a description is an input that a user may set.

    Attributes:
        read_to_end: Whether the last record of a file that still grows is read now, instead of by the next run.
        may_widen: Whether a window before the first record becomes everything in the input.
        audits_others: Whether what asked for the run also audits the other clusters that LOGS hold.
        owners: Who owns which clusters, groups and topics (settings/alerts.py); the report names them.
        changes: Declared changes of all clusters (settings/changes.py); the report shows those of its window.
    """

    logs: PathOrUri = Field(description=_LOGS)
    lake: PathOrUri = Field(description=_LAKE)
    cluster: Text | None = Field(
        default=None, description="name of the cluster in the lake; default: the id that snapshots or logs name"
    )
    window_from: Instant | None = Field(
        default=None, description="first instant of the window, such as 2026-11-20T00:00Z; goes with TO"
    )
    window_to: Instant | None = Field(
        default=None, description="end of the window; without FROM and TO: everything in the input"
    )
    run_id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")
    run_at: Instant
    read_to_end: bool = False
    may_widen: bool = False
    audits_others: bool = False
    owners: Sequence[Mapping[str, Any]] | None = None
    changes: Sequence[Mapping[str, Any]] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_clients_alone(cls, values: Any) -> Any:
        """Use CLIENT_LOGS as LOGS if LOGS is not set."""
        if isinstance(values, Mapping) and values.get("client_logs") and not values.get("logs"):
            return {**values, "logs": values["client_logs"]}
        return values

    @model_validator(mode="after")
    def _has_a_window(self) -> Self:
        start, end = self.window_from, self.window_to
        if (start is None) != (end is None):
            present, absent = ("FROM", "TO") if end is None else ("TO", "FROM")
            raise BadInput(f"{present} is set and {absent} is not. Needed: both, or neither to audit everything.")
        if start is not None and end is not None and start >= end:
            raise BadInput(
                f"FROM is {start.isoformat()} and TO is {end.isoformat()}. Needed: a FROM that lies before TO."
            )
        return self

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Check raw values by field name. Raises: BadInput with one sentence for each problem."""
        return checked(cls, values)

    def to_json(self) -> str:
        """The settings as `Settings.of(json.loads(...))` reads them back."""
        return self.model_dump_json()

    def described(self) -> str:
        """The settings as text, one a line, secrets masked."""
        values = self.model_dump(mode="json", exclude_none=True)
        return "\n".join(f"{name} = {masked(str(value))}" for name, value in values.items())


KEEP = "keep"
"""The setting that only the step maintain reads."""

MEANINGS = {name: of.description for name, of in Settings.model_fields.items() if of.description}
"""The fields that a user may set, each with its meaning."""

INPUTS = tuple(name for name in MEANINGS if name != KEEP)
"""The fields that an audit reads."""


def variable(field: str) -> str:
    """The name of a setting on make's command line."""
    return param_name(field).upper()


def param_name(field: str) -> str:
    """The name of a setting among a DAG's params."""
    return field.removeprefix("window_")


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of the variables of the inputs, by field, without blank ones."""
    return {field: text for field in INPUTS if (text := environment.get(variable(field), "").strip())}


def missing_inputs(settings: Settings) -> list[str]:
    """A sentence for each local input that does not exist. A URI is checked when Spark reads it."""
    return [
        f"{variable(field)} names {place}, and nothing is there. Needed: {MEANINGS[field]}. Check the path."
        for field in ("logs", "client_logs", "snapshots", "records")
        if (place := getattr(settings, field))
        and not is_uri(place)
        and not is_dated(place)
        and not Path(place).exists()
    ]


T = TypeVar("T", bound=BaseModel)


def checked(model: type[T], values: Any, file: Path | None = None) -> T:
    """Check raw values against a model.

    Args:
        model: The model.
        values: The raw values.
        file: The file that holds them; None where they are variables, options or JSON.

    Returns:
        The model. Relative paths start at the file's folder.

    Raises:
        BadInput: One sentence for each problem, all at once, without a secret.
    """
    try:
        return model.model_validate(values, context=file.parent if file else None)
    except ValidationError as problem:
        raise BadInput(*(s for error in problem.errors() for s in _sentences(model, values, error, file))) from None


def _sentences(model: type[BaseModel], values: Any, error: Any, file: Path | None) -> Iterator[str]:
    """An error of pydantic in words: the value, what is needed, what to do."""
    location, cause = error["loc"], error.get("ctx", {}).get("error")
    where = f"{file}: " if file else ""
    if isinstance(cause, BadInput):
        yield from (where + sentence for sentence in cause.sentences)
        return
    table = _table_at(model, location)
    name = ".".join(_key_path(values, location)) if file else variable(str(location[0]))
    match error["type"]:
        case "extra_forbidden":
            key = name if file else repr(location[0])
            yield f"{where}{key} is not known. Needed: one of {', '.join(fields_of(table))}. Rename it."
        case "missing":
            needed = fields_of(table)[str(location[-1])].description
            to_do = "Add it" if file or not needed else f"Set it, or give --{name.lower().replace('_', '-')}"
            yield f"{where}{name} is not set. Needed: {needed or 'a value'}. {to_do}."
        case _:
            requirement = cause or re.sub(r"^(Input|String|List|Value) should (be )?(have )?", "", error["msg"])
            value = error["input"]
            quoted = repr(masked(value)) if isinstance(value, str) else masked(repr(value))
            yield f"{where}{name} is {quoted}. Needed: {requirement}. Correct it."


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the keys that a user writes."""
    return {of.alias or name: of for name, of in model.model_fields.items()}


def _table_at(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel]:
    """The model of the table in which an error occurred."""
    for key in location[:-1]:
        if isinstance(key, str) and key in model.model_fields:
            annotation = model.model_fields[key].annotation
            models = [of for of in (annotation, *get_args(annotation)) if isinstance(of, type)]
            model = next((of for of in models if issubclass(of, BaseModel)), model)
    return model


def _key_path(value: Any, location: Sequence[int | str]) -> Iterator[str]:
    """The keys that lead to an error. A table in a list is named by its `name`, else by its number."""
    for key in location:
        value = value[key] if isinstance(key, int) or (isinstance(value, Mapping) and key in value) else None
        is_named = isinstance(key, int) and isinstance(value, Mapping) and value.get("name")
        yield str(value["name"] if is_named else key + 1 if isinstance(key, int) else key)
