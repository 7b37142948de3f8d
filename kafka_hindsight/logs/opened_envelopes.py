"""Lines out of what transports wrapped around them, by whole arrays: each with who wrote it, and when it passed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import pyarrow.compute as pc

from kafka_hindsight.knowledge.envelopes import OBJECTS, OTLP, PREFIXES
from kafka_hindsight.logs import objects, otlp
from kafka_hindsight.logs.arrays import Flags, Ints
from kafka_hindsight.logs.json_fields import object_in, outlines_of
from kafka_hindsight.logs.origins import Origins, named
from kafka_hindsight.logs.pattern_clocks import ISO, pattern_heads
from kafka_hindsight.logs.program_records import is_said_in
from kafka_hindsight.logs.shapes import Shapes, shapes_of
from kafka_hindsight.logs.wrapped_lines import Lines, chained, elements_of, lines_in

JSON_RECORD = "json"
"""Stands for objects that are records themselves."""

NAMES = (*(e.name for e in PREFIXES), *(e.name for e in OBJECTS), OTLP, JSON_RECORD)
"""The envelopes in the order in which they are tried."""

ANY = ("colours",)
"""Envelopes that few of the lines may be in."""

_ESCAPE = b"\x1b["
_COLOUR = re.compile(rb"\x1b\[[0-9;]{0,20}m")
_LABEL = re.compile(r'(\w{1,100})="((?:[^"\\]|\\.){0,400})"')
_REGEXES = {e.name: re.compile(e.regex.encode(), re.DOTALL) for e in PREFIXES if e.regex}
_OBJECTS = {e.name: e for e in OBJECTS}
_WHO = ("labels", "host", "from")

Inside = tuple[Lines, Flags, Flags]
"""The lines inside of lines; which of them were in the envelope, and which go on in the next one of the same origin."""

Peel = Callable[[Lines, Origins], Inside]


def peel_of(name: str) -> Peel:
    """What takes lines out of an envelope. What is not in it stays as it is."""
    if name == "colours":
        return _without_colours
    if name in _REGEXES:
        return partial(_without_prefix, _REGEXES[name])
    if name in _OBJECTS:
        return partial(objects.out_of_object, _OBJECTS[name])
    return otlp.out_of_otlp if name == OTLP else objects.records_of_json


def seen_in(lines: Sequence[bytes]) -> list[str]:
    """The envelopes that one of a few lines may be in, and those that few lines are in, in their order."""
    outlines = outlines_of(told for line in lines if (told := object_in(line)))
    are_seen = {
        **{e.name: any(objects.has_line(e, outline) for outline in outlines) for e in OBJECTS},
        **{name: any(map(regex.match, lines)) for name, regex in _REGEXES.items()},
        OTLP: any(otlp.RESOURCES in outline for outline in outlines),
        JSON_RECORD: bool(objects.layouts_in(outlines)) or is_said_in(lines),
        **dict.fromkeys(ANY, True),
    }
    return [name for name in NAMES if are_seen[name]]


class Chain:
    """Envelopes around one another, the outermost first; parts of lines wait until the rest has come."""

    def __init__(self, names: Sequence[str], origins: Origins | None = None) -> None:
        self.peels = list(_peels(names))
        self.waiting = [lines_in(b"", 0) for _ in self.peels]
        self.origins = origins or Origins()

    def lines(self, outer: Lines) -> Lines:
        """The lines inside of physical lines; what is in no envelope comes as it is."""
        for n, peel in enumerate(self.peels):
            inside, are_inside, are_parts = peel(outer, self.origins)
            if len(self.waiting[n]) or are_parts.any():
                inside, self.waiting[n] = _joined(self.waiting[n], inside, are_inside, are_parts)
            outer = inside
        return outer

    def rest(self) -> Lines:
        """The parts of lines whose rest never came."""
        waiting, self.waiting = self.waiting, [lines_in(b"", 0) for _ in self.waiting]
        return chained([lines_in(b"", 0), *waiting])


def _peels(names: Sequence[str]) -> Iterator[Peel]:
    """What takes lines out of envelopes, one after another: an object inside of an object is read with it."""
    left = list(names)
    while left:
        outer, inner = _OBJECTS.get(left[0]), _OBJECTS.get(left[1]) if len(left) > 1 else None
        if outer and inner and outer.is_around_objects:
            left = left[2:]
            yield partial(objects.out_of_object, inner.inside(outer))
        else:
            yield peel_of(left.pop(0))


def _joined(waiting: Lines, lines: Lines, are_inside: Flags, are_parts: Flags) -> tuple[Lines, Lines]:
    """Lines with the parts of them that came before; and the parts that wait for more."""
    before = np.ones(len(waiting), bool)
    lines = chained([waiting, lines])
    are_inside, are_parts = np.append(before, are_inside), np.append(before, are_parts & are_inside)
    writers = np.where(are_inside, lines.origins, -1)
    rows = np.argsort(writers, kind="stable")
    goes_on = np.append(are_parts[rows][:-1] & (writers[rows][1:] == writers[rows][:-1]), False)
    lasts = np.empty(len(rows), np.int64)
    ends = np.flatnonzero(~goes_on)
    lasts[rows] = np.repeat(rows[ends], np.diff(ends, prepend=-1))
    order = np.lexsort([np.arange(len(rows)), lasts])
    is_whole = ~are_parts[lasts[order]]
    return tuple(lines.joined(which, which == lasts[which]) for which in (order[is_whole], order[~is_whole]))  # type: ignore[return-value]


def _without_colours(lines: Lines, _: Origins) -> Inside:
    """Edge case: what only looks like the beginning of a colour stays."""
    none = np.zeros(len(lines), bool)
    if _ESCAPE not in lines.data:
        return lines, none, none
    found = [m.span() for m in _COLOUR.finditer(lines.data)]
    begins, ends = np.array(found, np.int64).reshape(len(found), 2).T
    gone = np.append(0, np.cumsum(ends - begins))
    starts, until = (at - gone[np.searchsorted(begins, at)] for at in (lines.starts, lines.ends))
    data = _COLOUR.sub(b"", lines.data)
    escapes = pc.count_substring(lines.texts(), pattern=_ESCAPE)
    return replace(lines, data=data, starts=starts, ends=until), escapes.to_numpy(zero_copy_only=False) > 0, none


def _without_prefix(regex: re.Pattern[bytes], lines: Lines, origins: Origins) -> Inside:
    groups = {name: 2 * number for name, number in regex.groupindex.items()}

    def begin_of_line(spans: Ints) -> int:
        return int(spans[groups["line"]] if spans[groups["line"]] >= 0 else spans[1])

    shapes = shapes_of(lines.data, lines.starts, regex, begin_of_line, lines.ends)
    are_inside = shapes.are_there
    begins = shapes.places(lines.starts, groups["line"])
    inner = replace(
        lines,
        starts=np.where(begins >= 0, begins, np.where(are_inside, lines.ends, lines.starts)),
        at=_instants(lines, shapes, groups),
        origins=_written_by(lines, shapes, [groups[n] for n in _WHO if n in groups], origins),
    )
    return inner, are_inside, _are_parts(lines, shapes, groups)


def _instants(lines: Lines, shapes: Shapes, groups: dict[str, int]) -> Ints:
    if "at" not in groups:
        return lines.at
    begins = shapes.places(lines.starts, groups["at"])
    has = np.flatnonzero(begins >= 0)
    which, told, _ = pattern_heads(lines.data, begins[has], ISO)
    found = lines.at.copy()
    found[has[which]] = told
    return found


def _are_parts(lines: Lines, shapes: Shapes, groups: dict[str, int]) -> Flags:
    if "part" not in groups:
        return np.zeros(len(lines), bool)
    places = shapes.places(lines.starts, groups["part"])
    are: Flags = (places >= 0) & (np.frombuffer(lines.data + b"\0", np.uint8)[places] == ord("P"))
    return are


def _written_by(lines: Lines, shapes: Shapes, edges: Sequence[int], origins: Origins) -> Ints:
    """Who wrote each line: what the groups hold, read once for each that differs."""
    if not edges:
        return lines.origins
    begins, ends = (np.array([shapes.places(lines.starts, edge + side) for edge in edges]) for side in (0, 1))
    which = np.flatnonzero(ends.max(axis=0) >= 0)
    if not len(which):
        return lines.origins
    begins, ends = begins[:, which], ends[:, which]
    first = np.where(begins < 0, ends.max(axis=0), begins).min(axis=0)
    told = elements_of(replace(lines, starts=first, ends=ends.max(axis=0)))[: 2 * len(which) : 2].dictionary_encode()
    numbers = told.indices.to_numpy()
    at = np.empty(len(told.dictionary), np.int64)
    at[numbers[::-1]] = np.arange(len(which))[::-1]
    parts = np.stack([begins, ends], axis=2)[:, at].transpose(1, 0, 2).tolist()
    known = [origins.number(_name(tuple(lines.data[b:e] for b, e in spans if e > b))) for spans in parts]
    found = lines.origins.copy()
    said = np.array(known)[numbers]
    found[which] = np.where(said > 0, said, found[which])
    return found


@lru_cache(maxsize=4096)
def _name(parts: tuple[bytes, ...]) -> str:
    names = [part.decode(errors="replace") for part in parts]
    if names and names[0].startswith("{"):
        told = dict(_LABEL.findall(names[0]))
        names = [told[n] for n in ("pod", "container") if n in told] or [told.get("instance", "")]
    return named("/".join(n for n in names if n))
