"""Lines out of objects of JSON: envelopes with a line in one field, and objects that are records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.knowledge.json_layouts import OF_CLASSES
from kafka_hindsight.knowledge.model import JsonEnvelope, JsonLayout
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints
from kafka_hindsight.logs.json_fields import Fields, fields_of, outlines_of, sample_of
from kafka_hindsight.logs.origins import Origins, named
from kafka_hindsight.logs.pattern_clocks import ISO, pattern_heads
from kafka_hindsight.logs.program_records import columns_of, said_in
from kafka_hindsight.logs.wrapped_lines import Lines, laid_out

_PARTS = ("docker",)
"""Objects whose line goes on in the next one where it does not end with LF."""

_FAR = 20_000_000_000
"""No log is of the year 2603: a greater number counts in milliseconds, microseconds or nanoseconds."""

_OBJECT, _SECONDS, _NANOS = "instant", "instant.epochSecond", "instant.nanoOfSecond"
"""An instant may be an object of seconds and nanoseconds."""

_NUMBER = r"^[0-9]{1,20}([.][0-9]{1,20})?$"
_NO_TEXT = pa.scalar(None, pa.string())

Inside = tuple[Lines, Flags, Flags]


def out_of_object(envelope: JsonEnvelope, lines: Lines, origins: Origins) -> Inside:
    """Lines out of objects that hold them in a field."""
    none = np.zeros(len(lines), bool)
    if b"{" not in lines.data:
        return lines, none, none
    texts = lines.texts()
    paths = dict.fromkeys([*envelope.at, *(path for several in envelope.origin for path in several)])
    shown = dict.fromkeys([envelope.line, *([envelope.otherwise] if envelope.otherwise else [])])
    has = [path for path in envelope.has if path not in shown]
    told = fields_of(texts, [path for path in paths if path not in (*has, *shown)], has, [*shown])
    text = _first([_text(told[path]) for path in shown])
    is_there = text.is_valid()
    for path in envelope.has:
        is_there = pc.and_(is_there, told[path].is_valid())
    inner = lines.with_texts(pc.if_else(is_there, text.cast(pa.binary()), texts))
    are_inside = is_there.to_numpy(zero_copy_only=False)
    ends_with_lf = inner.end_with_lf
    inner = replace(
        inner,
        ends=inner.ends - (ends_with_lf & are_inside),
        at=_or_before(_first_instants(told, envelope.at, len(lines)), lines.at, are_inside),
        origins=np.where(are_inside, written_by(told, envelope.origin, lines.origins, origins), lines.origins),
    )
    are_parts = are_inside & ~ends_with_lf if envelope.name in _PARTS else none
    return inner, are_inside, are_parts


def has_line(envelope: JsonEnvelope, outline: frozenset[str]) -> bool:
    """Whether an object holds a line as an envelope does, by the paths at which it holds something."""
    return outline.issuperset(envelope.has) and not outline.isdisjoint([envelope.line, envelope.otherwise])


def _text(column: pa.Array) -> pa.Array:
    return column if pa.types.is_string(column.type) else pa.nulls(len(column), pa.string())


def _first(columns: Sequence[pa.Array]) -> pa.Array:
    return pc.coalesce(*columns)


def _or_before(at: Ints, before: Ints, are_inside: Flags) -> Ints:
    return np.where(are_inside & (at != NO_INSTANT), at, before)


def _first_instants(told: Fields, paths: Sequence[str], count: int) -> Ints:
    """The instant of each object by the first of some fields that is there."""
    found = np.full(count, NO_INSTANT)
    is_open = np.ones(count, bool)
    for path in paths:
        if told[path].null_count < count:
            found = np.where(is_open, instants_of(told[path]), found)
            is_open &= told[path].is_null().to_numpy(zero_copy_only=False)
    return found


def written_by(told: Fields, paths: Sequence[tuple[str, ...]], before: Ints, origins: Origins) -> Ints:
    """Who wrote each line, by the first fields that are all there."""
    none = pa.nulls(len(before), pa.string())
    names = [
        pc.binary_join_element_wise(*(pc.if_else(pc.not_equal(c, ""), c, _NO_TEXT) for c in columns), "/")
        for several in paths
        for columns in [[_text(told[path]) for path in several]]
        if all(column.null_count < len(column) for column in columns)
    ]
    encoded = _first([*names, none]).dictionary_encode()
    known = [origins.number(named(name)) for name in encoded.dictionary.to_pylist()]
    numbers = encoded.indices.fill_null(len(known)).to_numpy()
    said = np.array([*known, 0])[numbers]
    return np.where(said > 0, said, before)


def instants_of(column: pa.Array) -> Ints:
    """The microseconds of instants as envelopes have them: text of ISO, or numbers of seconds or smaller units."""
    if pa.types.is_null(column.type):
        return np.full(len(column), NO_INSTANT)
    if not pa.types.is_string(column.type):
        return _of_numbers(column.cast(pa.float64()))
    are_numbers = pc.match_substring_regex(column, pattern=_NUMBER)
    found = _of_numbers(pc.if_else(are_numbers, column, _NO_TEXT).cast(pa.float64()))
    texts = np.flatnonzero(pc.invert(are_numbers).fill_null(False).to_numpy(zero_copy_only=False))
    if len(texts):
        data, edges = laid_out(pc.binary_join_element_wise(column.take(pa.array(texts)), "\n", ""))
        which, told, _ = pattern_heads(data, edges[:-1], ISO)
        found[texts[which]] = told
    return found


def _of_numbers(numbers: pa.Array) -> Ints:
    told = numbers.fill_null(0).to_numpy(zero_copy_only=False).copy()
    is_number = np.isfinite(told) & (told > 0)
    told[~is_number] = 0
    while (is_far := told >= _FAR).any():
        told[is_far] /= 1_000
    return np.where(is_number, np.rint(told * 1_000_000).astype(np.int64), NO_INSTANT)


def records_of_json(lines: Lines, _: Origins) -> Inside:
    """Objects that are records themselves, written as lines of Kafka's own layout."""
    none = np.zeros(len(lines), bool)
    if b"{" not in lines.data and b"time=" not in lines.data:
        return lines, none, none
    texts = lines.texts()
    at, written = _of_programs(texts)
    for layout in layouts_in(outlines_of(sample_of(texts))):
        told = fields_of(texts, (), _paths(layout))
        instants, found = _records(told, layout)
        is_new = pc.and_(written.is_null(), found.is_valid())
        at = np.where(is_new.to_numpy(zero_copy_only=False), instants, at)
        written = pc.coalesce(written, found)
    inner = lines.with_texts(pc.coalesce(written.cast(pa.binary()), texts))
    are = written.is_valid().to_numpy(zero_copy_only=False)
    inner = replace(inner, at=np.where(are, at, lines.at), are_records=lines.are_records | are)
    return inner, are, none


