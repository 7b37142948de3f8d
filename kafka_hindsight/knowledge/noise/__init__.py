"""Lines that are known to carry nothing we use, of loggers that have patterns: every other line counts as unparsed.

A file holds those of one subject, a row for each shape: what a message holds, of which loggers, why it carries nothing,
and a record of that shape with the version that wrote it.
"""

import json
from importlib.resources import files

from kafka_hindsight.knowledge.model import Noise


def _declared() -> tuple[Noise, ...]:
    """The rows of each file, in order of the files' names."""
    subjects = sorted((f for f in files(__name__).iterdir() if f.name.endswith(".jsonl")), key=lambda f: f.name)
    texts = (subject.read_text(encoding="utf-8").removesuffix("\n") for subject in subjects)
    rows = (json.loads(line) for text in texts for line in text.split("\n"))
    return tuple(Noise(tuple(row["loggers"]), row["contains"], row["why"]) for row in rows)


NOISE = _declared()
