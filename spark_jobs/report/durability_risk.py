"""Data lost, data at risk, and what the loss of one more broker or rack would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.brokers import lost_records
from spark_jobs.report.model import Link
from spark_jobs.report.model_cluster import DurabilityRisk, Loss, LossSimulation, Risk
from spark_jobs.report.page_rows import Night, Row

LOSSES_TOLD = 60
RISKS_TOLD = 40
EXPOSED = (
    ("under_min_isr_ms", "could not be written with acks=all"),
    ("one_from_unclean_ms", "{was} one failure away from losing records to an unclean election"),
    ("one_from_offline_ms", "{was} one failure away from being offline"),
)

Statement = tuple[str, str]


def danger(night: Night) -> DurabilityRisk:
    """What was lost, what was risked, and what would be lost tonight."""
    elections = [r for r in night.failovers if r["records_lost_low"] is not None or r["records_lost_high"] is not None]
    cuts = sorted(night.rows("gold.truncations"), key=_worst_cut)
    losses = [*((_election, row) for row in elections), *((_cut, row) for row in cuts)]
    risks = sorted(night.rows("gold.partition_risks"), key=_worst_risk)
    loss_simulations = sorted(night.rows("gold.loss_simulations"), key=_worst_rehearsal)
    said = (*_losses_say(night), *exposure(night), _unknown(risks), _rehearsal_says(night))
    return DurabilityRisk(
        says=tuple(s for s in said if s),
        losses=tuple(tell(night, row) for tell, row in losses[:LOSSES_TOLD]),
        losses_left_out=max(0, len(losses) - LOSSES_TOLD),
        risks=tuple(_risk(night, row) for row in risks[:RISKS_TOLD]),
        risks_left_out=max(0, len(risks) - RISKS_TOLD),
        loss_simulations=tuple(_rehearsal(night, row) for row in loss_simulations),
        rehearsed_at=max((row["snapshot_at"] for row in loss_simulations), default=None),
    )


def _worst_cut(row: Row) -> tuple[object, ...]:
    return vocabulary.TRUNCATION_ORDER.index(row["verdict"]), row["happened_at"], row["truncation_id"]


def _election(night: Night, row: Row) -> Loss:
    anchor = plain.anchor("failover", row["failover_id"])
    return Loss(
        anchor="",
        partition=_partition(row),
        at=row["happened_at"],
        broker=row["leader_to"],
        what=vocabulary.FAILOVER_LABELS[row["kind"]],
        lost=lost_records(row["records_lost_low"], row["records_lost_high"]),
        tone="bad" if row["records_lost_high"] != 0 else "plain",
        confidence=row["confidence"],
        explanation=row["explanation"],
        failover=Link("its failover", anchor),
        evidence=night.evidence(row),
    )


def _cut(night: Night, row: Row) -> Loss:
    known = {r["failover_id"] for r in night.failovers}
    cut = row["records_cut"]
    taken = "its whole log" if row["is_whole"] else "a part of its log that nobody tells"
    return Loss(
        anchor=plain.anchor("truncation", row["truncation_id"]),
        partition=_partition(row),
        at=row["happened_at"],
        broker=row["broker"],
        what=f"cut {words.counted(cut, 'record')}" if cut is not None else f"cut {taken}",
        lost=vocabulary.TRUNCATION_LABELS[row["verdict"]],
        tone={"committed_lost": "bad", "unknown": "warn"}.get(row["verdict"], "plain"),
        confidence=row["confidence"],
        explanation=row["explanation"],
        failover=Link("its failover", plain.anchor("failover", row["failover_id"]))
        if row["failover_id"] in known
        else None,
        evidence=night.evidence(row),
    )


def _partition(row: Row) -> str:
    return f"{plain.shortened(row['topic'])}-{row['partition']}"


def _losses_say(night: Night) -> Iterable[Statement]:
    verdicts = Counter(row["verdict"] for row in night.rows("gold.truncations"))
    cuts = verdicts.total()
    if verdicts["committed_lost"]:
        count = verdicts["committed_lost"]
        yield "bad", f"{words.counted(count, 'truncation')} took committed records."
    if cuts and verdicts["nothing_committed_lost"] == cuts:
        yield "good", f"{words.counted(cuts, 'truncation')} of a log, and nothing committed went with any."
    elif verdicts["unknown"]:
        yield "warn", f"Of {words.counted(verdicts['unknown'], 'truncation')} nobody can tell what went with them."
    unclean = [row for row in night.failovers if row["kind"] == "unclean_election"]
    untold = sum(row["records_lost_high"] is None for row in unclean)
    if untold:
        yield (
            "warn",
            f"Of {words.counted(untold, 'unclean election')} nobody can tell how many records went at most.",
        )


def exposure(night: Night) -> tuple[Statement, ...]:
    """How many partitions were one failure from harm, or could not be written, and which one for longest."""
    rows = night.rows("gold.partition_risks")
    return tuple(said for column, harm in EXPOSED if (said := _exposed(rows, column, harm)))


def _exposed(rows: Sequence[Row], column: str, harm: str) -> Statement | None:
    met = [row for row in rows if row[column]]
    if not met:
        return None
    worst = max(met, key=lambda r: (r[column], r["topic"], r["partition"]))
    told = harm.format(was=words.verb(len(met), "was", "were"))
    longest = f"{'longest ' if len(met) > 1 else ''}{_partition(worst)}, for {words.duration(worst[column])}"
    return "warn", f"{words.counted(len(met), 'partition')} {told}: {longest}."


def _unknown(rows: Sequence[Row]) -> Statement | None:
    blind = sum(row["one_from_offline_ms"] is None for row in rows)
    if not blind:
        return None
    return "plain", (
        f"Of {words.counted(blind, 'partition')} no witness tells who was in sync: what"
        f" {words.verb(blind, 'it', 'they')} risked is not known."
    )


def worst_rehearsal(night: Night) -> Row | None:
    """The broker or rack whose loss would do most harm, by the last reading."""
    return min(night.rows("gold.loss_simulations"), key=_worst_rehearsal, default=None)


def _rehearsal_says(night: Night) -> Statement | None:
    worst = worst_rehearsal(night)
    if worst is None:
        return None
    if _rehearsal_tone(worst) == "good":
        return "good", "Whichever broker or rack were lost now, every partition would keep a leader and stay writable."
    return _rehearsal_tone(worst), worst["explanation"]


def _worst_rehearsal(row: Row) -> tuple[object, ...]:
    return (
        -row["partitions_offline"],
        -row["partitions_unclean"],
        -row["partitions_unwritable"],
        -row["partitions_unjudged"],
        row["scope_kind"],
        row["scope"],
    )


def _rehearsal_tone(row: Row) -> str:
    if row["partitions_offline"] or row["partitions_unclean"]:
        return "bad"
    return "warn" if row["partitions_unwritable"] or row["partitions_unjudged"] else "good"


def _rehearsal(night: Night, row: Row) -> LossSimulation:
    brokers = f" (brokers {words.ranges(row['broker_ids'])})" if row["scope_kind"] == "rack" else ""
    return LossSimulation(
        anchor=plain.anchor("simulation", f"{row['scope_kind']} {row['scope']}"),
        what=f"{row['scope_kind']} {plain.shortened(row['scope'])}{brokers}",
        tone=_rehearsal_tone(row),
        offline=row["partitions_offline"],
        unclean=row["partitions_unclean"],
        unwritable=row["partitions_unwritable"],
        unjudged=row["partitions_unjudged"],
        leaders=row["leaders_to_move"],
        groups="not known" if row["group_ids"] is None else words.number(len(row["group_ids"])),
        stranded=tuple(plain.shortened(g) for g in row["stranded_group_ids"] or ()),
        worst=tuple(plain.shortened(p) for p in row["worst_partitions"]),
        message=row["explanation"],
        evidence=night.evidence(row),
    )


def _worst_risk(row: Row) -> tuple[object, ...]:
    columns = ("leaderless_low_ms", "one_from_unclean_ms", "under_min_isr_ms", "one_from_offline_ms", "at_min_isr_ms")
    return *(-(row[column] or 0) for column in columns), row["topic"], row["partition"]


def _risk(night: Night, row: Row) -> Risk:
    replicas = "?" if row["replication_factor"] is None else str(row["replication_factor"])
    least = "?" if row["min_insync_replicas"] is None else str(row["min_insync_replicas"])
    window_ms = words.elapsed_ms(row["window_from"], row["window_to"]) or 0.0
    return Risk(
        anchor=plain.anchor("risk", f"{row['topic']}-{row['partition']}"),
        partition=_partition(row),
        replicas=f"{replicas}, {least} at least in sync",
        leaderless=words.between(row["leaderless_low_ms"], row["leaderless_high_ms"]),
        under_min_isr_ms=row["under_min_isr_ms"],
        at_min_isr_ms=row["at_min_isr_ms"],
        one_from_offline_ms=row["one_from_offline_ms"],
        one_from_unclean_ms=row["one_from_unclean_ms"],
        under_replicated_ms=row["under_replicated_ms"],
        known=words.percent(row["known_ms"] / window_ms) if window_ms else "",
        evidence=night.evidence(row),
    )
