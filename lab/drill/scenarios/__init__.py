"""The scenarios of the drill, as data."""

from __future__ import annotations

from collections.abc import Mapping

from lab.drill.scenarios.balance import BALANCE_SCENARIOS
from lab.drill.scenarios.brokers import BROKER_SCENARIOS
from lab.drill.scenarios.groups import GROUP_SCENARIOS
from lab.drill.scenarios.hosts import HOST_SCENARIOS
from lab.drill.scenarios.libraries import LIBRARY_SCENARIOS
from lab.drill.scenarios.logs import LOG_SCENARIOS
from lab.drill.scenarios.offsets import OFFSET_SCENARIOS
from lab.drill.scenarios.real import REAL_SCENARIOS
from lab.drill.scenarios.refusals import ACCESS_SCENARIOS
from lab.drill.scenarios.replicas import REPLICA_SCENARIOS
from lab.drill.scenarios.silences import SILENCE_SCENARIOS
from lab.drill.scenarios.stops import ALL_STOPPED_FOR_GOOD, STOP_SCENARIOS
from lab.drill.scenarios.transactions import TRANSACTION_SCENARIOS
from lab.drill.scenarios.uncommon import UNCOMMON_SCENARIOS
from lab.drill.scenarios.writes import WRITER_SCENARIOS
from lab.drill.steps import Scenario

USUAL: Mapping[str, Scenario] = {
    s.name: s
    for s in (
        *(*GROUP_SCENARIOS, *UNCOMMON_SCENARIOS, *LIBRARY_SCENARIOS),
        *(*BROKER_SCENARIOS, *REPLICA_SCENARIOS, *STOP_SCENARIOS),
    )
}
"""What a drill plays that is asked for nothing else."""

REAL: Mapping[str, Scenario] = {
    s.name: s
    for s in (
        *REAL_SCENARIOS,
        *LOG_SCENARIOS,
        *HOST_SCENARIOS,
        *TRANSACTION_SCENARIOS,
        *ACCESS_SCENARIOS,
        *BALANCE_SCENARIOS,
        *WRITER_SCENARIOS,
        *SILENCE_SCENARIOS,
    )
}
"""What `SCENARIOS=real` plays."""

ALL: Mapping[str, Scenario] = {**USUAL, **REAL}
"""What `SCENARIOS=all` plays."""

STOPS: Mapping[str, Scenario] = {s.name: s for s in STOP_SCENARIOS}
"""What `SCENARIOS=stops` plays."""

OFFSETS: Mapping[str, Scenario] = {s.name: s for s in OFFSET_SCENARIOS}
"""What `SCENARIOS=offsets` plays. Its brokers forget offsets within minutes, so `all` leaves it out."""

SCENARIOS: Mapping[str, Scenario] = {**ALL, ALL_STOPPED_FOR_GOOD.name: ALL_STOPPED_FOR_GOOD, **OFFSETS}
"""What can be asked for by name."""
