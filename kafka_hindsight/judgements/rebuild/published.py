"""The rebuild: the judgement and output that fill each table. docs/pipeline.md has a drawing of it."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.rebuild.cluster import CLUSTER, UNAVAILABILITY
from kafka_hindsight.judgements.rebuild.groups import GROUP_READINGS, GROUPS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS, READINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, Source, each, in_order, outputs_of
from kafka_hindsight.shared.arrow_tables import look_up, with_columns

JUDGEMENTS = (CLUSTER, GROUPS, PARTITIONS, READINGS, GROUP_READINGS)
"""The judgements that fill tables. The judgements that these read are found by what they read."""

Links = Mapping[str, rows.IncidentLink]
"""The incident of each rebalance, failover and row of gold.unavailability, by the id of that part."""


def by_part(links: list[rows.IncidentLink]) -> Links:
    """The links by the part that each is about."""
    return {link.part_id: link for link in links}


LINKS = Judgement("links", by_part, (), {"links": CLUSTER.output("incident_links")})


def with_incidents(rebalances: pa.Table, links: Links) -> pa.Table:
    """Name the incident of each rebalance; those outside of the window have none and are left out."""
    linked = _with_incident(rebalances, "rebalance_id", links)
    return linked.filter(pc.is_valid(linked["incident_id"]))


def with_incident_or_none(failovers: pa.Table, links: Links) -> pa.Table:
    """Name the incident of each failover; null without one."""
    return _with_incident(failovers, "failover_id", links)


def with_incident_and_intent(unavailability: pa.Table, links: Links) -> pa.Table:
    """Name the incident and the intent of each interval in which something could not be used."""
    key = "unavailability_id"
    linked = _with_incident(unavailability, key, links)
    intents = {part: link.intent for part, link in links.items()}
    linked = with_columns(linked, intent=look_up(linked[key], intents, pa.string()))
    return linked.filter(pc.is_in(linked[key], pa.array(links, pa.string())))


def _with_incident(parts: pa.Table, key: str, links: Links) -> pa.Table:
    incidents = {part: link.incident_id for part, link in links.items()}
    return with_columns(parts, incident_id=look_up(parts[key], incidents, pa.string()))


def declared() -> list[Judgement]:
    """All judgements, each after those that it reads."""
    outputs = (j.output(name) for j in JUDGEMENTS for name in outputs_of(j.function))
    return in_order([LINKS.reads["links"], *outputs])


def published() -> dict[str, Source]:
    """The source of each table of gold and quality that judgements fill; of several judgements the last one counts."""
    outputs = ((j.output(name), cls.TABLE) for j in declared() for name, cls in outputs_of(j.function).items())
    return {table.full_name: output for output, table in outputs if table.layer in ("gold", "quality")} | {
        "gold.rebalances": each(with_incidents, GROUPS.output("rebalances"), needs=(LINKS,)),
        "gold.failovers": each(with_incident_or_none, PARTITIONS.output("failovers"), needs=(LINKS,)),
        "gold.unavailability": each(with_incident_and_intent, UNAVAILABILITY, needs=(LINKS,)),
    }


PUBLISHED = published()
"""The tables that a rebuild fills. Those of gold are staged; those of quality are written even if validation fails."""
