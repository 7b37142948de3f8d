"""The cases of the rulings on rebalances, and the verdicts on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from kafka_hindsight.judgements.rebalances.case import Case
from tests.support.groups import Witnessed, excerpt, sample_night
from tests.support.made_groups import MADE
from tests.support.rulings import Decided, RulingCases, wording, writers_of
from tools.pages.ruling_tables import RULING_TABLES

ALL = [ruling for table in RULING_TABLES["gold.rebalances.cause"].values() for ruling in table]
CASE_NAME = re.compile(
    r"(?P<night>groups|night-4\.1)/(?P<group>\S+) (?P<clock>\S+)(?P<brokers> \(brokers only\))?( \(contributor\))?"
)


@cache
def rebalances(night: str, group: str, brokers_only: bool) -> list[Rebalance]:
    group_lines: Witnessed
    (group_lines,) = [excerpt(group)] if night == "groups" else [g for g in sample_night() if g.group_id == group]
    return (group_lines.of("broker") if brokers_only else group_lines).history().rebalances


def row_of(case: str) -> Rebalance:
    """The rebalance that a ruling names: of an excerpt or the sample night by its start, or a made one."""
    if case.startswith("made: "):
        return MADE[case.removeprefix("made: ")].case()
    named = CASE_NAME.fullmatch(case)
    assert named, case
    rows = rebalances(named["night"], named["group"], bool(named["brokers"]))
    (row,) = [r for r in rows if f"{r.started_at:%H:%M:%S.%f}"[:-3] == named["clock"]]
    return row


def written_by(row: Rebalance) -> Ruling[Case]:
    """The ruling that wrote a row's explanation, found as a reader finds it: by its words, the most that fit."""
    fit = [r for r in ALL if row.cause in r.codes and wording(r).match(row.explanation)]
    return max(fit, key=lambda r: len(r.sentence))


def decided(case: str) -> Sequence[Decided]:
    """The ruling that wrote a rebalance; of a contributor, those of the causes that contributed."""
    row = row_of(case)
    if case.endswith("(contributor)"):
        causes = {c.cause for c in row.contributors}
        return [Decided(r, r.code, r.confidence, r.sentence) for r in ALL if r.code in causes]
    writer = written_by(row)
    return writers_of([writer], row.cause, row.confidence, row.explanation)


VARIANTS = [
    ("groups/topics-3.9 01:55:59.647", "topic_deleted", "certain"),
    ("groups/grown-2.8 01:46:51.810", "partitions_added", "certain"),
    ("night-4.1/stock-grow-12 01:47:58.689 (brokers only)", "partitions_added", "likely"),
    ("made: metadata changed after topic_deleted", "topic_deleted", "likely"),
    ("made: the leader rejoins after topic_deleted", "topic_deleted", "possible"),
    ("made: an epoch after topic_created", "topic_created", "possible"),
    ("made: moved before the generation was stored", "coordinator_moved", "likely"),
    ("made: rejoins after it left", "member_rejoined", "likely"),
    ("made: comes back while the group rebalances", "heartbeat_expired", "possible"),
    ("made: metadata changed again after one topic", "metadata_changed", "likely"),
    ("made: a connector changed a minute before", "metadata_changed", "possible"),
    ("made: a client joins an empty group that a nameless member had left", "member_joined", "likely"),
    ("made: an empty group of one client id", "member_rejoined", "likely"),
    ("made: a console consumer expires and is back", "heartbeat_expired", "likely"),
    ("made: the only member rejoins as a topic is made", "topic_created", "possible"),
    ("made: the only member rejoins at once after a topic is made", "topic_created", "likely"),
    ("made: expires as the log ends", "member_dead", "possible"),
    ("made: a thread of Kafka Streams expires", "session_ended", "possible"),
    ("made: a thread of Kafka Streams never sends a heartbeat", "session_ended", "possible"),
    ("made: a client that only resembles a thread of Kafka Streams expires", "member_dead", "likely"),
    ("made: expires, and no line describes it", "session_ended", "possible"),
    ("made: a static member of a group with epochs stays away", "member_dead", "likely"),
    ("made: expires, and no assignment had a static member", "member_dead", "likely"),
    ("made: a console consumer expires, and no line describes it", "member_dead", "likely"),
    ("groups/streams-4.3 15:14:34.511 (brokers only)", "member_dead", "possible"),
    ("groups/static-4.1 01:42:52.722 (brokers only)", "session_ended", "possible"),
    ("groups/removed-2.8 12:24:28.806 (brokers only)", "session_ended", "possible"),
    ("made: expires as the log ends, and the generation stands", "member_dead", "likely"),
    ("made: the leader rejoins after a move", "metadata_changed", "possible"),
    ("made: a follower rejoins after topic_created, which it reads", "subscription_changed", "possible"),
    ("made: an epoch of Streams with the same topics", "unknown", "unknown"),
    ("made: no reason, and no end", "unknown", "unknown"),
    ("made: expires with members of two other groups, and its own process is back", "host_stalled", "likely"),
    ("made: the leader rejoins with an empty reason after one had gone", "connector_changed", "possible"),
    ("made: a masked member leaves", "member_left", "likely"),
    ("made: no reason, and two clients ask to join", "member_joined", "likely"),
]

CASES = (RulingCases("rebalances", ALL, decided, MADE, VARIANTS, caches=[rebalances]),)
