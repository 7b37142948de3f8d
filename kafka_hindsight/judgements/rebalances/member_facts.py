"""The facts about a member by which it is advised."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import Protocol
from kafka_hindsight.judgements.rebalances.members import Member, MemberRegistry
from kafka_hindsight.knowledge.advice import MemberFacts
from kafka_hindsight.knowledge.client_libraries import library_of


def facts_of(member: Member, registry: MemberRegistry, group_id: str, protocol: Protocol) -> MemberFacts:
    """The library and the settings of a member, and the assignors of its group, as far as witnesses show them."""
    return MemberFacts(
        protocol=protocol,
        library=library_of(member.client_id, registry.patterns_of(member.client_id), registry.assignors),
        group=group_id,
        client=member.client_id or "",
        is_static=member.instance_id is not None,
        session_ms=member.session_timeout_ms,
        heartbeat_ms=registry.heartbeat_of(member.client_id) if protocol is Protocol.CLASSIC else None,
        poll_ms=member.rebalance_timeout_ms,
        assignors=sorted(registry.assignors),
    )
