"""The records of OpenTelemetry's objects, which hold lists within lists: by Arrow's columns, a level at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.logs.arrays import NO_INSTANT, Flags
from kafka_hindsight.logs.json_fields import field, nested_in
from kafka_hindsight.logs.objects import instants_of, written_by
from kafka_hindsight.logs.origins import Origins
from kafka_hindsight.logs.wrapped_lines import Lines, chained

RESOURCES = "resourceLogs"
_LEVELS = ("scopeLogs", "logRecords")
_AT, _SEEN_AT = "timeUnixNano", "observedTimeUnixNano"
_POD = "k8s.pod.name"
_OTHERS = ("k8s.container.name", "container.name", "host.name", "service.name")
"""What a resource says of who wrote its records: the pod, and the first of the others that is there."""

_VALUE = pa.struct({"stringValue": pa.string()})
_RECORD = pa.struct({_AT: pa.string(), _SEEN_AT: pa.string(), "body": _VALUE})
_RESOURCE = pa.struct({"attributes": pa.list_(pa.struct({"key": pa.string(), "value": _VALUE}))})
_SCOPE = pa.struct({"logRecords": pa.list_(_RECORD)})
_KINDS = pa.list_(pa.struct({"resource": _RESOURCE, "scopeLogs": pa.list_(_SCOPE)}))
_NO_TEXT = pa.scalar(None, pa.string())


def out_of_otlp(lines: Lines, origins: Origins) -> tuple[Lines, Flags, Flags]:
    """The records of OpenTelemetry's objects: a line may hold many. One that holds none stays as it is."""
    none = np.zeros(len(lines), bool)
    if RESOURCES.encode() not in lines.data:
        return lines, none, none
    texts = lines.texts()
    of_line = nested_in(texts, RESOURCES, _KINDS, _cleaned)
    resource, resources = pc.list_parent_indices(of_line), pc.list_flatten(of_line)
    records, held_by = resources, pa.array(np.arange(len(resources)))
    for level in _LEVELS:
        several = pc.struct_field(records, level)
        held_by, records = held_by.take(pc.list_parent_indices(several)), pc.list_flatten(several)
    if not len(records):
        return lines, none, none
    names = {name: column.take(held_by) for name, column in _names(resources).items()}
    rows = resource.take(held_by).to_numpy()
    inner = lines.told(rows).with_texts(_body(records))
    at = instants_of(pc.coalesce(*(_or_none(pc.struct_field(records, name)) for name in (_AT, _SEEN_AT))))
    inner = replace(
        inner,
        ends=inner.ends - inner.end_with_lf,
        physical=np.where(np.append(True, rows[1:] != rows[:-1]), inner.physical, 0),
        at=np.where(at == NO_INSTANT, inner.at, at),
        origins=written_by(names, [("pod", "other"), ("pod",), ("other",)], inner.origins, origins),
    )
    others = np.setdiff1d(np.arange(len(lines)), rows)
    if not len(others):
        return inner, np.ones(len(rows), bool), np.zeros(len(rows), bool)
    every, rows = chained([inner, lines.where(others)]), np.append(rows, others)
    order = np.argsort(rows, kind="stable")
    every = every.told(order).with_texts(every.texts().take(pa.array(order)))
    return every, order < len(inner), np.zeros(len(rows), bool)


def _body(records: pa.Array) -> pa.Array:
    """The text of each record, empty where its body is none."""
    return pc.struct_field(records, ["body", "stringValue"]).fill_null("").cast(pa.binary())


def _or_none(texts: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(texts, ""), _NO_TEXT, texts)


def _names(resources: pa.Array) -> dict[str, pa.Array]:
    """Who wrote the records of each resource: the pod, and what is named beside it."""
    several = pc.struct_field(resources, ["resource", "attributes"])
    of, attributes = pc.list_parent_indices(several).to_numpy(), pc.list_flatten(several)
    keys, values = pc.struct_field(attributes, "key"), _or_none(pc.struct_field(attributes, ["value", "stringValue"]))
    said = {}
    for name in (_POD, *_OTHERS):
        which = pc.indices_nonzero(pc.and_(pc.equal(keys, name), values.is_valid())).to_numpy()
        at = np.full(len(resources), -1)
        at[of[which]] = which
        said[name] = values.take(pa.array(at, mask=at < 0))
    return {"pod": said[_POD], "other": pc.coalesce(*(said[name] for name in _OTHERS))}


def _cleaned(told: Any) -> list[dict[str, Any]] | None:
    """What an object holds that is not as OpenTelemetry's are: what fits, as text."""
    resources = field(told, RESOURCES)
    return [_resource(each) for each in _objects(resources)] if isinstance(resources, list) else None


def _resource(told: Mapping[str, Any]) -> dict[str, Any]:
    attributes = [
        {"key": _text(each.get("key")), "value": _value(each.get("value"))}
        for each in _objects(field(told, "resource.attributes"))
    ]
    scopes = [
        {"logRecords": [_record(each) for each in _objects(scope.get("logRecords"))]}
        for scope in _objects(told.get("scopeLogs"))
    ]
    return {"resource": {"attributes": attributes}, "scopeLogs": scopes}


def _record(told: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: _text(told.get(name)) for name in (_AT, _SEEN_AT)}, "body": _value(told.get("body"))}


def _value(told: Any) -> dict[str, Any]:
    return {"stringValue": _text(field(told, "stringValue"))}


def _objects(told: Any) -> list[dict[str, Any]]:
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []


def _text(value: Any) -> str | None:
    return None if value is None else str(value).encode(errors="replace").decode()
