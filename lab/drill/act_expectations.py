"""What an act may expect of an audit, and which rows of gold meet it: each once (docs/design.md section 8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta

from kafka_hindsight.knowledge.rules import access_rules
from lab.answers import AFTER, SHARED_BEFORE, Answer, Expectation, Matcher, answered
from lab.drill.acts import Act
from lab.drill.offset_expectations import OF_OFFSETS
from lab.drill.rows import GoldRow, GoldTables, at_of, in_words

BEFORE = timedelta(seconds=1)
"""How long before an act an answer to it may start."""

OUTAGE_APART = timedelta(seconds=40)
ROLLS_APART = timedelta(minutes=10)
"""A member of a deployment is restarted no later than this after the one before it."""
MAX_NEAR = 6

CLOSED_CODES = ("member_left", "session_ended")
EXPIRY_CODES = (*CLOSED_CODES, "member_dead")
"""No rebalance is expected until the member's session runs out; then it is one of these. One that was closed has not
died."""

ROLLING_RESTART = "rolling_restart"
STATIC_LEAVE_SILENT = "static_leave_silent"
BROKERS_ROLLED = "brokers_rolled"
DURATION_BLAME = "duration_blame"
FAILED_START = "failed_start"
FOLLOWER_REFUSED = "follower_refused"
LOG_DIR_FAILED = "log_dir_failed"
NO_FAILOVER = "no_failover"
OWNERS = "owners"
RECORDS_LOST = "records_lost"
_ACCESS = frozenset(rule.rule_id for rule in access_rules.RULES)
_OWN_FAULTS = ("fenced", "closed")
"""Failures that no outage is behind."""


def codes_of(expect: str | None, table: str) -> tuple[str, ...]:
    """What the rows of a table call an expectation; none where another table shows it."""
    expectation = OF_ACTS.get(str(expect))
    return expectation.codes if expectation and expectation.table == table else ()


def near(act: Act, tables: GoldTables) -> tuple[str, ...]:
    """The audit's rows about the act's subject around its time, each with its distance from the act."""
    about = OF_ACTS[str(act.expect)]
    subjects = {"group_id": act.group, "topic": act.topic, "broker": act.broker, "rule_id": act.fields.get("rule")}
    value = subjects.get(str(about.subject))
    rows = [
        (at_of(about.table, row) - act.at, row)
        for row in tables.get(about.table, ())
        if value is None or row[str(about.subject)] == value
    ]
    inside = [(apart, row) for apart, row in rows if -about.before <= apart <= about.after]
    nearest = sorted(inside, key=lambda pair: abs(pair[0]))[:MAX_NEAR]
    return tuple(
        f"{apart.total_seconds():+.1f} s {in_words(about.table, row)}"
        for apart, row in sorted(nearest, key=lambda pair: pair[0])
    )


def is_after(act: Act, row: GoldRow, table: str) -> bool:
    """Whether a row starts where an answer to the act may."""
    return act.at - BEFORE <= at_of(table, row) <= act.at + AFTER


def is_member(act: Act, member: GoldRow) -> bool:
    """Whether a row, contributor or delaying member is the member of the act, by client id or by instance id."""
    by_client = act.client is not None and member.get("client_id") == act.client
    by_instance = act.instance is not None and member.get("instance_id") == act.instance
    return by_client or by_instance


def names_member(act: Act) -> bool:
    """Whether the act was done to one member."""
    return act.client is not None or act.instance is not None


def calls(act: Act, row: GoldRow, codes: Iterable[str]) -> bool:
    """Whether a rebalance, or a contributor to it, carries one of the codes for the member of the act."""
    return row["cause"] in codes and (not names_member(act) or is_member(act, row))


def of_group(act: Act, tables: GoldTables) -> list[GoldRow]:
    """The rebalances of the act's group, in order of time."""
    return [r for r in tables.get("rebalances", ()) if r["group_id"] == act.group]


def holds_loss(row: GoldRow, record_count: int) -> bool:
    """Whether the bounds of a failover's loss hold a number; an open bound holds every number beyond the other."""
    low, high = row["records_lost_low"], row["records_lost_high"]
    return (low, high) != (None, None) and (low or 0) <= record_count and (high is None or record_count <= high)


