"""The keys of hindsight.toml as data: what each means, and which values it takes, in the words of JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}


@dataclass(frozen=True)
class Key:
    """One key of a table."""

    meaning: str
    values: Schema


def some_of(words: Iterable[str]) -> Schema:
    """A list of some of the words."""
    return {"type": "array", "items": {"enum": [str(word) for word in words]}}


def tables_of(name: str) -> Schema:
    """A list of tables that are defined under the name."""
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


def table(keys: Mapping[str, Key], needed: Sequence[str] = ()) -> Schema:
    """A table with these keys and no others."""
    said = {name: {"description": key.meaning, **key.values} for name, key in keys.items()}
    return {"type": "object", "properties": said, "required": [*needed], "additionalProperties": False}
