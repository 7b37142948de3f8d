"""The scenarios of the drill, as data."""

from __future__ import annotations

from collections.abc import Mapping

from drill.scenarios.brokers import BROKER_SCENARIOS
from drill.scenarios.groups import GROUP_SCENARIOS
from drill.scenarios.replicas import REPLICA_SCENARIOS
from drill.scenarios.uncommon import UNCOMMON_SCENARIOS
from drill.steps import Scenario

SCENARIOS: Mapping[str, Scenario] = {
    s.name: s for s in (*GROUP_SCENARIOS, *UNCOMMON_SCENARIOS, *BROKER_SCENARIOS, *REPLICA_SCENARIOS)
}
