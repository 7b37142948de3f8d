"""Which verdicts about brokers, leaders and replicas are wrong, whatever their confidence, given what was done.

- an outage, while the nearest thing done to that broker within 40 s expects another kind, or none was done;
- starts that failed for another reason than the one that they were made to fail for;
- a failover put down to an outage of its old leader, while the last thing done to that broker expects another kind,
  or nothing was done to it; a preferred election that takes over from a leader that is missed already;
- a reassignment of a topic for which no act expects one, an unclean election that neither an act expects nor the
  cluster's metadata log holds; a failed directory of a broker whose directories no act took away;
- a loss that is not what was counted, or of a partition that a replica in sync took over;
- a time without a leader whose bounds leave out when the old leader went;
- an election reported as requested that no act requested, or the other way round;
- a failover that is invented: nothing was done that could have taken the leader from that partition, or given it one;
- a controller that was down when it is said to have become the controller;
- a period of a broker that was away reported as one that was slow, or the other way round;
- committed records lost in a partition whose leaders all came from the ISR;
- a rolling restart that blames another broker than the one that was stopped too early.

What happens before the first act or after the last is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import StartFailure
from lab.drill.act_expectations import (
    BROKERS_ROLLED,
    FAILED_START,
    FOLLOWER_REFUSED,
    LOG_DIR_FAILED,
    NO_FAILOVER,
    OUTAGE_APART,
    RECORDS_LOST,
    codes_of,
    early_of,
    holds_loss,
    is_roll_of,
)
from lab.drill.acts import ELECTED_UNCLEANLY, START_ENDED, Act
from lab.drill.rows import GoldRow, GoldTables
from lab.drill.wrong import PlayedNight, expects

OUTAGE_OF_FAILOVER: Mapping[str, str] = {
    "controlled_shutdown": "controlled_shutdown",
    "broker_crash": "crash",
    "broker_unresponsive": "unresponsive",
}
"""failovers.kind → the kind of the outage that such a failover is put down to."""
ASKED_FOR = ("unclean_election", "reassignment")
UNCLEAN = ("unclean_election", RECORDS_LOST)
AT_ONCE_GONE = ("broker_kill9", "broker_sigstop")
STARTS_MS, CLOCK_MS = 5000, 1000
"""How long a broker takes to lead what it was elected for; how far an act is from the line that shows it."""
AT_ONCE = timedelta(seconds=10)
"""So soon comes an election that an operator requested; an automatic one may come soon after it."""


_JUDGED_PERIODS = ("outage", "disk", "slow", "not_authenticated")


def _outage_kinds(act: Act) -> tuple[str, ...]:
    """What an outage is called that an act causes; none where it causes none."""
    return codes_of(act.verdict, "broker_outages")


def wrong_outage(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why an outage is wrong; None where nothing speaks against it, or where it lies outside the truth."""
    if not night.covers(row["down_at"]):
        return None
    on_broker = [a for a in night.acts if _outage_kinds(a) and a.broker == row["broker"]]
    near = [a for a in on_broker if abs(row["down_at"] - a.at) <= OUTAGE_APART]
    if not near:
        return "nothing was done to that broker that stops it"
    # A stop lies within its absence, which begins with the last sign of life.
    since = row["down_at"] - timedelta(milliseconds=CLOCK_MS)
    within = [a for a in near if row["up_at"] and since <= a.at <= row["up_at"]]
    nearest = min(within or near, key=lambda a: abs(row["down_at"] - a.at))
    if row["kind"] not in _outage_kinds(nearest):
        return expects(nearest)
    return _another_start_failure(row, night)


def _another_start_failure(row: GoldRow, night: PlayedNight) -> str | None:
    until = row["up_at"] or night.acts[-1].at
    meanwhile = [a for a in night.acts if a.broker == row["broker"] and row["down_at"] <= a.at <= until]
    played = {a.fields["why"] for a in meanwhile if a.expect == FAILED_START}
    if played & {StartFailure.NOT_AUTHENTICATED, StartFailure.ID_TAKEN}:
        played.add(StartFailure.NOT_REGISTERED)  # Who is refused is not registered either.
    is_open = any(a.action in (START_ENDED, "broker_starts_fail") and not a.expect for a in meanwhile)
    if row.get("start_failure") in (None, *played) or is_open:
        return None
    return f"its starts were made to fail for {', '.join(sorted(played)) or 'nothing'}"


