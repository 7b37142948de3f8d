"""Scenarios of members on hosts of their own."""

from __future__ import annotations

from lab.drill.readings import EVERY
from lab.drill.steps import Close, CutHost, HostGone, JoinHost, Scenario, SlowHost, Start, Wait

_READ = EVERY + 5
"""Only readings show on which host a member is, and each takes a few seconds itself."""

HOST_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "host_cut_off",
        "A host that loses its network takes all its members along, and they come back with it.",
        (
            Start(member="a", host="one"),
            *(Start(member=name, host="other") for name in "bcd"),
            Wait(seconds=_READ),
            CutHost(host="other"),
            HostGone(host="other"),
            Wait(seconds=5),
            JoinHost(host="other"),
            *(Close(member=name) for name in "abcd"),
        ),
    ),
    Scenario(
        "host_lossy",
        "A link that fails for less than a session, again and again, costs no member its place.",
        (
            Start(member="a", host="one"),
            Start(member="b", host="other"),
            *(
                step
                for _ in range(4)
                for step in (
                    CutHost(host="other", expect="no_rebalance"),
                    Wait(seconds=2),
                    JoinHost(host="other", expect="no_rebalance"),
                    Wait(seconds=3),
                )
            ),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "host_slow",
        "A member behind a slow link that drops packets stays in its group.",
        (
            Start(member="a", host="one"),
            Start(member="b", host="other"),
            SlowHost(host="other", rate="32kbit"),
            Wait(seconds=20),
            SlowHost(host="other"),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
)
