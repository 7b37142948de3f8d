"""THE rebuild: every judgement, what it reads, and which output of which judgement fills which table.

Each module here declares judgements. `PUBLISHED` is where to begin: docs/pipeline.md draws what follows from it.
"""

from importlib import import_module
from pkgutil import iter_modules

from kafka_hindsight.spark.apply import Judgement, Source, in_order, made, outputs_of
from kafka_hindsight.spark.frames import inputs as prepare
from kafka_hindsight.spark.judgements.cluster import CLUSTER, UNAVAILABILITY
from kafka_hindsight.spark.judgements.groups import GROUPS
from kafka_hindsight.spark.judgements.partitions import PARTITIONS

LINKS = CLUSTER.output("incident_links")


def declared() -> list[Judgement]:
    """The judgements of the modules here, each after those that it reads."""
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Judgement)]
    return in_order(judgement.output(name) for judgement in found for name in outputs_of(judgement.function))


def published() -> dict[str, Source]:
    """The source of each table of gold and quality that judgements give rows of.

    Edge case: where several judgements give rows of a table, the last of them has the last word.
    """
    outputs = ((j.output(name), rows.TABLE) for j in declared() for name, rows in outputs_of(j.function).items())
    return {table.full_name: output for output, table in outputs if table.layer in ("gold", "quality")} | {
        "gold.rebalances": made(prepare.with_incidents, GROUPS.output("rebalances"), LINKS),
        "gold.failovers": made(prepare.with_incident_or_none, PARTITIONS.output("failovers"), LINKS),
        "gold.unavailability": made(prepare.with_incident_and_intent, UNAVAILABILITY, LINKS),
    }


PUBLISHED = published()
"""The tables that a rebuild fills. Those of gold are staged; those of quality are written whatever the gate says."""
