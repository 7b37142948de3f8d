"""The rebuild: the judgement and output that fill each table. docs/pipeline.md has a drawing of it."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.rebuild.cluster import CLUSTER, UNAVAILABILITY
from kafka_hindsight.judgements.rebuild.groups import GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS, READINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, Source, each, in_order, outputs_of
from kafka_hindsight.shared.arrow_tables import look_up, with_columns

JUDGEMENTS = (CLUSTER, GROUPS, PARTITIONS, READINGS)
"""The judgements that fill tables. The judgements that these read are found by what they read."""

Links = Mapping[str, rows.IncidentLink]
"""The incident of each rebalance, failover and row of gold.unavailability, by the id of that part."""


def by_part(links: list[rows.IncidentLink]) -> Links:
    """The links by the part that each is about."""
    return {link.part_id: link for link in links}


LINKS = Judgement("links", by_part, (), {"links": CLUSTER.output("incident_links")})


def linked(key: str, source: Source) -> Source:
    """Read the rows of a source with the incident of each and its intent, by their ids; null without one."""

    def name_incidents(parts: pa.Table, links: Links) -> pa.Table:
        for name in ("incident_id", "intent"):
            of_parts = {part: getattr(link, name) for part, link in links.items()}
            parts = with_columns(parts, **{name: look_up(parts[key], of_parts, pa.string())})
        return parts

    return each(name_incidents, source, needs=(LINKS,))


def declared() -> list[Judgement]:
    """All judgements, each after those that it reads."""
    outputs = (j.output(name) for j in JUDGEMENTS for name in outputs_of(j.function))
    return in_order([LINKS.reads["links"], *outputs])


def published() -> dict[str, Source]:
    """The source of each table of gold and quality that judgements fill; of several judgements the last one counts."""
    outputs = ((j.output(name), cls.TABLE) for j in declared() for name, cls in outputs_of(j.function).items())
    return {table.full_name: output for output, table in outputs if table.layer in ("gold", "quality")} | {
        "gold.rebalances": linked("rebalance_id", GROUPS.output("rebalances")),
        "gold.failovers": linked("failover_id", PARTITIONS.output("failovers")),
        "gold.unavailability": linked("unavailability_id", UNAVAILABILITY),
    }


PUBLISHED = published()
"""The tables that a rebuild fills. Those of gold are staged; those of quality are written even if validation fails."""
