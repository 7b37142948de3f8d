"""What one worker reads of a file in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kafka_hindsight.logs.file_bytes import Member, is_packed


@dataclass(frozen=True)
class Unit:
    """What one worker reads of a file in one go, and what it shall do with it.

    `part`: from which byte to which. `member`: what is wanted of an archive. `is_raw`: bytes are wanted as they lie
    there, packed or not. `numbers`: what the work takes beside the bytes, an array of whole numbers.
    """

    uri: str
    part: tuple[int, int]
    told: dict[str, Any]
    member: Member | None = None
    is_raw: bool = False
    numbers: Any = None

    @property
    def is_of_packed_archive(self) -> bool:
        """Whether others are unpacked before it."""
        return self.member is not None and is_packed(self.uri)

    @property
    def size(self) -> int:
        """Bytes that are read."""
        return self.member.size if self.member and is_packed(self.uri) else self.part[1] - self.part[0]