def wrong_failover(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why a failover is wrong; None where nothing speaks against it, or where it lies outside the truth."""
    if not night.covers(row["happened_at"]):
        return None
    before = night.before(row, "failovers")
    reasons = (rule(row, before, night) for rule in _FAILOVER_RULES)
    return next((why for why in reasons if why), None)


def _not_asked_for(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    if row["kind"] not in ASKED_FOR:
        return None
    is_expected = any(a.topic == row["topic"] and row["kind"] in codes_of(a.expect, "failovers") for a in before)
    if is_expected or (row["kind"] == "unclean_election" and any(_elected_uncleanly(a, row) for a in before)):
        return None
    return f"no act expects the {row['kind']} of that topic"


def _elected_uncleanly(act: Act, row: GoldRow) -> bool:
    """Whether the metadata log has the unclean election that a row names."""
    return act.action == ELECTED_UNCLEANLY and _is_place(act, row) and act.fields["leader"] == row["leader_to"]


def _elected_while_down(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    """A preferred election takes over from a leader that runs; one that is stopped and detected as down has none."""
    acts = _done_to_leader(row, before)[-1:] if row["kind"] == "preferred_election" else []
    outages = [a for a in acts if _outage_kinds(a) and _was_missed(a, row, night)]
    return f"the old leader was down: {expects(outages[0])}" if outages else None


def _another_outage(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    """Why an outage is wrong. An act after the election did not cause it: an election may precede a shutdown."""
    kind = OUTAGE_OF_FAILOVER.get(row["kind"])
    if kind is None or row.get("leader_from") in (None, -1):
        return None
    outages = [a for a in _done_to_leader(row, before) if _outage_kinds(a)]
    if not outages:
        return "nothing was done to the old leader that stops it"
    return None if kind in _outage_kinds(outages[-1]) else expects(outages[-1])


def _done_to_leader(row: GoldRow, before: list[Act]) -> list[Act]:
    """The acts on the old leader until the failover."""
    return [a for a in before if a.is_on_broker and a.broker == row.get("leader_from") and a.at <= row["happened_at"]]


def _was_missed(outage: Act, row: GoldRow, night: PlayedNight) -> bool:
    """Until it is missed a controller takes a dead broker for a living one, and may elect others in its place."""
    outages = [o for o in night.tables["broker_outages"] if o["broker"] == outage.broker and o["detected_at"]]
    missed = [o["detected_at"] for o in outages if abs(o["down_at"] - outage.at) <= OUTAGE_APART]
    return not missed or row["happened_at"] >= min(missed)


def _no_such_disk(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    if row["kind"] != "log_dir_failed":
        return None
    acts = [a for a in before if a.at <= row["happened_at"] and row.get("leader_from") in (None, a.broker)]
    failed = [a for a in acts if a.action == "log_dir_failed"]
    if not failed:
        return "no act took a directory away from the old leader"
    back = _was_started_again(failed[-1], row["happened_at"], night)
    return "the old leader had been started again, with all its directories" if back else None


def _was_started_again(act: Act, at: datetime, night: PlayedNight) -> bool:
    """Whether the broker of an act went down after it and was up again at that instant."""
    since = [o for o in night.tables["broker_outages"] if o["broker"] == act.broker and o["down_at"] >= act.at]
    return any(o["up_at"] and o["up_at"] <= at for o in since)


def _another_loss(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    low, high = row["records_lost_low"], row["records_lost_high"]
    if row["kind"] != "unclean_election":
        return f"{low} records lost where a replica in sync took over" if low else None
    losses = [a for a in before if a.expect == RECORDS_LOST and _is_place(a, row)]
    if not losses or (low, high) == (None, None) or holds_loss(row, losses[-1].fields["lost"]):
        return None
    return f"{losses[-1].fields['lost']} records were lost, and not {low} to {high}"


def _is_place(act: Act, row: GoldRow) -> bool:
    return act.topic == row["topic"] and act.partition in (None, row["partition"])


def _another_time(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    """From when the old leader was stopped at once until the new one was elected; it starts to lead a little later."""
    low, high = row.get("leaderless_low_ms"), row.get("leaderless_high_ms")
    acts = _done_to_leader(row, before)
    if row["kind"] not in ("broker_crash", "broker_unresponsive") or not acts or acts[-1].action not in AT_ONCE_GONE:
        return None
    lasted = (row["happened_at"] - acts[-1].at) / timedelta(milliseconds=1)
    if (low or 0) <= lasted + STARTS_MS and (high is None or high >= lasted - CLOCK_MS):
        return None
    return f"it had no leader for {lasted:.0f} ms, and not {low} to {high}"


def _asked_otherwise(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    if row["kind"] != "preferred_election" or row.get("requested_by_operator") is None:
        return None
    since = [row["happened_at"] - a.at for a in before if a.action == "preferred_election" and a.topic == row["topic"]]
    if row["requested_by_operator"]:
        return None if since else "no act requested that election"
    return "someone asked for that election" if any(s <= AT_ONCE for s in since) else None


def _invented(row: GoldRow, before: list[Act], night: PlayedNight) -> str | None:
    """Nothing was done to either leader, to the topic or to a controller; or what was done moves no leader."""
    if any(a.expect == NO_FAILOVER and _is_place(a, row) for a in before if a is _last_on(row, before)):
        return "what was done to that partition moves no leader"
    sides = {row.get("leader_from"), row.get("leader_to")} - {None, -1}
    # An automatic election waits until a broker's imbalance exceeds leader.imbalance.per.broker.percentage.
    earlier = [a for a in night.acts if a.at <= row["happened_at"]] if row["kind"] == "preferred_election" else []
    explains = any(
        a.broker in sides or a.fields.get("taken") in sides or a.topic == row["topic"] or "controller" in a.fields
        for a in (*before, *earlier)
    )
    return None if explains or not sides else "nothing was done that gave or took a leader there"


def _last_on(row: GoldRow, before: list[Act]) -> Act | None:
    return next((a for a in reversed(before) if a.at <= row["happened_at"] and (a.topic or a.broker is not None)), None)


_FAILOVER_RULES: tuple[Callable[[GoldRow, list[Act], PlayedNight], str | None], ...] = (
    _not_asked_for,
    _elected_while_down,
    _another_outage,
    _no_such_disk,
    _another_loss,
    _another_time,
    _asked_otherwise,
    _invented,
)


def wrong_controller(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why a controller change is wrong; None where nothing speaks against it.

    A node in a controlled shutdown votes, and may be elected, until its process has ended.
    """
    acts = [a for a in night.acts if a.is_on_broker and a.broker == row["controller_to"] and a.at < row["happened_at"]]
    if not acts or not _outage_kinds(acts[-1]):
        return None
    end = datetime.fromisoformat(acts[-1].fields.get("ended", acts[-1].at.isoformat()))
    is_down = row["happened_at"] - end > timedelta(seconds=2)
    return f"it was down: {expects(acts[-1])}" if is_down else None


def wrong_period(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why a period is wrong; None where nothing speaks against it, or where it lies outside the truth.

    On a busy machine a broker may be slow without any act. A certificate that has ended refuses those on both sides.
    """
    if not night.covers(row["started_at"]):
        return None
    before = night.before(row, "out_of_sync_periods")
    on_broker = (a for a in before if a.broker == row["broker"] or a.verdict == FOLLOWER_REFUSED)
    acts = [a for a in on_broker if _periods_of(a) or a.action == "broker_start"]
    is_judged = row["kind"] in _JUDGED_PERIODS and (acts or row["kind"] != "slow")
    if not is_judged or any(row["kind"] in (_periods_of(a) or (row["kind"],)) for a in acts):
        return None
    return expects(acts[-1]) if acts else "nothing was done to that broker that takes it out of an ISR"


def _periods_of(act: Act) -> tuple[str, ...]:
    """What an act makes of a broker's time out of ISRs. One that has just started may be away for some, or slow."""
    if act.verdict == LOG_DIR_FAILED:
        return ("disk",)
    return ("outage",) if _outage_kinds(act) else codes_of(act.verdict, "out_of_sync_periods")


def wrong_truncation(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why a cut of a log is wrong; None where nothing speaks against it, or where it lies outside the truth."""
    if not night.covers(row["happened_at"]) or row["verdict"] == "unknown":
        return None
    before = (a for a in night.before(row, "truncations") if _is_place(a, row))
    unclean = any(a.expect in UNCLEAN or a.action == ELECTED_UNCLEANLY for a in before)
    if row["verdict"] == "committed_lost" and not unclean:
        return "every leader of that partition came from the ISR"
    return None


def wrong_roll(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Why a rolling restart is wrong; None where nothing speaks against it.

    Of several rolls it is the first that fits: the act is written when the roll is over.
    """
    rolls = (a for a in night.acts if a.expect == BROKERS_ROLLED)
    act = next((a for a in rolls if is_roll_of(a, row)), None)
    if act is None or early_of(act, row) == set(act.fields["too_early"]):
        return None
    return f"stopped too early: {sorted(act.fields['too_early']) or 'none'}"
