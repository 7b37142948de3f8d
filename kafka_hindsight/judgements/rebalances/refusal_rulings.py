"""The causes of members that brokers refused or held back: authentication, authorisation, quotas.

Such a process lives, and its session expires as that of one that stands still. Its own log shows the difference. Of the
brokers' lines those about authentication name a host and no client, those of the authorizer a principal and a host.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling
from kafka_hindsight.judgements.rebalances.case import Case, by_own_log, proof_of
from kafka_hindsight.knowledge.remedy_settings import SESSION_TIMEOUT_MS
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL, MS, NEXT_POLL, RETURN_WITHIN
from kafka_hindsight.shared.words import duration

_LINES: Mapping[Cause, tuple[Sequence[Kind], str]] = {
    Cause.NOT_AUTHENTICATED: ((Kind.CLIENT_NOT_AUTHENTICATED,), "it could not authenticate"),
    Cause.ACCESS_DENIED: (
        (
            Kind.CLIENT_ACCESS_DENIED,
            Kind.CLIENT_COMMIT_FAILED,
            Kind.CLIENT_SESSION_TIMEOUT,
            Kind.CLIENT_HEARTBEAT_ERROR,
        ),
        "access was denied",
    ),
    Cause.THROTTLED: ((Kind.CLIENT_THROTTLED,), "a quota holds it back"),
}
"""Of each cause the kinds of lines that show it, and what they say."""

_DENIED = re.compile(r"authoriz", re.IGNORECASE)
_GROUP_DENIED = re.compile(r"group authorization failed|authorized to access group", re.IGNORECASE)
"""What Kafka says where it denies a commit: heartbeats need the same right (KafkaApis: READ on the group)."""


def _refusals(case: Case, cause: Cause, since: datetime) -> list[Event]:
    """The lines of the member's process from an instant on, after the last one that shows it join."""
    process, (kinds, _) = case.process, _LINES[cause]
    joins = (process.of_kind(kind).last_until(case.at) for kind in (Kind.CLIENT_JOINED, Kind.CLIENT_SYNCED))
    first = max([since, *(join.happened_at for join in joins if join)])
    lines = [e for kind in kinds for e in process.of_kind(kind).between(first, case.at)]
    return [e for e in lines if cause != Cause.ACCESS_DENIED or _DENIED.search(e.error or "")]


def _last_heartbeat(case: Case) -> datetime:
    """The instant of the last heartbeat that the coordinator took, or one heartbeat earlier."""
    return case.at - (case.member.session_timeout_ms or SESSION_TIMEOUT_MS) * MS - HEARTBEAT_INTERVAL


def was_refused(cause: Cause) -> Predicate[Case]:
    """Say whether the member's own log shows a refusal within its last session."""

    def shows(case: Case) -> Proof | None:
        lines = _refusals(case, cause, _last_heartbeat(case))
        of_group = [e for e in lines if _GROUP_DENIED.search(e.error or "")]
        proof = by_own_log(case, *(of_group or lines)[:1])
        return proof and proof + Proof(confidence=None if of_group else Confidence.LIKELY)

    return with_sentence(f"The member's own log says within its last session that {_LINES[cause][1]}.", shows)


def was_refused_before_it_left(cause: Cause) -> Predicate[Case]:
    """Say whether the member's own log shows a refusal just before it left."""
    sentence = f"The member's own log says within 5 s before it left that {_LINES[cause][1]}."
    return with_sentence(sentence, lambda case: by_own_log(case, *_refusals(case, cause, case.at - NEXT_POLL)[-1:]))


def heartbeats_were_denied(case: Case) -> Proof | None:
    """The authorizer denied a heartbeat for the group within the member's last session, from no other host than its."""
    denials = case.registry.denials.between(_last_heartbeat(case), case.at)
    of_heartbeats = (e for e in denials if (e.reason or "").endswith("Heartbeat"))
    own = (e for e in of_heartbeats if case.member.host in (None, e.host))
    return next((proof_of(e, host=e.host) for e in own), None)