def _any(fits: Callable[[Act, GoldRow], bool]) -> Matcher:
    """Met by each row of the expectation's table that fits the act."""

    def matcher(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
        return _some(r for r in tables.get(OF_ACTS[str(act.expect)].table, ()) if fits(act, r))

    return matcher


def _some(rows: Iterable[GoldRow]) -> Answer:
    matches = tuple(rows)
    return answered(bool(matches), matches)


def _every(owed: Callable[[Act], Iterable[Sequence[object]]], fits: Callable[[Act, GoldRow], bool]) -> Matcher:
    """Met where each partition that the act owes has a failover that fits."""

    def matcher(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
        rows = (r for r in tables.get("failovers", ()) if _is_after_on_topic(act, r) and fits(act, r))
        by_partition = {(r["topic"], r["partition"]): r for r in rows}
        partitions = {tuple(partition) for partition in owed(act)}
        return answered(partitions <= by_partition.keys(), (r for p, r in by_partition.items() if p in partitions))

    return matcher


def _rebalance(act: Act, row: GoldRow) -> bool:
    """The row itself where it starts after the act; a contributor where the shared rebalance may have begun before."""
    codes = codes_of(act.expect, "rebalances")
    if row["group_id"] != act.group:
        return False
    if is_after(act, row, "rebalances") and calls(act, row, codes):
        return True
    may_be_shared = act.at - SHARED_BEFORE <= row["started_at"] <= act.at + AFTER
    return may_be_shared and any(calls(act, c, codes) for c in row.get("contributors") or ())


def _rolling_restart(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """One incident must hold the whole roll: of several, the one that meets most of its acts counts."""
    restarts = {i["incident_id"] for i in tables.get("incidents", ()) if i["kind"] == "rolling_restart"}
    rows_of_acts = {
        id(a): [r for r in tables.get("rebalances", ()) if _rebalance(a, r) and r.get("incident_id") in restarts]
        for a in _roll_of(act, acts)
    }
    votes = Counter(i for rows in rows_of_acts.values() for i in {r["incident_id"] for r in rows})
    if not votes:
        return answered(False)
    winner = max(sorted(votes), key=votes.__getitem__)
    return _some(r for r in rows_of_acts[id(act)] if r["incident_id"] == winner)


def _roll_of(act: Act, acts: Sequence[Act]) -> list[Act]:
    """The unbroken run of rolling-restart acts in the group that holds this act: after a while another one begins."""
    run: list[Act] = []
    for other in (a for a in acts if a.group == act.group):
        if other.expect == ROLLING_RESTART and (not run or other.at - run[-1].at <= ROLLS_APART):
            run.append(other)
        elif other.expect == ROLLING_RESTART and not any(a is act for a in run):
            run = [other]
        elif any(a is act for a in run):
            break
        else:
            run = []
    return run


def _silence(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """Met by the expiry of the member's session, or by nothing; broken by any rebalance before."""
    rows = rows_until_expiry(act, acts, tables)
    expired = [r for r in rows if is_expiry(act, r)]
    return answered(len(rows) == len(expired), expired)


def rows_until_expiry(act: Act, acts: Sequence[Act], tables: GoldTables) -> list[GoldRow]:
    """The rebalances of a silent act's group up to the next thing done to it, or up to the expiry of its member."""
    following = next((a.at for a in acts if a.group == act.group and a.at > act.at), None)
    rows: list[GoldRow] = []
    for row in of_group(act, tables):
        if row["started_at"] <= act.at:
            continue
        if following is not None and row["started_at"] >= following:
            break
        rows.append(row)
        if is_expiry(act, row):
            break
    return rows


def is_expiry(act: Act, row: GoldRow) -> bool:
    """Whether a rebalance is the expiry of the silent member's session.

    The last heartbeat was sent before the act, so a session ends early, by at most its heartbeat interval.
    Source: heartbeat.interval.ms is to be set no higher than a third of session.timeout.ms.
    """
    if row["started_at"] < act.at + act.session * 2 / 3:
        return False
    codes = CLOSED_CODES if act.expect == STATIC_LEAVE_SILENT else EXPIRY_CODES
    return any(calls(act, m, codes) for m in (row, *(row.get("contributors") or ())))


def _duration_blame(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    following = next((r for r in of_group(act, tables) if is_after(act, r, "rebalances")), None)
    if following is None:
        return answered(False)
    return _some([following] if any(_delays(act, d) for d in following.get("delayed_by") or ()) else [])


def _delays(act: Act, member: GoldRow) -> bool:
    """`delayed_by` has no instance id; the member id of a static member begins with it."""
    is_static = act.instance is not None and str(member.get("member_id") or "").startswith(f"{act.instance}-")
    return is_member(act, member) or is_static


def _owners(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """The last rebalance with an assignment before the members were asked ends as they say, the next one begins so."""
    rows = [r for r in tables.get("assignment_changes", ()) if r["group_id"] == act.group]
    ended = [r for r in rows if r["ended_at"] <= act.at]
    later = [r for r in rows if r["started_at"] > act.at]
    last = [r for r in ended if r["started_at"] == max(e["started_at"] for e in ended)]
    following = [r for r in later if r["started_at"] == min(e["started_at"] for e in later)]
    owners = act.fields["owners"]
    begins_so = not following or _held(following, "before") == owners
    return answered(_held(last, "after") == owners and begins_so, last)


def _held(rows: Iterable[GoldRow], when: str) -> dict[str, list[str]]:
    """The partitions of each client before or after a rebalance; a client that owns none is not listed."""
    return {r["client_id"]: sorted(f"{p['topic']}-{p['partition']}" for p in r[when]) for r in rows if r[when]}


SILENCES_OF: Mapping[str, tuple[str, ...]] = {
    "network_cut": ("network",),
    "process_paused": ("pause",),
    "network_cut_unseen": ("network", "unknown"),
    "process_paused_unseen": ("pause", "unknown"),
    "slow_handler": ("slow",),
}
"""The silences of the member's rebalance that meet an act; those that the log of its library cannot show are unseen."""


def _silenced(act: Act, row: GoldRow) -> bool:
    return _rebalance(act, row) and row.get("silence") in SILENCES_OF[str(act.expect)]


def _fell_behind(act: Act, row: GoldRow) -> bool:
    """A backlog that built up in the rebalance that follows, and was worked off."""
    is_of_act = row["group_id"] == act.group and is_after(act, row, "backlogs")
    return is_of_act and row["backlog"] > 0 and row["worked_off_at"] is not None


def _host_silent(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """One incident of that kind holds the group, and names the host."""
    host = re.compile(rf"host {re.escape(act.fields['host'])}(?!\.?\d)")
    return _some(
        i
        for i in tables.get("incidents", ())
        if is_after(act, i, "incidents")
        and i["kind"] == "host_silent"
        and act.group in i["group_ids"]
        and host.search(i["explanation"])
    )


def _outage(act: Act, row: GoldRow) -> bool:
    is_near = row["broker"] == act.broker and abs(row["down_at"] - act.at) <= OUTAGE_APART
    return is_near and row["kind"] in codes_of(act.expect, "broker_outages")


def _failed_start(act: Act, row: GoldRow) -> bool:
    """The absence in which the starts failed counts them and says why."""
    owed = act.broker, act.fields["why"], act.fields["times"]
    is_then = row["down_at"] <= act.at + AFTER and (row["up_at"] is None or row["up_at"] >= act.at)
    return is_then and (row["broker"], row["start_failure"], row["failed_starts"]) == owed


def _is_after_on_topic(act: Act, row: GoldRow) -> bool:
    """Whether a failover of the act's topic and partition lies where an answer to the act may."""
    is_place = act.topic in (None, row["topic"]) and act.partition in (None, row["partition"])
    return is_place and is_after(act, row, "failovers")


def _failover(act: Act, row: GoldRow) -> bool:
    return _is_after_on_topic(act, row) and row["kind"] in codes_of(act.expect, "failovers")


def _records_lost(act: Act, row: GoldRow) -> bool:
    """The bounds hold what was lost; where the old leader came back with its log they are exact."""
    is_exact = row["records_lost_low"] == row["records_lost_high"]
    is_held = _is_after_on_topic(act, row) and holds_loss(row, act.fields["lost"])
    return is_held and (is_exact or not act.fields.get("is_exact", False))


def _no_failover(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """Until something else is done to the topic, or to a broker."""
    end = next((a.at for a in acts if a.at > act.at and (a.topic == act.topic or a.broker is not None)), None)
    rows = (r for r in tables.get("failovers", ()) if _is_after_on_topic(act, r))
    return answered(not any(end is None or r["happened_at"] < end for r in rows))


def _controller_change(act: Act, row: GoldRow) -> bool:
    """One that goes is followed by another, one that comes alone follows itself or whoever was there."""
    sides = row["controller_from"], row["controller_to"]
    return is_after(act, row, "controller_changes") and act.fields["controller"] in sides


def _quorum_lost(act: Act, row: GoldRow) -> bool:
    """The next controller, with bounds that hold how long there was none."""
    low, high = row["uncontrolled_low_ms"] or 0, row["uncontrolled_high_ms"]
    is_held = low <= act.fields["high_ms"] and (high is None or high >= act.fields["low_ms"])
    return is_held and row["cause"] == "no_majority" and is_after(act, row, "controller_changes")


def _period(act: Act, row: GoldRow) -> bool:
    """One that lasts may hold several acts: a replica that flaps has one trouble."""
    is_then = row["started_at"] <= act.at + AFTER and (row["ended_at"] is None or row["ended_at"] >= act.at - BEFORE)
    return is_then and row["broker"] == act.broker and row["kind"] in codes_of(act.expect, "out_of_sync_periods")


def _rolled(act: Act, row: GoldRow) -> bool:
    """One story must hold the whole roll, and tell which brokers were stopped too early."""
    return is_roll_of(act, row) and early_of(act, row) == set(act.fields["too_early"])


def is_roll_of(act: Act, row: GoldRow) -> bool:
    """Whether a rolling restart holds the brokers of the act in the order in which they were restarted."""
    order: list[int] = act.fields["brokers"]
    is_then = row["started_at"] <= act.at <= (row["ended_at"] or act.at) + AFTER
    return is_then and [b for b in row["brokers"] if b in order] == order


def early_of(act: Act, row: GoldRow) -> set[int]:
    """The brokers of the act that the scorecard calls stopped too early; the first of them had none before it."""
    return {s["broker"] for s in row["scorecard"] if s["is_early"] and s["broker"] in act.fields["brokers"][1:]}


def _is_place(act: Act, row: GoldRow) -> bool:
    return (row["topic"], row["partition"]) == (act.topic, act.partition)


def _truncated(act: Act, row: GoldRow) -> bool:
    is_then = _is_place(act, row) and is_after(act, row, "truncations")
    return is_then and row["records_cut"] == act.fields["records"] and row["verdict"] != "committed_lost"


def _under_min_isr(act: Act, row: GoldRow) -> bool:
    """The topic lived no longer than its scenario: nothing else adds to its time."""
    under = row["under_min_isr_ms"]
    return _is_place(act, row) and under is not None and act.fields["low_ms"] <= under <= act.fields["high_ms"]


def _imbalance(act: Act, row: GoldRow) -> bool:
    is_then = row["over_threshold"] and is_after(act, row, "leader_imbalance")
    return is_then and act.broker in (None, row["broker"])


def _finding(act: Act, row: GoldRow) -> bool:
    """A finding that names the object or quotes a line about it; its sentence names the first of several alone."""
    return row["rule_id"] == act.fields["rule"] and _is_about(act, row)


def _writes_failed(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """The failures of a producer's log: of these kinds alone, each beside what was behind it, and no more given up.

    A row claims how many batches were given up; the producer knows how many records. None of one is none of the other.
    """
    rows = [r for r in tables.get("producer_failures", ()) if r["client_id"] == act.fields["about"]]
    kinds, records = set(act.fields["kinds"]), sum(act.fields["failed"].values())
    is_of_kinds = {r["kind"] for r in rows} <= kinds and bool(rows) == bool(kinds)
    is_beside = all(_is_beside(r, tables) for r in rows if r["kind"] not in _OWN_FAULTS)
    low, high = sum(r["given_up_low"] for r in rows), [r["given_up_high"] for r in rows]
    is_bounded = low <= records and (None in high or not rows or (sum(high) > 0) == (records > 0))
    return answered(is_of_kinds and is_beside and is_bounded, rows)


def _is_beside(row: GoldRow, tables: GoldTables) -> bool:
    """Whether a row names what was behind it, and lies within the bounds of an interval that it names."""
    if row["unavailability_id"] is None:
        return row["failover_id"] is not None or row["outage_id"] is not None
    intervals = (u for u in tables["unavailability"] if u["unavailability_id"] == row["unavailability_id"])
    return any(
        (u["earliest_start_at"] or u["started_at"]) - BEFORE <= row["last_at"]
        and (u["latest_end_at"] is None or row["started_at"] <= u["latest_end_at"] + BEFORE)
        for u in intervals
    )


def _no_finding(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    rules = {act.fields["rule"]} if "rule" in act.fields else _ACCESS
    of_rules = (r for r in tables.get("findings", ()) if r["rule_id"] in rules)
    return answered(not any(_is_about(act, r) for r in of_rules))


def _is_about(act: Act, finding: GoldRow) -> bool:
    name = re.compile(rf"(?<![\w.-]){re.escape(act.fields['about'])}(?![\w-])", re.IGNORECASE)
    quotes = (f"{q['source'].replace('broker-', 'broker ')} {q['text']}" for q in finding["evidence"])
    return any(name.search(text) for text in (finding["message"], *quotes))


def _of_rebalances(matcher: Matcher, *codes: str) -> Expectation:
    return Expectation(("rebalances",), matcher, codes, "group_id")


def _of_outages(matcher: Matcher, *codes: str) -> Expectation:
    two_minutes = timedelta(minutes=2)
    return Expectation(("broker_outages",), matcher, codes, "broker", two_minutes, two_minutes)


def _of_failovers(matcher: Matcher, *codes: str) -> Expectation:
    return Expectation(("failovers",), matcher, codes, "topic")


_TEN_MINUTES, _DAY = timedelta(minutes=10), timedelta(days=1)

OF_ACTS: Mapping[str, Expectation] = {
    "member_join": _of_rebalances(_any(_rebalance), "member_joined"),
    "member_leave": _of_rebalances(_any(_rebalance), "member_left"),
    "session_expired_dead": _of_rebalances(_any(_rebalance), "member_dead"),
    "session_expired_alive": _of_rebalances(_any(_rebalance), "heartbeat_expired"),
    "network_cut": _of_rebalances(_any(_silenced), "heartbeat_expired"),
    "process_paused": _of_rebalances(_any(_silenced), "heartbeat_expired"),
    "network_cut_unseen": _of_rebalances(_any(_silenced), "heartbeat_expired"),
    "process_paused_unseen": _of_rebalances(_any(_silenced), "heartbeat_expired"),
    "slow_handler": _of_rebalances(_any(_silenced), "max_poll_exceeded"),
    "rejoin_after_expiry": _of_rebalances(_any(_rebalance), "member_rejoined"),
    "max_poll_exceeded": _of_rebalances(_any(_rebalance), "max_poll_exceeded"),
    "partitions_added": _of_rebalances(_any(_rebalance), "partitions_added"),
    "subscription_changed": _of_rebalances(_any(_rebalance), "subscription_changed"),
    "topic_created": _of_rebalances(_any(_rebalance), "topic_created"),
    "topic_deleted": _of_rebalances(_any(_rebalance), "topic_deleted"),
    "operator_rebalance": _of_rebalances(_any(_rebalance), "client_requested"),
    "removed_by_admin": _of_rebalances(_any(_rebalance), "removed_by_admin"),
    "sync_timeout": _of_rebalances(_any(_rebalance), "sync_timeout"),
    "join_timeout": _of_rebalances(_any(_rebalance), "join_timeout"),
    "assignor_changed": _of_rebalances(_any(_rebalance), "assignor_changed"),
    "connector_changed": _of_rebalances(_any(_rebalance), "connector_changed"),
    "static_member_changed": _of_rebalances(_any(_rebalance), "static_member_changed"),
    "not_authenticated": _of_rebalances(_any(_rebalance), "not_authenticated"),
    "access_denied": _of_rebalances(_any(_rebalance), "access_denied"),
    "throttled": _of_rebalances(_any(_rebalance), "throttled"),
    ROLLING_RESTART: Expectation(
        ("rebalances", "incidents"), _rolling_restart, ("member_left", "member_rejoined"), "group_id"
    ),
    "no_rebalance": _of_rebalances(_silence),
    "static_rejoin_no_rebalance": _of_rebalances(_silence),
    STATIC_LEAVE_SILENT: _of_rebalances(_silence),
    DURATION_BLAME: _of_rebalances(_duration_blame),
    OWNERS: Expectation(("assignment_changes",), _owners, (), "group_id", _TEN_MINUTES, _TEN_MINUTES),
    "fell_behind": Expectation(("backlogs",), _any(_fell_behind), (), "group_id"),
    "host_silent": Expectation(("rebalances", "incidents"), _host_silent, (), "group_id"),
    "failover_orderly": _of_outages(_any(_outage), "controlled_shutdown"),
    "failover_planned": _of_outages(_any(_outage), "controlled_shutdown"),
    "failover_crash": _of_outages(_any(_outage), "crash"),
    "failover_unresponsive": _of_outages(_any(_outage), "unresponsive"),
    FAILED_START: _of_outages(_any(_failed_start)),
    "preferred_election": _of_failovers(_any(_failover), "preferred_election"),
    "unclean_election": _of_failovers(_any(_failover), "unclean_election"),
    "offline_partition": _of_failovers(_any(_failover), "offline"),
    "reassignment": _of_failovers(_any(_failover), "reassignment"),
    RECORDS_LOST: _of_failovers(_any(_records_lost)),
    NO_FAILOVER: _of_failovers(_no_failover),
    "automatic_election": _of_failovers(
        _every(
            lambda act: ((act.topic, p) for p in act.fields["partitions"]),
            lambda act, row: row["kind"] == "preferred_election" and not row.get("requested_by_operator"),
        )
    ),
    LOG_DIR_FAILED: Expectation(
        ("failovers",),
        _every(
            lambda act: act.fields["led"],
            lambda act, row: row["kind"] == "log_dir_failed" and row["leader_from"] == act.broker,
        ),
    ),
    "imbalance": Expectation(("leader_imbalance",), _any(_imbalance), subject="broker"),
    "controller_change": Expectation(("controller_changes",), _any(_controller_change)),
    "quorum_lost": Expectation(("controller_changes",), _any(_quorum_lost)),
    "isr_lapse": Expectation(("out_of_sync_periods",), _any(_period), ("slow",), "broker"),
    FOLLOWER_REFUSED: Expectation(("out_of_sync_periods",), _any(_period), ("not_authenticated",), "broker"),
    BROKERS_ROLLED: Expectation(("rolling_restarts",), _any(_rolled), before=_TEN_MINUTES),
    "records_truncated": Expectation(("truncations",), _any(_truncated), subject="topic"),
    "under_min_isr": Expectation(("partition_risks",), _any(_under_min_isr), (), "topic", _DAY, _DAY),
    "writes_failed": Expectation(
        ("producer_failures", "unavailability"), _writes_failed, (), "client_id", _TEN_MINUTES, _TEN_MINUTES
    ),
    "finding": Expectation(("findings",), _any(_finding), (), "rule_id", _TEN_MINUTES, _TEN_MINUTES),
    "no_finding": Expectation(("findings",), _no_finding, (), "rule_id", _TEN_MINUTES, _TEN_MINUTES),
    **OF_OFFSETS,
}
"""What an act may expect. Recordings from before say failover_planned for a shutdown in order."""

SILENCES = frozenset(name for name, expectation in OF_ACTS.items() if expectation.matcher is _silence)
"""What expects no rebalance before the member's session runs out."""
