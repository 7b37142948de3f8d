"""Who wrote the lines of a wrapped file, by numbers."""

from __future__ import annotations

import re

_ODD = re.compile(r"[^\w./@:-]+")


class Origins:
    """The names of those who wrote lines; number 0 stands for no name."""

    def __init__(self) -> None:
        self.names = [""]
        self._numbers = {"": 0}

    def number(self, name: str) -> int:
        """The number of a name, a new one where it was not seen yet."""
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]


def named(origin: str) -> str:
    """A name in which nothing is that a source must not hold."""
    return _ODD.sub("_", origin).strip("/")
