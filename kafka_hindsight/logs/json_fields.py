"""Fields of very many objects of JSON, a line each: by Arrow where all are alike, one by one where they are not."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

_DECODE = json.JSONDecoder().decode
_SAMPLE, _FEW = 200, 20
"""Objects that show which fields there are, and of which types: of many lines, and of few."""

_DEEPEST = 8
"""Names in a path: no layout or envelope has a longer one."""

Fields = dict[str, pa.Array]
"""A column for each path, null where an object has nothing there: text, or numbers where all objects have numbers."""


class _Mixed(ValueError):
    """What Arrow cannot read as columns."""


_NOT_ALIKE = (_Mixed, UnicodeDecodeError, pa.ArrowInvalid)
"""What is raised where fields differ in their types, or lines are not objects."""


def fields_of(texts: pa.Array, paths: Sequence[str], seldom: Sequence[str] = (), shown: Sequence[str] = ()) -> Fields:
    """What lines hold at some paths, which are names with dots. Other lines hold nothing.

    Takes: the lines; paths of fields that some of two hundred lines show; `seldom`, of those that fewer may have;
        `shown`, of those whose value is wanted as text whatever it is.
    """
    told, every = _objects_among(texts)
    try:
        found = _by_arrow(told, paths, [*seldom, *shown], shown)
    except _NOT_ALIKE:
        found = _one_by_one(told, [*paths, *seldom], shown)
    return found if every is None else {path: column.take(every) for path, column in found.items()}


def nested_in(texts: pa.Array, name: str, kind: pa.DataType, cleaned: Callable[[Any], Any]) -> pa.Array:
    """What lines hold in a field of a nested type; null in other lines.

    Takes: what makes a value of that type out of an object, where objects are not of that type.
    """
    told, every = _objects_among(texts)
    try:
        found = _table(told, [pa.field(name, kind)]).column(name).combine_chunks()
    except _NOT_ALIKE:
        found = pa.array([cleaned(object_in(text)) for text in told.to_pylist()], kind)
    return found if every is None else found.take(every)


def _objects_among(texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """The lines that look like objects; for each line which of them it is, nothing where every line is one."""
    ends = pc.or_(pc.ends_with(texts, pattern=b"}"), pc.ends_with(texts, pattern=b"}\r"))
    rows = pc.indices_nonzero(pc.and_(pc.starts_with(texts, pattern=b"{"), ends))
    if len(rows) == len(texts):
        return texts, None
    return texts.take(rows), pc.index_in(pa.array(range(len(texts)), pa.int64()), rows.cast(pa.int64()))


def sample_of(texts: pa.Array) -> list[dict[str, Any]]:
    """Some of the objects among lines, from all over."""
    count = max(_FEW, min(_SAMPLE, len(texts) // _SAMPLE))
    rows = range(0, len(texts), max(len(texts) // count, 1))
    return [told for n in rows if (told := object_in(texts[n].as_py()))]


def object_in(line: bytes) -> dict[str, Any] | None:
    """The object that a line is, if it is one."""
    if not line.startswith(b"{"):
        return None
    try:
        told = _DECODE(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def field(told: Any, path: str) -> Any:
    """What an object holds at a path: its own field of that name, else one field inside of another."""
    if not isinstance(told, dict):
        return None
    value = told.get(path)
    if value is not None or "." not in path:
        return value
    outer, _, inner = path.partition(".")
    return field(told.get(outer), inner)


def paths_in(told: Mapping[str, Any], depth: int = _DEEPEST) -> Iterator[str]:
    """The paths at which an object holds something."""
    for name, value in told.items():
        if value is not None:
            yield name
            if depth > 1 and isinstance(value, dict) and "." not in name:
                yield from (f"{name}.{path}" for path in paths_in(value, depth - 1))


def outlines_of(several: Iterable[Mapping[str, Any]]) -> set[frozenset[str]]:
    """The paths at which objects hold something: those of each that differs from the others."""
    return {frozenset(paths_in(told)) for told in several}


def _by_arrow(texts: pa.Array, paths: Sequence[str], seldom: Sequence[str], shown: Sequence[str]) -> Fields:
    """Raises: _NOT_ALIKE."""
    every = [*paths, *seldom]
    if not len(texts):
        return {path: pa.nulls(0) for path in every}
    sample = sample_of(texts)
    there = frozenset().union(*outlines_of(sample))
    wanted = [*(path for path in paths if path in there), *seldom]
    whole = _table(texts, _struct(wanted, sample, shown)).to_struct_array().combine_chunks()
    return {**dict.fromkeys(every, pa.nulls(len(texts))), **{path: _column(whole, path) for path in wanted}}


def _table(texts: pa.Array, fields: Sequence[pa.Field]) -> pa.Table:
    """Some fields of objects. Raises: _NOT_ALIKE, also where a text holds LF: each part of it is a row of its own."""
    if not len(texts):
        return pa.schema(fields).empty_table()
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(texts)], texts), b"\n")[0].as_buffer()
    str(joined, "utf-8")
    table = arrow_json.read_json(
        pa.BufferReader(joined),
        arrow_json.ReadOptions(use_threads=False, block_size=joined.size + 1),
        arrow_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore"),
    )
    if table.num_rows != len(texts):
        raise _Mixed
    return table


def _struct(paths: Sequence[str], sample: Sequence[Mapping[str, Any]], shown: Sequence[str]) -> list[pa.Field]:
    """The types of the fields that may be at some paths, as a sample shows them; text where it does not."""
    inner = defaultdict[str, list[str]](list)
    for outer, dot, rest in (path.partition(".") for path in paths):
        inner[outer] += [rest] if dot else []
    kinds = {
        name: _kind(
            [v for told in sample if (v := told.get(name)) is not None], inner[name], name in paths, name in shown
        )
        for name in dict.fromkeys([*paths, *inner])
    }
    return [pa.field(name, kind) for name, kind in kinds.items() if kind]


def _kind(values: Sequence[Any], inner: Sequence[str], is_wanted: bool, is_shown: bool) -> pa.DataType | None:
    """The type of the values of a field. Takes: paths that are wanted inside of it; whether it is wanted itself."""
    objects = [value for value in values if isinstance(value, dict)] if inner else []
    if objects and len(objects) < len(values):
        raise _Mixed
    return pa.struct(_struct(inner, objects, ())) if objects or not is_wanted else _scalar(values, is_shown)


def _scalar(values: Sequence[Any], is_shown: bool) -> pa.DataType | None:
    """The type of values that are text or numbers; none where they are lists, objects, true or false."""
    kinds = {type(value) for value in values} or {str}
    if kinds == {str}:
        return pa.string()
    if is_shown or (kinds & {str, int, float} and not kinds <= {int, float}):
        raise _Mixed
    return (pa.float64() if float in kinds else pa.int64()) if kinds <= {int, float} else None


def _column(whole: pa.StructArray, path: str) -> pa.Array:
    """What the objects hold at a path. Edge case: what is an object itself is there, and has no value.

    Raises: _Mixed where some have text there by one way to write the path, and others a number by another.
    """
    at = whole.type.get_field_index(path)
    own = pc.struct_field(whole, [at]) if at >= 0 else pa.nulls(len(whole))
    if pa.types.is_struct(own.type):
        own = pc.if_else(own.is_valid(), pa.scalar(""), pa.scalar(None, pa.string()))
    outer, _, inner = path.partition(".")
    at = whole.type.get_field_index(outer)
    if not inner or at < 0 or not pa.types.is_struct(whole.type.field(at).type):
        return own
    nested = _column(pc.struct_field(whole, [at]), inner)
    if own.null_count == len(own):
        return nested
    if nested.null_count == len(nested):
        return own
    if own.type != nested.type:
        raise _Mixed
    return pc.coalesce(own, nested)


def _one_by_one(texts: pa.Array, paths: Sequence[str], shown: Sequence[str]) -> Fields:
    told = [object_in(text) for text in texts.to_pylist()]
    found = {path: _typed([field(each, path) for each in told]) for path in paths}
    return found | {path: pa.array([_shown(field(each, path)) for each in told], pa.string()) for path in shown}


def _typed(values: Sequence[Any]) -> pa.Array:
    """Numbers where there is nothing else, else text. Edge case: an object is there, and has no value."""
    kinds = {type(value) for value in values if value is not None}
    texts = [value if value is None or isinstance(value, str) else _as_text(value) for value in values]
    found = pa.array([text and _replaced(text) for text in texts], pa.string())
    return found.cast(pa.float64()) if kinds and kinds <= {int, float} else found


def _as_text(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float)) else ""


def _replaced(text: str) -> str:
    """Text without halves of pairs, which JSON may hold and UTF-8 may not."""
    return text.encode(errors="replace").decode()


def _shown(value: Any) -> str | None:
    """A line as text. Edge case: journald writes bytes that are not UTF-8 as numbers; an object may be an envelope."""
    if isinstance(value, list):
        return bytes(n for n in value if isinstance(n, int) and 0 <= n < 256).decode(errors="replace")
    return value if value is None else _replaced(value if isinstance(value, str) else json.dumps(value))
