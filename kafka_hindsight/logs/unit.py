"""The unit of work of one worker: a part of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_hindsight.logs.file_bytes import Member, is_packed


@dataclass(frozen=True)
class Unit:
    """A part of a file that one worker reads at once, and the arguments of the work.

    `part` is from which byte to which. `member` is the file wanted of an archive. `is_raw`: packed bytes are not
    unpacked. `numbers` is an array of whole numbers that belongs to the arguments.
    """

    uri: str
    part: tuple[int, int]
    arguments: dict[str, Any]
    member: Member | None = None
    is_raw: bool = False
    numbers: Any = None

    @property
    def is_of_packed_archive(self) -> bool:
        """Whether the bytes before it have to be unpacked first."""
        return self.member is not None and is_packed(self.uri)

    @property
    def size(self) -> int:
        """The bytes that are read."""
        return self.member.size if self.member and is_packed(self.uri) else self.part[1] - self.part[0]
