"""How a broker went away, in words: as the kind of its absence says, or as its last lines do."""

from __future__ import annotations

import re

from kafka_hindsight.catalog.codes import Confidence, OutageKind
from kafka_hindsight.catalog.nouns.brokers import LOG_DIRS_FAILED, OutageNoun
from kafka_hindsight.catalog.rows import BrokerOutage

_OVER_LOG_DIRS = re.compile(
    r"Shutdown broker because |Halting broker because dir |Shutting down because couldn't communicate offline log dir "
)
"""Lines with which a broker halts because of its log directories. Source: LogManager,
ReplicaManager.handleLogDirFailure, BrokerLifecycleManager."""

_HEDGES = {Confidence.LIKELY: "probably ", Confidence.POSSIBLE: "possibly "}
"""How a claim begins that is not certain. One whose reason is unknown claims nothing to hedge."""


def halts_over_log_dirs(outage: BrokerOutage) -> bool:
    """Whether a broker went away without a shutdown because its log directories had failed."""
    halts = (q.happened_at for q in outage.evidence if _OVER_LOG_DIRS.search(q.text))
    return outage.kind == OutageKind.CRASH and any(at <= (outage.up_at or at) for at in halts)


def noun_of(outage: BrokerOutage) -> OutageNoun:
    """The words about an absence."""
    return LOG_DIRS_FAILED if halts_over_log_dirs(outage) else outage.kind.noun


def hedged_verb(outage: BrokerOutage) -> str:
    """The verb that says how a broker went away, as sure as the verdict, to follow its name: `probably crashed`."""
    return f"{_HEDGES.get(outage.confidence, '')}{noun_of(outage).verb}"
