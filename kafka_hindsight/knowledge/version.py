"""The version of what is known: a hash of the declarations, so that rows say by which knowledge they were judged."""

from __future__ import annotations

import dis
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from enum import Enum
from functools import partial
from inspect import unwrap
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.knowledge import broker_settings, isr, layouts, reasons
from kafka_hindsight.knowledge.failover_advice import FAILOVER_ADVICE
from kafka_hindsight.knowledge.imbalance import IMBALANCE_ADVICE
from kafka_hindsight.knowledge.noise import NOISE
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.knowledge.remedies import REMEDIES, SESSION_TIMEOUT_MS
from kafka_hindsight.knowledge.rules import RULES

_READING = (
    (layouts.LAYOUTS, layouts.LOGGER_REACH, layouts.LOGGER_REGEX, layouts.MESSAGE_LIMIT),
    (layouts.BROKER_REGEX, layouts.BROKER_FOLDER_REGEX, layouts.class_of, layouts.source_of),
    (PATTERNS, NOISE),
)
_JUDGING = (
    (reasons.read_coordinator_reason, reasons.read_client_reason, reasons.read_metadata_change),
    ([cause.noun for cause in Cause], RULES, REMEDIES, SESSION_TIMEOUT_MS),
    (FAILOVER_ADVICE, IMBALANCE_ADVICE, isr.OUT_OF_SYNC_ADVICE, isr.RESTART_ADVICE),
    (isr.REPLICA_LAG, isr.CYCLES_WITHIN, isr.CALM_AFTER, isr.RESTART_GAP_MS),
    (broker_settings.BROKER_SETTINGS, broker_settings.TOPIC_SETTINGS, broker_settings.OF_CONTROLLERS),
)


def knowledge_version(*rulings: object) -> str:
    """The version of everything that a verdict rests on: how lines are read, causes, rules, advice, and `rulings`."""
    return version_of(_READING, _JUDGING, rulings)


def version_of(*known: object) -> str:
    """A short hash of declarations.

    Takes: dataclasses, functions, enumerations, regexes, plain values, and containers of these.
    Keeps: the same in every process; another one wherever something differs that a row can depend on.
    Edge case: what only proves or describes does not count: fields with compare=False, docstrings, comments. A function
        counts by its instructions, and those of the functions of the same package that it names; in which module of
        it they stand does not count.
    Raises: TypeError for a value whose content cannot be seen.
    """
    return hashlib.sha256(_written(known, set()).encode()).hexdigest()[:12]


def _written(value: Any, seen: set[Callable[..., Any]]) -> str:
    """A value as text: equal for equal content, whatever the process. `seen`: functions that are written already."""
    match value:
        case Enum():
            return f"{type(value).__qualname__}.{value.name}"
        case None | bool() | int() | float() | str() | bytes() | date() | timedelta():
            return repr(value)
        case re.Pattern():
            return f"re({value.pattern!r}, {value.flags})"
        case Mapping() | Set() | Sequence():
            return _container(value, seen)
        case type() | BuiltinFunctionType():
            return str(value.__qualname__)
        case partial():
            return f"partial({_written((value.func, value.args, value.keywords), seen)})"
        case _ if is_dataclass(value):
            return _dataclass(value, seen)
        case _ if isinstance(unwrap(value), FunctionType):
            return _function(unwrap(value), seen)
    raise TypeError(
        f"Found: a {type(value).__qualname__} in what is known. Needed: a value whose content can be hashed."
    )


def _container(value: Mapping[Any, Any] | Set[Any] | Sequence[Any], seen: set[Callable[..., Any]]) -> str:
    """What a container holds: a set in the order of what is written, others in their own."""
    match value:
        case Mapping():
            return f"{{{', '.join(f'{_written(k, seen)}: {_written(v, seen)}' for k, v in value.items())}}}"
        case Set():
            return f"set({', '.join(sorted(_written(v, seen) for v in value))})"
        case _:
            return f"[{', '.join(_written(v, seen) for v in value)}]"


def _dataclass(value: Any, seen: set[Callable[..., Any]]) -> str:
    """The fields that decide: those with compare=False only describe."""
    decisive = (f"{f.name}={_written(getattr(value, f.name), seen)}" for f in fields(value) if f.compare)
    return f"{type(value).__qualname__}({', '.join(decisive)})"


def _function(function: FunctionType, seen: set[Callable[..., Any]]) -> str:
    name = function.__qualname__
    if function in seen:
        return name
    seen.add(function)
    root = function.__module__.partition(".")[0]
    used: dict[str, str] = {}
    for word in _globals_of(function.__code__):
        value = function.__globals__.get(word)
        if isinstance(value, FunctionType) and value.__module__.partition(".")[0] != root:
            used[word] = f"{value.__module__}.{value.__qualname__}"
        elif word in function.__globals__ and not isinstance(value, ModuleType):
            used[word] = _written(value, seen)
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    given = (function.__defaults__, function.__kwdefaults__, held)
    return f"{name}({_code(function.__code__, seen)}, {_written(given, seen)}, {used})"


def _code(code: CodeType, seen: set[Callable[..., Any]]) -> str:
    """The instructions, with names and constants in place of numbers: docstrings and line numbers leave no trace."""
    steps = []
    for step in dis.get_instructions(code):
        value = code.co_consts[step.arg] if step.arg is not None and step.opcode in dis.hasconst else step.argval
        steps.append(f"{step.opname}:{_code(value, seen) if isinstance(value, CodeType) else _written(value, seen)}")
    return " ".join(steps)


def _globals_of(code: CodeType) -> list[str]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    own = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    return sorted(own.union(*map(_globals_of, inner)))


READING_VERSION = version_of(_READING)
"""The version of how lines are read: what silver.events rests on."""
