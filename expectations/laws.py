"""The laws that the catalog cannot state of one row alone: across rows, across tables, across windows.

Each is a predicate over one row of its table, in SQL that DuckDB and Spark read alike. It may look at other rows
(window functions) and at other tables (subqueries) by their names: the staged tables, those of bronze, silver and
quality in the window, `undated_records` (of bronze.log_records), and `published_incidents` and
`published_broker_outages`, what gold holds already: all of one cluster.
`published_window` is one row (cluster, window_from, window_to).

Critical is what only a fault of ours can break: such rows contradict each other and must not be published.
Warning is what lost evidence breaks as well (a log that is missing, a topic that was created again, an incident that
began before the first window): refusing it would hide the night from those who have the least to look at.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_hindsight.catalog.table_model import Check
from kafka_hindsight.measures.unavailability_sums import NOTICED_MS

TOLERATED_BREAKS = 5
TOLERATED_BREAK_SHARE = 0.25
"""Of the generations rebuilt: beyond it, more than one in four follows a hole, and gold shows another history than the
night. A handful are tolerated whatever the share, since a short window has few generations to compare with."""


def _is_among(value: str, query: str) -> str:
    """The condition that a query gives the value. Over nulls IN would answer null, which counts as kept."""
    return f"coalesce({value} IN ({query}), false)"


def _outage_known(column: str) -> Check:
    is_staged, is_published = (
        _is_among(column, f"SELECT outage_id FROM {table}") for table in ("broker_outages", "published_broker_outages")
    )
    return Check(
        "outage_known",
        f"{column} IS NULL OR {is_staged} OR {is_published}",
        "the outage a row names is a row of broker_outages; one that began before the first window is not",
        severity="warning",
    )


_OUTAGE_KNOWN = _outage_known("outage_id")


def _incident_known(row: str) -> Check:
    is_staged, is_published = (
        _is_among("incident_id", f"SELECT incident_id FROM {table}") for table in ("incidents", "published_incidents")
    )
    return Check(
        "incident_known",
        f"incident_id IS NULL OR {is_staged} OR {is_published}",
        f"the incident that {row} names is a row of incidents; one that began before the first window is not",
        severity="warning",
    )


def _proof_quoted(name: str, table: str, parts: str, condition: str = "true") -> Check:
    """An incident quotes the first quotation of a part, which decides its verdict, where it has such parts."""
    own = f"FROM {table} p WHERE p.incident_id = incidents.incident_id AND {condition}"
    return Check(
        name,
        f"(SELECT count(*) {own}) = 0"
        f" OR (SELECT count(*) {own} AND array_contains(incidents.evidence, element_at(p.evidence, 1))) > 0",
        f"an incident quotes what decides the verdict on {parts}",
        severity="warning",
    )


_BEFORE = (
    "OVER (PARTITION BY topic, `partition`, topic_incarnation"
    " ORDER BY epoch_to NULLS FIRST, happened_at NULLS FIRST, failover_id NULLS FIRST)"
)
_LEADERLESS = "kind = 'no_leader'"


def _is_marked(epoch: str) -> str:
    return _is_among(
        f"(topic, `partition`, topic_incarnation, {epoch})",
        "SELECT topic, `partition`, topic_incarnation, next_epoch FROM leadership_gaps",
    )


def _lines_of(records: str) -> str:
    return f"coalesce((SELECT sum(r.line_count) FROM {records} r WHERE r.source = coverage.source), 0)"


LAWS: Mapping[str, tuple[Check, ...]] = {
    "gold.failovers": (
        Check(
            "chain_unbroken",
            f"leader_from = lag(leader_to) {_BEFORE} OR {_is_marked('epoch_from')}",
            "a partition's leader is taken from the broker that the failover before gave it to, or a row of"
            " leadership_gaps marks the break",
        ),
        Check(
            "epochs_rise",
            f"epoch_from >= lag(epoch_to) {_BEFORE} AND happened_at >= lag(happened_at) {_BEFORE}",
            "a partition's failovers follow each other in epochs and in time, until its topic is created again",
        ),
        Check(
            "skips_marked",
            f"epoch_to = epoch_from + 1 OR {_is_marked('epoch_to')}",
            "a row of leadership_gaps marks each leader epoch that a failover skips",
        ),
        Check(
            "counted_in_ledger",
            "leader_to = -1 OR coalesce(leaderless_low_ms, 0) = 0 OR "
            + _is_among("(topic, `partition`)", f"SELECT topic, `partition` FROM unavailability WHERE {_LEADERLESS}")
            + " OR unix_millis(happened_at) - coalesce(leaderless_high_ms, leaderless_low_ms)"
            " < unix_millis((SELECT window_from FROM published_window))",
            "a time without a leader that is proven is a row of unavailability in the window in which it began",
        ),
        _OUTAGE_KNOWN,
    ),
    "gold.unavailability": (
        Check(
            "apart",
            "started_at >= max(coalesce(ended_at, TIMESTAMP '9999-12-31 00:00:00')) OVER (PARTITION BY kind, topic,"
            " `partition`, group_id ORDER BY started_at NULLS FIRST, ended_at NULLS LAST, unavailability_id NULLS FIRST"
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
            "no two times of one kind and one partition or group overlap: each counts once",
        ),
        Check(
            "within_failover",
            "failover_id IS NULL OR ended_at IS NULL OR low_ms <= coalesce((SELECT max(f.leaderless_low_ms)"
            " FROM failovers f WHERE f.failover_id = unavailability.failover_id), low_ms)",
            "a time without a leader is proven by the failover that it names",
        ),
        _incident_known("a row of unavailability"),
        _OUTAGE_KNOWN,
    ),
    "gold.partition_risks": (
        Check(
            "counts_the_ledger",
            "leaderless_low_ms >= coalesce((SELECT sum(u.low_ms) FROM unavailability u"
            f" WHERE u.{_LEADERLESS} AND u.ended_at < (SELECT window_to FROM published_window)"
            " AND u.topic = partition_risks.topic AND u.`partition` = partition_risks.`partition`), 0)",
            "a partition was without a leader for as long as the rows of unavailability prove, at least",
        ),
    ),
    "gold.controller_changes": (_OUTAGE_KNOWN,),
    "gold.coordinator_moves": (_OUTAGE_KNOWN,),
    "gold.incidents": (
        Check(
            "counts_its_rebalances",
            "ended_at >= (SELECT window_to FROM published_window) OR rebalance_count ="
            " (SELECT count(*) FROM rebalances r WHERE r.incident_id = incidents.incident_id)",
            "an incident that ended inside the window counts the rebalances that name it",
        ),
        _outage_known("first_outage_id"),
        Check(
            "counts_its_failovers",
            "ended_at >= (SELECT window_to FROM published_window) OR coalesce(failover_count, 0) ="
            " (SELECT count(*) FROM failovers f WHERE f.incident_id = incidents.incident_id)",
            "an incident that ended inside the window counts the failovers that name it",
        ),
        Check(
            "ranked_once",
            "harm_rank IS NULL OR count(*) OVER (PARTITION BY harm_rank) = 1",
            "no two incidents of a window have the same rank",
        ),
        Check(
            "counts_the_ledger",
            "coalesce(partitions_offline, 0) >= coalesce((SELECT count(DISTINCT (u.topic, u.`partition`))"
            " FROM unavailability u WHERE u.incident_id = incidents.incident_id"
            f" AND u.{_LEADERLESS} AND (u.low_ms > 0 OR u.confidence IN ('certain', 'likely'))"
            f" AND coalesce(u.ended_at >= u.started_at + INTERVAL {NOTICED_MS} MILLISECONDS, true)),"
            " 0)",
            "an incident counts each partition that the rows of unavailability show without a leader",
        ),
        _proof_quoted("proves_its_outage", "broker_outages", "an absence of its own"),
        _proof_quoted("proves_its_loss", "failovers", "a loss of records", "p.records_lost_low > 0"),
        _proof_quoted("proves_its_cause", "rebalances", "a rebalance with its cause", "p.cause = incidents.cause"),
    ),
    "gold.broker_outages": (_incident_known("an outage"),),
    "gold.rebalances": (
        _incident_known("a rebalance"),
        Check(
            "generation_reached_once",
            "to_generation IS NULL OR count(*) OVER (PARTITION BY group_id, to_generation) = 1 OR "
            + _is_among("group_id", "SELECT group_id FROM generation_gaps WHERE next_generation <= after_generation"),
            "a group reaches a generation once, unless its numbering is known to have started again",
        ),
    ),
    "gold.ownership": (
        Check(
            "owned_once",
            "valid_from >= max(valid_to) OVER (PARTITION BY group_id, topic, `partition`"
            " ORDER BY valid_from NULLS FIRST, valid_to NULLS FIRST, member_id"
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
            "a partition has one owner within a group at a time",
            severity="warning",
        ),
    ),
    "gold.leader_imbalance": (
        Check(
            "counts_every_partition",
            "origin = 'broker' OR sum(preferred_partitions) OVER (PARTITION BY snapshot_at) = (SELECT"
            " count(p.preferred_leader) FROM partition_snapshots p WHERE p.snapshot_at = leader_imbalance.snapshot_at)",
            "the rows of a snapshot count every partition of it once",
        ),
    ),
    "quality.coverage": (
        Check(
            "counts_the_records",
            f"lines_in - {_lines_of('log_records')} IN (0, {_lines_of('undated_records')})"
            " AND (SELECT sum(c.lines_in) FROM coverage c)"
            " >= coalesce((SELECT sum(r.line_count) FROM log_records r), 0)",
            "a source has as many lines as its records of the window; those without an instant count in one window",
        ),
    ),
    "quality.generation_gaps": (
        Check(
            "break_explained",
            "explained_by IS NOT NULL",
            "a break in a group's generations is explained",
            severity="warning",
        ),
        Check(
            "breaks_bounded",
            "(SELECT count_if(explained_by IS NULL) FROM generation_gaps) <= greatest("
            f"{TOLERATED_BREAKS}, {TOLERATED_BREAK_SHARE} * (SELECT count(to_generation) FROM rebalances))",
            f"unexplained breaks are no more than {TOLERATED_BREAKS}, or one in four of the generations rebuilt",
        ),
    ),
}
