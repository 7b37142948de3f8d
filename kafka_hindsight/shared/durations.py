"""Lengths of time that several rooms share, each with its source."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

REPEATED = timedelta(hours=1)
"""How much of local time comes twice when summer time ends."""

ORDERED_WITHIN = timedelta(seconds=1)
"""Lines whose order alone is known are placed within this time after the newest line before them."""

MS = timedelta(milliseconds=1)

LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Before anything that a log shows."""

NEVER = datetime.max.replace(tzinfo=UTC)
"""The end of anything without a known end."""

SAME_ACT = timedelta(seconds=1)
"""Lines about one act are at most this far apart. The line that names a leaving member comes before the one that
starts the rebalance (2.8, 4.x) or after it (3.x), mostly within the same millisecond."""

RETURN_WITHIN = timedelta(minutes=10)
"""A client that is not back by then counts as gone, not as restarted (see the cause member_dead). Our own choice."""

LOOK_BACK = timedelta(hours=24)
"""How far back a member that was in the group before counts as known to it. Our own choice."""

HEARTBEAT_INTERVAL = timedelta(seconds=3)
"""A member learns of a rebalance with its next heartbeat. Source: heartbeat.interval.ms, default 3 s."""

METADATA_LAG = timedelta(minutes=11)
"""How long after a change of topics a group may still react to it: metadata.max.age.ms (5 min) for classic members,
10 min between two refreshes of a regular expression under KIP-848, and a minute for the rebalance to begin.
Source: ConsumerConfig, GroupCoordinatorConfig."""

NEXT_POLL = timedelta(seconds=5)
"""A cooperative member that has revoked partitions rejoins within its next poll; lines of a leave in the client's log
and in the coordinator's are at most that far apart."""

CATCHING_UP = timedelta(seconds=10)
"""A broker that is back applies within seconds what it missed. Our choice, after the recorded nights."""

CLOCK_SKEW = timedelta(seconds=2)
"""How far the clocks of two brokers may be apart. Our choice, after the recorded nights."""

OUTAGE_SHADOW = timedelta(seconds=75)
"""How long after a broker's outage its groups may still suffer from it: a session of 45 s and the time to notice."""

COORDINATOR_LOADING = timedelta(seconds=30)
"""How long a coordinator may take to load a group: it prints each member and each former state before the group."""
