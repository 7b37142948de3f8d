"""The lengths of time that several rooms share: each once, with its source."""

from __future__ import annotations

from datetime import timedelta

CATCHING_UP = timedelta(seconds=10)
"""A broker that is back applies within seconds what it missed. Our choice, after the recorded nights."""

OUTAGE_SHADOW = timedelta(seconds=75)
"""How long after a broker's outage its groups may still suffer from it: a session of 45 s and the time to notice."""

COORDINATOR_LOADING = timedelta(seconds=30)
"""How long a coordinator may take to load a group: it prints each member and each former state before the group."""
