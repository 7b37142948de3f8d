"""THE rebuild: every judgement, what it reads, and which output of which judgement fills which table.

`PUBLISHED` is where to begin: docs/pipeline.md draws what follows from it.
"""

from spark_jobs.transforms.judgement import made
from spark_jobs.transforms.judgements import inputs as prepare
from spark_jobs.transforms.judgements.brokers import BROKERS
from spark_jobs.transforms.judgements.cluster import CLUSTER
from spark_jobs.transforms.judgements.groups import GROUPS
from spark_jobs.transforms.judgements.partitions import PARTITIONS
from spark_jobs.transforms.judgements.readings import GROUP_READINGS, READINGS

PUBLISHED = {
    "gold.controller_changes": BROKERS.output("controller_changes"),
    "gold.rolling_restarts": CLUSTER.output("restarts"),
    "gold.broker_outages": CLUSTER.output("outages"),
    "gold.failovers": PARTITIONS.output("failovers"),
    "gold.truncations": PARTITIONS.output("truncations"),
    "gold.isr_changes": PARTITIONS.output("isr_changes"),
    "gold.out_of_sync_periods": CLUSTER.output("out_of_sync_periods"),
    "gold.partition_risks": PARTITIONS.output("risks"),
    "gold.coordinator_moves": GROUPS.output("moves"),
    "gold.incidents": CLUSTER.output("incidents"),
    "gold.rebalances": made(prepare.with_incidents, GROUPS.output("rebalances"), CLUSTER.output("incident_links")),
    "gold.remedies": GROUPS.output("remedies"),
    "gold.ownership": GROUP_READINGS.output("ownership"),
    "gold.member_settings": GROUPS.output("settings"),
    "gold.leader_imbalance": READINGS.output("imbalance"),
    "gold.leader_balance": READINGS.output("balance"),
    "gold.imbalance_periods": CLUSTER.output("imbalance_periods"),
    "gold.lag_verdicts": GROUP_READINGS.output("lag"),
    "gold.loss_simulations": CLUSTER.output("loss_simulations"),
    "gold.findings": CLUSTER.output("findings"),
    "quality.generation_gaps": GROUPS.output("gaps"),
    "quality.leadership_gaps": PARTITIONS.output("leadership_gaps"),
    "quality.rule_firings": CLUSTER.output("firings"),
}
"""The tables that a rebuild fills. Those of gold are staged; those of quality are written whatever the gate says."""
