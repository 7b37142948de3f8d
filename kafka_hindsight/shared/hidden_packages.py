"""Packages that this process does without, although they are installed: others load them in a second, for nothing."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder


class _Hidden(MetaPathFinder):
    """Hides one package.

    An entry of None in sys.modules would not do for all: compiled modules of pyarrow take it for pandas.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        """Find nothing but an error where the package is looked for."""
        if name == self._package:
            raise ModuleNotFoundError(f"{name} is hidden", name=name)


def hide(package: str) -> None:
    """Make a package look as if it were not installed, for a process that is ours alone."""
    sys.meta_path.insert(0, _Hidden(package))