def its_host_failed_to_authenticate(case: Case) -> Proof | None:
    """A client on its host failed to authenticate within the member's last session, and none in the 10 minutes before.

    A client that fails all the time says nothing about another one on its host.
    """
    since, failures = _last_heartbeat(case), case.context.failed_authentications.get(case.member.host or "")
    first = failures.first_since(since - RETURN_WITHIN) if failures else None
    if first is None or not since <= first.happened_at <= case.at:
        return None
    return proof_of(first, host=case.member.host, earlier=duration(max(case.at - first.happened_at, timedelta())))


def its_quota_had_changed(case: Case) -> Proof | None:
    """The quota of its client id changed within the member's last session."""
    changes = case.context.quota_changes.get(case.member.client_id or "")
    last = changes.last_until(case.at) if changes else None
    is_fresh = last is not None and last.happened_at >= _last_heartbeat(case)
    return proof_of(last, quota=last.reason, limit=last.state) if last and is_fresh else None


_POLL = "KafkaConsumer.poll throws an {}Exception, and applications then close"

REFUSED_EXPIRIES: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.NOT_AUTHENTICATED,
        "{who} could not authenticate any more, as its own log shows, and its session{session} ran out.",
        proof=(was_refused(Cause.NOT_AUTHENTICATED),),
        source="NetworkClient.processDisconnection; rdkafka_broker.c; KIP-368",
        cases=(
            "groups/unauthenticated-librdkafka-4.3 18:06:17.327",
            "groups/unauthenticated-librdkafka-4.3 18:06:17.327 (brokers only)",
        ),
    ),
    Certain(
        Cause.ACCESS_DENIED,
        "{who} was denied access, as its own log shows, and its session{session} ran out.",
        proof=(was_refused(Cause.ACCESS_DENIED),),
        source="KafkaApis.handleHeartbeatRequest, handleOffsetCommitRequest: both need READ on the group",
        cases=("groups/denied-4.3 18:06:19.595", "groups/denied-4.3 18:06:19.595 (brokers only)"),
    ),
    Likely(
        Cause.THROTTLED,
        "{who} was held back by a quota, as its own log shows, and its session{session} ran out.",
        proof=(was_refused(Cause.THROTTLED),),
        source="NetworkClient.maybeThrottle, at WARN from 4.4 on; KIP-219: a client sends nothing meanwhile",
        cases=("made: held back by a quota", "made: cannot authenticate"),
    ),
)

BROKERS_REFUSALS: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.THROTTLED,
        "{who} was held back by its {quota} quota, which had just become {limit}, and its session{session} ran out.",
        proof=(its_quota_had_changed,),
        source="ClientQuotaManager.updateQuota; KIP-124, KIP-219",
        cases=("made: its quota has just changed", "made: its quota had changed before"),
    ),
    Likely(
        Cause.ACCESS_DENIED,
        "The authorizer denied a heartbeat for the group that came from {host}, and the session{session} of {who} ran"
        " out.",
        proof=(heartbeats_were_denied,),
        source="StandardAuthorizerData.logAuditMessage; KafkaApis.handleHeartbeatRequest",
        cases=("groups/denied-4.3 18:06:19.595 (brokers only)", "groups/denied-4.3 18:06:19.595"),
    ),
    Likely(
        Cause.NOT_AUTHENTICATED,
        "A client on {host}, the host of {who}, failed to authenticate {earlier} before its session{session} ran out.",
        proof=(its_host_failed_to_authenticate,),
        source="Selector.pollSelectionKeys",
        cases=("made: its host cannot authenticate", "made: its host never can"),
    ),
)

REFUSED_LEAVES: tuple[Ruling[Case], ...] = (
    Likely(
        Cause.NOT_AUTHENTICATED,
        "{who} could not authenticate, as its own log shows, and left.",
        proof=(was_refused_before_it_left(Cause.NOT_AUTHENTICATED),),
        source=_POLL.format("Authentication"),
        cases=("groups/unauthenticated-4.3 18:06:18.388", "groups/unauthenticated-4.3 18:06:18.388 (brokers only)"),
    ),
    Likely(
        Cause.ACCESS_DENIED,
        "{who} was denied access, as its own log shows, and left.",
        proof=(was_refused_before_it_left(Cause.ACCESS_DENIED),),
        source=_POLL.format("Authorization"),
        cases=("groups/denied-topic-4.3 18:06:55.061", "groups/denied-topic-4.3 18:06:55.061 (brokers only)"),
    ),
)
