"""Changes of the controller: who took office, and why the one before gave it up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from spark_jobs.transforms.brokers.outages import CAUSED_BY
from spark_jobs.transforms.cluster import CLOCKS
from spark_jobs.transforms.controllers import CONTROLLER_KINDS, Term, terms_of
from spark_jobs.transforms.evidence import evidence_of, quote
from spark_jobs.transforms.windows import OutRow, Row, Window, in_order

WHY_CONTROLLERS_CHANGE = ("zookeeper_session_expired",)
"""Kinds that tell why a controller resigned, beside those of CONTROLLER_KINDS."""

_RESIGNED_BEFORE = timedelta(minutes=1)
"""Nobody stays without a controller for longer, once the former one has resigned, unless no majority is alive."""


@dataclass(frozen=True)
class _Why:
    says: str
    confidence: str
    outage: Row | None = None
    lines: tuple[Row, ...] = ()


def rebuild_controller_changes(events: Iterable[Row], outages: Sequence[Row], window: Window) -> list[OutRow]:
    """Rows of gold.controller_changes: one for each epoch whose controller was seen to take office.

    Takes: silver.events of at least CONTROLLER_KINDS and WHY_CONTROLLERS_CHANGE, with look-back; rows of
    gold.broker_outages: of a KRaft controller that is no broker only its own lines tell.
    Order: by epoch. An epoch in which nobody won is none; the one before is then what the next one followed.
    """
    told = in_order(e for e in events if e["kind"] in (*CONTROLLER_KINDS, *WHY_CONTROLLERS_CHANGE))
    terms = terms_of(told)
    rows = []
    for i, term in enumerate(terms):
        if not term.is_change or not window.holds(term.since):
            continue
        former = terms[i - 1] if i else None
        why = _why(former, term, told, outages)
        quotes = [quote(line) for line in (*term.lines, *why.lines)]
        rows.append(
            {
                "cluster": term.lines[0]["cluster"],
                "happened_at": term.since,
                "controller_from": former.controller if former else None,
                "controller_to": term.controller,
                "epoch": term.epoch,
                "outage_id": why.outage["outage_id"] if why.outage else None,
                "confidence": why.confidence,
                "explanation": f"Controller {term.controller} took office{why.says}.",
                "evidence": evidence_of([*quotes, *(why.outage["evidence"][:2] if why.outage else ())]),
            }
        )
    return rows


def _why(former: Term | None, term: Term, told: Sequence[Row], outages: Sequence[Row]) -> _Why:
    """Why the former controller is it no more.

    Source: a ZooKeeper controller resigns when its session is over or another has taken its place
    (KafkaController.maybeResign, processExpire); a KRaft one when the quorum has another leader or it cannot reach
    the majority (QuorumController.renounce, LeaderState.timeUntilCheckQuorumExpires).
    """
    if former is None or (term.epoch > former.epoch + 1 and _is_zookeepers(term)):
        first = term.epoch == 1
        says = ", the first of the cluster" if first else "; whom it followed no line tells"
        return _Why(says, "certain" if first else "unknown")
    who, again = former.controller, former.controller == term.controller
    gone = next((o for o in outages if o["broker"] == who and _is_behind(o, term)), None)
    if gone:
        back = " again, after it" if again else f", since controller {who}"
        sure = str(gone["confidence"])
        if term.epoch > former.epoch + 1 and sure == "certain":
            sure = "likely"  # a quorum also counts elections that nobody won; somebody may have
        return _Why(f"{back} {CAUSED_BY[gone['kind']]}", sure, gone)
    own = [e for e in told if e["broker"] == who and former.since <= e["happened_at"] <= term.since + CLOCKS]
    expired = [e for e in own if e["kind"] == "zookeeper_session_expired"]
    if expired:
        says = f", since the ZooKeeper session of controller {who} had run out: a pause, or the network"
        return _Why(says, "likely", lines=(expired[-1],))
    resigned = [
        e for e in own if e["kind"] == "controller_resigned" and term.since - e["happened_at"] <= _RESIGNED_BEFORE
    ]
    if not resigned:
        return _Why(f"{' again' if again else f' after controller {who}'}; nothing tells why", "unknown")
    away = sorted({o["broker"] for o in outages if o["broker"] != who and _is_behind(o, term)})
    if again and away:
        others = " and ".join(str(b) for b in away)
        return _Why(f" again: it had resigned while the quorum lacked {others}", "likely", lines=(resigned[-1],))
    says = f", since controller {who} had resigned: the quorum, or somebody, took its office away"
    return _Why(" again, after it had resigned" if again else says, "possible", lines=(resigned[-1],))


def _is_zookeepers(term: Term) -> bool:
    """Whether the epoch is ZooKeeper's: it counts controllers, and never elections that nobody won."""
    return str(term.lines[0]["pattern_id"]).startswith("zookeeper.")


def _is_behind(outage: Row, term: Term) -> bool:
    """Whether the absence lasted when the controller changed."""
    ended = outage["up_at"] is not None and outage["up_at"] + CLOCKS < term.since
    return bool(outage["down_at"] - CLOCKS <= term.since and not ended)
