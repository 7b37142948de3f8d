"""The rebuild: the judgement and output that fill each table. docs/pipeline.md has a drawing of it."""

from __future__ import annotations

from kafka_hindsight.judgements.findings import RULES
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.incidents import ADVISED, LINKS, UNAVAILABILITY
from kafka_hindsight.judgements.rebuild.leader_balance import BALANCE
from kafka_hindsight.judgements.rebuild.lost_lines import LOST_LINES
from kafka_hindsight.judgements.rebuild.night_subjects import SUBJECTS
from kafka_hindsight.judgements.rebuild.offsets import OFFSETS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS, READINGS
from kafka_hindsight.judgements.rebuild.producer_logs import PRODUCER_LOGS, PRODUCERS
from kafka_hindsight.judgements.rebuild.rules import judgement_of
from kafka_hindsight.judgements.rebuild.sources import Judgement, RowSource, joined, judgements_in_order

JUDGEMENTS = (ADVISED, GROUPS, PARTITIONS, READINGS, BALANCE, OFFSETS, PRODUCER_LOGS, PRODUCERS, LOST_LINES, SUBJECTS)
"""The judgements that fill tables. The judgements that these read are found by what they read."""


def declared() -> list[Judgement]:
    """All judgements but that of the rules, each after those that it reads."""
    return judgements_in_order(j.output(name) for j in JUDGEMENTS for name in j.outputs)


def judged() -> dict[str, RowSource]:
    """The source of each table that judgements fill; of several judgements the last one counts."""
    outputs = ((j.output(name), cls.TABLE) for j in declared() for name, cls in j.outputs.items())
    return {table.full_name: output for output, table in outputs if table.layer in ("gold", "quality", "internal")} | {
        "gold.unavailability": UNAVAILABILITY
    }


JUDGED = judged()

FINDINGS = judgement_of(RULES, JUDGED)

_LINKED = {
    "gold.rebalances": "rebalance_id",
    "gold.failovers": "failover_id",
    "gold.offset_jumps": "jump_id",
    "gold.truncations": "truncation_id",
    "gold.unavailability": "unavailability_id",
}
"""The tables whose rows name their incident, and the column by which it is looked up."""

PUBLISHED = (
    {name: source for name, source in JUDGED.items() if not name.startswith("internal.")}
    | {name: joined(JUDGED[name], LINKS, key) for name, key in _LINKED.items()}
    | {"gold.findings": FINDINGS.output("findings")}
)
"""The tables that a rebuild fills. Those of gold are staged; those of quality are written even if validation fails."""
