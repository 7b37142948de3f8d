"""The second reading of a file: the records of a range, each with its rank among those of its instant."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.knowledge.layouts import MOST_LINES
from kafka_hindsight.logs.arrays import NO_INSTANT, Flags, Ints
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.heads import FRAME, sources_in
from kafka_hindsight.logs.pieces import PLAINLY, Range, Times, Way, beginnings

CONTESTED = pa.schema(
    {
        "range": pa.int32(),
        "part": pa.string(),
        **dict.fromkeys(("place", "happened_at", "likeness"), pa.int64()),
    }
)

_DROPPED = -1
_HASH = 8
"""Bytes of the hash of a record."""


def cut(
    data: bytes, range_: Range, clock: Clock, fixes: Mapping[str, Ints] | None, way: Way = PLAINLY
) -> pa.RecordBatch:
    """Cut the records of a range out of its bytes.

    Args:
        data: The bytes of the range.
        range_: Where they lie in the file.
        clock: The clock of the file.
        fixes: For records whose instants other ranges cover: the place, order and twin of each. The order is below
            zero where another range has the record already.
        way: How the bytes are read.

    Returns:
        A row for each record, in their order: columns of bronze.log_records; `part`, the source within a wrapped file;
        `layout`, a number, below 0 for none; `twin`, the record's number among identical ones.
    """
    lines, heads = beginnings(data, True, way)
    parts = way.parts_of(data, heads)
    at = clock.instants(heads, range_.begin, parts)
    counts = np.diff(heads.lines, append=len(lines))
    counts[-1] += range_.lines_beyond
    texts = _texts(data, heads.starts, way)
    moments = (at,) if parts is None else (at, parts)
    order, twins = numbers(moments), numbers((*moments, texts.dictionary_encode().indices.to_numpy()))
    raw = pa.nulls(len(heads), pa.binary())
    if not _is_text(data) or counts.max(initial=0) > MOST_LINES:
        texts, raw = _as_utf8(texts)
    is_kept = None
    if fixes is not None:
        rows = np.searchsorted(heads.starts, fixes["place"] - range_.begin)
        order[rows], twins[rows] = fixes["order"], fixes["twin"]
        is_kept = pa.array(order > _DROPPED)
    batch = pa.record_batch(
        {
            "part": _parts(data, heads.starts, way),
            "layout": pa.array(heads.layouts),
            "happened_at": pa.array(at, mask=at == NO_INSTANT).cast(pa.timestamp("us", tz="UTC")),
            "order": pa.array(order.astype(np.int32)),
            "twin": pa.array(twins.astype(np.int32)),
            "line_count": pa.array(counts.astype(np.int32)),
            "text": texts.cast(pa.string()),
            "raw": raw,
        }
    )
    return batch if is_kept is None else batch.filter(is_kept)


def contested(
    data: bytes, number: int, range_: Range, clock: Clock, contest: Times, way: Way = PLAINLY
) -> pa.RecordBatch:
    """The records of a range whose instants other ranges cover too: place, instant and a hash, without the text."""
    _, heads = beginnings(data, True, way)
    at = clock.instants(heads, range_.begin, way.parts_of(data, heads))
    which = np.flatnonzero(contest.hold(at))
    texts, _ = _as_utf8(_texts(data, heads.starts, way).take(pa.array(which)))
    return pa.record_batch(
        {
            "range": pa.array(np.full(len(which), number, np.int32)),
            "part": _parts(data, heads.starts[which], way),
            "place": pa.array(heads.starts[which] + range_.begin),
            "happened_at": pa.array(at[which], mask=at[which] == NO_INSTANT),
            "likeness": likeness_of(texts),
        },
        schema=CONTESTED,
    )


def likeness_of(texts: pa.Array) -> pa.Array:
    """A hash of each record's bytes, as a number: the first 63 bits of its SHA-256."""
    hashes = b"".join(hashlib.sha256(text.as_buffer()).digest()[:_HASH] for text in texts)
    return pa.array((np.frombuffer(hashes, ">u8") >> np.uint64(1)).astype(np.int64))


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parts(data: bytes, starts: Ints, way: Way) -> pa.Array:
    """The source of each record within a wrapped file, null where the file is its source."""
    if way.sources is None:
        return pa.nulls(len(starts), pa.string())
    return pa.array([name or None for name in way.sources], pa.string()).take(pa.array(sources_in(data, starts)))


def _texts(data: bytes, starts: Ints, way: Way) -> pa.Array:
    """The bytes of each record without its frame and its last LF."""
    frame = FRAME if way.is_wrapped else 0
    offsets = np.append(starts, len(data)).astype(np.int32)
    whole = pa.Array.from_buffers(pa.binary(), len(starts), [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    if data.endswith(b"\n"):
        return pc.binary_slice(whole, frame, -1)
    return pa.concat_arrays([pc.binary_slice(whole[:-1], frame, -1), pc.binary_slice(whole[-1:], frame)])


def _as_utf8(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The texts as UTF-8, of MOST_LINES lines at most, and the original bytes of those that are not UTF-8."""
    shortened = [b"\n".join(t.split(b"\n", MOST_LINES)[:MOST_LINES]) for t in texts.to_pylist()]
    decoded = [t.decode(errors="replace").encode() for t in shortened]
    raw = [original if original != text else None for original, text in zip(shortened, decoded, strict=True)]
    return pa.array(decoded, pa.binary()), pa.array(raw, pa.binary())


def numbers(keys: Sequence[Ints], by: Sequence[Ints] = ()) -> Ints:
    """The number of each record among those of its key, in the order of `by`, else in their own order."""
    order = np.lexsort((*reversed(by), *reversed(keys)))
    begins = np.flatnonzero(are_new(order, keys))
    places: Ints = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return places


def are_new(order: Ints, keys: Sequence[Ints]) -> Flags:
    """Whether another key begins at each place of an order."""
    is_next: Flags = np.zeros(len(order), bool)
    is_next[:1] = True
    for key in keys:
        is_next[1:] |= np.diff(key[order]) != 0
    return is_next
