"""Where lines may be divided into files: between records, and between instants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafka_hindsight.logs.arrays import Ints
from kafka_hindsight.logs.detection import DATED
from kafka_hindsight.logs.forms import Form, chains_of, form_of
from kafka_hindsight.logs.heads import PLAIN
from kafka_hindsight.logs.unwrapping import Unwrapper


def divisions(lines: Sequence[bytes], pattern: str | None = None) -> list[int]:
    """The numbers of lines with which records begin that are later than all before, and not later than any after them.

    Takes: lines of one log, wrapped or not; the pattern that a user gave, if any.
    Keeps: files that are divided there share no instant, so identical records in them are told apart from copies.
    Edge case: of a few lines none may be an event, by which envelopes are found. A head inside of any shows them too.
    """
    texts = [line.decode(errors="replace") for line in lines]
    form, given = form_of(texts, pattern), [pattern] if pattern else []
    ways = [(form.envelopes, (*form.others, *given))]
    if not form.envelopes:
        ways += [(envelopes, (*PLAIN, *DATED, *given)) for envelopes in chains_of(texts)]
    data = b"".join(line + b"\n" for line in lines)
    for envelopes, layouts in ways:
        begins, told = Unwrapper(Form(envelopes, {"": tuple(dict.fromkeys(layouts))}), pattern).begins(data)
        if begins:
            return [begins[n] for n in _steps(np.array(told))]
    return []


def _steps(told: Ints) -> list[int]:
    """The places of instants that are later than all before and not later than any after them."""
    before = np.maximum.accumulate(told)[:-1]
    after = np.minimum.accumulate(told[::-1])[::-1][1:]
    found: list[int] = np.flatnonzero(np.append(True, before < after)).tolist()
    return found