def _of_programs(texts: pa.Array) -> tuple[Ints, pa.Array]:
    """The instants and the lines of records whose fields follow their message."""
    told = columns_of(said_in(texts))
    if not len(told["message"]):
        return np.full(len(texts), NO_INSTANT), pa.nulls(len(texts), pa.string())
    return _written(instants_of(told["at"]), told["logger"], told["message"], told["level"], told["trace"])


def _paths(layout: JsonLayout) -> list[str]:
    at = [_SECONDS, _NANOS] if layout.at == _OBJECT else []
    return [layout.logger, layout.message, layout.level, layout.at, layout.trace, *at]


def layouts_in(outlines: Collection[frozenset[str]]) -> list[JsonLayout]:
    """The layouts that objects show by the paths at which each holds something, in their order."""
    return [each for each in OF_CLASSES if any({each.logger, each.message, each.at} <= outline for outline in outlines)]


def _records(told: Fields, layout: JsonLayout) -> tuple[Ints, pa.Array]:
    """The instants and the lines of records of one layout; null where an object is none."""
    logger, message, level, trace = (
        _text(told[path]) for path in (layout.logger, layout.message, layout.level, layout.trace)
    )
    return _written(_instants(told, layout.at), logger, message, level, trace)


def _written(
    instants: Ints, logger: pa.Array, message: pa.Array, level: pa.Array, trace: pa.Array
) -> tuple[Ints, pa.Array]:
    """Records as lines of Kafka's own layout, with their instants; null where a part is missing."""
    is_record = pc.and_(pc.and_(logger.is_valid(), message.is_valid()), pa.array(instants != NO_INSTANT))
    if not is_record.true_count:
        return instants, pa.nulls(len(logger), pa.string())
    told = pa.array(np.where(instants == NO_INSTANT, 0, instants // 1_000), pa.timestamp("ms")).dictionary_encode()
    texts = pc.strftime(told.dictionary, format="[%Y-%m-%d %H:%M:%S]")
    shown = pc.replace_substring(texts, pattern=".", replacement=",").take(told.indices)
    head = pc.binary_join_element_wise(shown, level.fill_null("INFO"), message, " ")
    told_trace = pc.if_else(pc.equal(pc.utf8_trim_whitespace(trace), ""), _NO_TEXT, trace)
    after = pc.binary_join_element_wise("\n", told_trace, "").fill_null("")
    line = pc.binary_join_element_wise(head, pc.binary_join_element_wise(" (", logger, ")", ""), after, "")
    return instants, pc.if_else(is_record, pc.utf8_rtrim(line, characters="\n"), _NO_TEXT)


def _instants(told: Fields, path: str) -> Ints:
    """Edge case: an instant may be an object of seconds and nanoseconds."""
    found = instants_of(told[path])
    if path != _OBJECT or told[_SECONDS].null_count == len(found):
        return found
    seconds, nanos = told[_SECONDS], told[_NANOS]
    whole, part = (c.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False) for c in (seconds, nanos))
    return np.where(seconds.is_valid().to_numpy(zero_copy_only=False), whole * 1_000_000 + part // 1_000, found)
