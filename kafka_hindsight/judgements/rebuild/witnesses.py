"""The judgement of the witnesses: which kinds of event the logs of each broker could show."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.brokers.log_witnesses import find_witnesses
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import BROKERS
from kafka_hindsight.judgements.rebuild.sources import Judgement, lake_table


@dataclass(frozen=True)
class WitnessHistory:
    """The witnesses of the window."""

    witnesses: list[rows.Witness]


def judge_witnesses(
    hours: list[rows.ParsedHour],
    missing_logs: list[rows.MissingBrokerLog],
    outages: list[rows.BrokerOutage],
    cluster: str,
    scope: Scope,
) -> WitnessHistory:
    """Find what the logs of each broker could show in the window."""
    return WitnessHistory(find_witnesses(cluster, hours, missing_logs, outages, scope.window))


WITNESSES = Judgement(
    "witnesses",
    (judge_witnesses,),
    ("cluster",),
    {
        "hours": lake_table("quality.parsed_hours", span="week"),
        "missing_logs": BROKERS.output("missing_logs"),
        "outages": BROKERS.output("outages"),
    },
)
