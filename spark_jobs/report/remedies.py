"""What would have helped: the settings of each group under which rebalances, or their cost, would not have been."""

from __future__ import annotations

from spark_jobs.knowledge.remedies import REMEDIES, REMEDY_BY_SETTING
from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.model import Link, Remedies, Remedy
from spark_jobs.report.page_rows import Night, Row

REMEDIES_TOLD = 100
LINKS_PER_REMEDY = 20


def remedies(night: Night) -> Remedies:
    """The replays, those first that avoid most rebalances, then those that avoid most cost."""
    rows = sorted(night.rows("gold.remedies"), key=_order)
    told = {row["setting"] for row in rows}
    return Remedies(
        says=_says(rows),
        remedies=tuple(_remedy(night, row) for row in rows[:REMEDIES_TOLD]),
        left_out=max(0, len(rows) - REMEDIES_TOLD),
        prices=tuple(
            f"{words.sentence(vocabulary.REMEDY_LABELS[r.setting])} ({r.option}) costs something too: {r.costs}."
            f" Source: {r.source}."
            for r in REMEDIES
            if r.setting in told
        ),
    )


def _order(row: Row) -> tuple[object, ...]:
    return (
        -row["rebalances_avoided"],
        -(row["partition_seconds_avoided"] or 0.0),
        row["group_id"],
        row["setting"],
    )


def _says(rows: list[Row]) -> str:
    if not rows:
        return "No setting is known that would have avoided a rebalance, or its cost."
    groups = len({row["group_id"] for row in rows})
    return (
        f"A replay of the window for {words.counted(groups, 'group')}, one setting at a time and all else as it was:"
        " what would have been, and no promise."
    )


def _remedy(night: Night, row: Row) -> Remedy:
    known = {r["rebalance_id"]: r for r in night.rebalances_of_group.get(row["group_id"], ())}
    avoided = [known[i] for i in row["rebalance_ids"] if i in known]
    return Remedy(
        group_id=plain.shortened(row["group_id"]),
        setting=vocabulary.REMEDY_LABELS[row["setting"]],
        option=REMEDY_BY_SETTING[row["setting"]].option,
        value_now=row["value_now"],
        value_smallest=row["value_smallest"],
        avoided=row["rebalances_avoided"],
        total=row["rebalances_total"],
        partition_seconds=row["partition_seconds_avoided"],
        confidence=row["confidence"],
        explanation=row["explanation"],
        rebalances=tuple(
            Link(words.instant(r["started_at"], night.day), plain.anchor("rebalance", r["rebalance_id"]))
            for r in avoided[:LINKS_PER_REMEDY]
        ),
        evidence=night.evidence(row),
    )
