"""The lengths of time that several rooms share: each once, with its source."""

from __future__ import annotations

from datetime import timedelta

CATCHING_UP = timedelta(seconds=10)
"""A broker that is back applies within seconds what it missed. Our choice, after the recorded nights."""
