"""The places where lines can be divided into files: between records, and between instants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.detection import DATED
from kafka_hindsight.logs.forms import Form, chains_of, form_of
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.unwrapping import Unwrapper


def divisions(lines: Sequence[bytes], pattern: str | None = None) -> list[int]:
    """The numbers of the lines where a log can be divided.

    A record begins there, later than all before, and no record after it is earlier.

    Files that are divided there share no instant, so identical records in them differ from copies. Of a few lines none
    may be an event, by which envelopes are recognised: then a head inside an envelope shows it.

    Args:
        lines: Lines of one log, wrapped or not.
        pattern: The user's pattern, if there is one.
    """
    texts = [line.decode(errors="replace") for line in lines]
    form, patterns = form_of(texts, pattern), [pattern] if pattern else []
    ways = [(form.envelopes, (*form.others, *patterns))]
    if not form.envelopes:
        ways += [(envelopes, (*PLAIN, *DATED, *patterns)) for envelopes in chains_of(texts)]
    data = b"".join(line + b"\n" for line in lines)
    for envelopes, layouts in ways:
        begins, instants = Unwrapper(Form(envelopes, {"": tuple(dict.fromkeys(layouts))}), pattern).begins(data)
        if begins:
            return [begins[n] for n in _steps(np.array(instants))]
    return []


def _steps(instants: Ints) -> list[int]:
    """The places of instants that are later than all before them, and not later than any after them."""
    before = np.maximum.accumulate(instants)[:-1]
    after = np.minimum.accumulate(instants[::-1])[::-1][1:]
    places: list[int] = np.flatnonzero(np.append(True, before < after)).tolist()
    return places
