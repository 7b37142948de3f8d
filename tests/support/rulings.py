"""What tests ask of rulings."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from kafka_hindsight.judgements.reasoning.rulings import Ruling


def wording(ruling: Ruling[Any]) -> re.Pattern[str]:
    """What a ruling's sentences look like, whatever the words in them."""
    return _pattern(ruling.sentence)


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    pieces = re.split(r"\{[^{}]*\}", sentence)
    return re.compile(".*?".join(map(re.escape, pieces)), re.DOTALL)
