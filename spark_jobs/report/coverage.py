"""What was seen, what was not, and how the report was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from spark_jobs.report import plain, words
from spark_jobs.report.page import Breach, Coverage, Gap, LeaderGap, Making, Refusal, Shape, SourceCoverage, Unread
from spark_jobs.report.page_rows import Night, Row

# What kind of news a sentence is (good, plain, warn), and the sentence.
Statement = tuple[str, str]

SHAPES = 40
REFUSALS = 40
LEADER_GAPS = 60
SILENT_BROKERS = 12
NOT_READ = 60


def coverage(night: Night) -> Coverage:
    """What was read and what was not, before anything is claimed."""
    not_read = night.run.get("files_not_read") or ()
    left_out = [f"… and {words.number(len(not_read) - NOT_READ)} more"] if len(not_read) > NOT_READ else []
    statements = (
        _lines(night),
        _generations(night),
        _leaders(night),
        _witnesses(night),
        *_silent_brokers(night),
        _silence(night),
        _expectations(night),
        _not_read(not_read),
    )
    return Coverage(
        statements=tuple(s for s in statements if s),
        unread=unread_sentence(night),
        sources=_sources(night),
        gaps=_gaps(night),
        leader_gaps=_leader_gaps(night),
        leader_gaps_left_out=max(0, len(night.rows("quality.leadership_gaps")) - LEADER_GAPS),
        files_not_read=(*(plain.shortened(str(f), 200) for f in not_read[:NOT_READ]), *left_out),
        warnings=tuple(str(w) for w in night.run.get("warnings") or ()),
    )


def totals(night: Night) -> Counter[str]:
    """Physical lines of all sources, by what became of them."""
    fates = ("lines_in", "events", "ignored", "unparsed", "quarantined")
    total: Counter[str] = Counter()
    for row in night.rows("quality.coverage"):
        total.update({fate: row[fate] for fate in fates})
    return total


def unread_sentence(night: Night) -> str:
    """How many lines could not be read: `2 lines of 1.9 million could not be read.`"""
    total = totals(night)
    if not night.rows("quality.coverage"):
        return "Nothing is recorded about what was read, so nobody can tell what was missed."
    if not total["lines_in"]:
        return "No line was read, so nothing can be said about what happened."
    lost = total["unparsed"] + total["quarantined"]
    if not lost:
        return f"Every one of {words.counted(total['lines_in'], 'line')} could be read."
    return f"{words.counted(lost, 'line')} of {words.number(total['lines_in'])} could not be read."


def unexplained_gaps(night: Night) -> list[Row]:
    """Breaks in the generations of a group that nothing explains: evidence is lost there."""
    return [row for row in night.rows("quality.generation_gaps") if row["explained_by"] is None]


def generations_sentence(night: Night) -> str:
    """Whether rebalances are known to be missing; empty where no group was seen."""
    gaps = unexplained_gaps(night)
    if gaps:
        groups = len({row["group_id"] for row in gaps})
        missing = sum(max(0, row["next_generation"] - row["after_generation"] - 1) for row in gaps)
        least = (
            f": at least {words.counted(missing, 'rebalance')} {words.verb(missing, 'is', 'are')} missing here"
            if missing
            else ""
        )
        return (
            f"{words.counted(len(gaps), 'break')} in the generations of {words.counted(groups, 'group')} "
            f"{words.verb(len(gaps), 'has', 'have')} no explanation{least}."
        )
    return "Every generation is accounted for." if night.rows("gold.rebalances") else ""


def broken_expectations(night: Night, severity: str = "") -> list[Row]:
    """Expectations that did not hold, all of them or those of one severity."""
    rows = night.rows("quality.validation_results")
    return [r for r in rows if not r["success"] and severity in ("", r["severity"])]


def _lines(night: Night) -> Statement:
    total = totals(night)
    if not total["lines_in"]:
        return "warn", unread_sentence(night)
    counted = sum(total[fate] for fate in ("events", "ignored", "unparsed", "quarantined"))
    if counted != total["lines_in"]:
        return "warn", (
            f"The account of lines does not balance: {words.counted(total['lines_in'], 'line')} went in, "
            f"{words.number(counted)} came out."
        )
    sources = len(night.rows("quality.coverage"))
    fates = (
        ("events", "told something", "told something"),
        ("ignored", "is known to carry nothing of use", "are known to carry nothing of use"),
        ("unparsed", "no pattern claims", "no pattern claims"),
        ("quarantined", "is broken", "are broken"),
    )
    parts = [f"{words.number(total[f])} {words.verb(total[f], one, many)}" for f, one, many in fates if total[f]]
    return _good(not (total["unparsed"] or total["quarantined"])), (
        f"{words.counted(total['lines_in'], 'line')} of {words.counted(sources, 'source')}: {words.listed(parts)}."
    )


def _generations(night: Night) -> Statement | None:
    said = generations_sentence(night)
    if not said:
        return None
    explained = len(night.rows("quality.generation_gaps")) - len(unexplained_gaps(night))
    if explained:
        said += f" {words.counted(explained, 'further break')} {words.verb(explained, 'is', 'are')} explained."
    return _good(not unexplained_gaps(night)), said


def unknown_leaders(night: Night) -> list[Row]:
    """Breaks in the leader epochs of a partition that nothing explains: a change of leader may lie in each."""
    return [row for row in night.rows("quality.leadership_gaps") if row["explained_by"] is None]


def leaders_sentence(night: Night) -> str:
    """How often nobody saw who led; empty where every leader epoch is accounted for."""
    unseen = unknown_leaders(night)
    if not unseen:
        return ""
    partitions = len({(row["topic"], row["partition"]) for row in unseen})
    return (
        f"{words.counted(len(unseen), 'break')} in the leader epochs of {words.counted(partitions, 'partition')} "
        f"{words.verb(len(unseen), 'has', 'have')} no explanation: nobody saw who led in between."
    )


def _leaders(night: Night) -> Statement | None:
    said = leaders_sentence(night)
    if said:
        return "warn", said
    return ("good", "Every leader epoch that was seen follows from the one before.") if night.failovers else None


def _leader_gaps(night: Night) -> tuple[LeaderGap, ...]:
    rows = sorted(
        night.rows("quality.leadership_gaps"),
        key=lambda r: (r["explained_by"] is not None, r["seen_at"], r["topic"], r["partition"], r["next_epoch"]),
    )
    return tuple(_leader_gap(night, row) for row in rows[:LEADER_GAPS])


def _leader_gap(night: Night, row: Row) -> LeaderGap:
    partition = f"{row['topic']}-{row['partition']}"
    before, after = (words.leader(row[side]) for side in ("leader_before", "leader_after"))
    return LeaderGap(
        anchor=plain.anchor("break", f"{partition} {row['topic_incarnation']} {row['next_epoch']}"),
        partition=plain.shortened(partition),
        epochs=f"{row['after_epoch']} → {row['next_epoch']}",
        leaders=f"{before} → {after}",
        seen_at=row["seen_at"],
        is_explained=row["explained_by"] is not None,
        says=row["explanation"],
        evidence=night.evidence(row),
    )


def _silent_brokers(night: Night) -> tuple[Statement, ...]:
    """Which brokers' logs were not read, and what rests on less for it."""
    rows = [row for row in night.rows("gold.findings") if row["rule_id"] == "broker_log_missing"]
    return tuple(
        ("warn", f"{words.sentence(row['message'])}.")
        for row in sorted(rows, key=lambda r: r["subject"])[:SILENT_BROKERS]
    )


def _witnesses(night: Night) -> Statement | None:
    origins = {row["origin"] for row in night.rows("quality.coverage")}
    absent = []
    if "broker" not in origins:
        absent.append("no broker's log")
    if "client" not in origins:
        absent.append("no client's log (why a member left, or how long it was busy, often only its own log tells)")
    if not night.rows("gold.leader_imbalance"):
        absent.append("no snapshot of the cluster (lag, imbalance and who owned what come from those)")
    return ("warn", f"Not among the witnesses: {words.listed(absent)}.") if absent else None


def _not_read(not_read: Sequence[str]) -> Statement | None:
    if not not_read:
        return None
    return "plain", f"{words.counted(len(not_read), 'file')} {words.verb(len(not_read), 'was', 'were')} not read."


def _silence(night: Night) -> Statement | None:
    told = [row for row in night.rows("quality.coverage") if row["longest_silence_ms"] is not None]
    if not told:
        return None
    worst = max(told, key=lambda r: (r["longest_silence_ms"], r["source"]))
    return "plain", (
        f"The longest silence was {words.duration(worst['longest_silence_ms'])}, in {plain.shortened(worst['source'])};"
        " a log with nothing to say is silent too."
    )


def _expectations(night: Night) -> Statement | None:
    results = night.rows("quality.validation_results")
    if not results:
        return None
    return _good(not broken_expectations(night)), expectations_sentence(night)


def _good(is_good: bool) -> str:
    return "good" if is_good else "warn"


def expectations_sentence(night: Night) -> str:
    """How many expectations on the tables held."""
    results = night.rows("quality.validation_results")
    broken = broken_expectations(night)
    if not results:
        return "No expectation was checked."
    if not broken:
        return f"All {words.counted(len(results), 'expectation')} on the tables held."
    critical = len(broken_expectations(night, "critical"))
    gate = (
        f"; {words.number(critical)} of them {words.verb(critical, 'gates', 'gate')} the publication"
        if critical
        else ""
    )
    return (
        f"{words.number(len(broken))} of {words.counted(len(results), 'expectation')} on the tables did not hold{gate}."
    )


def _sources(night: Night) -> tuple[SourceCoverage, ...]:
    # What could not be read comes first, then the longest silence: a reader looks for holes.
    rows = sorted(
        night.rows("quality.coverage"),
        key=lambda r: (-(r["unparsed"] + r["quarantined"]), -(r["longest_silence_ms"] or 0), r["source"]),
    )
    return tuple(
        SourceCoverage(
            source=plain.shortened(row["source"]),
            origin=row["origin"],
            lines_in=row["lines_in"],
            events=row["events"],
            ignored=row["ignored"],
            unparsed=row["unparsed"],
            quarantined=row["quarantined"],
            first_at=row["first_at"],
            last_at=row["last_at"],
            begins=night.place(row["first_at"]) if row["first_at"] else 0.0,
            ends=night.place(row["last_at"]) if row["last_at"] else 0.0,
            longest_silence_ms=row["longest_silence_ms"],
        )
        for row in rows
    )


def _gaps(night: Night) -> tuple[Gap, ...]:
    rows = sorted(
        night.rows("quality.generation_gaps"),
        key=lambda r: (r["explained_by"] is not None, r["seen_at"], r["group_id"]),
    )
    return tuple(
        Gap(
            plain.shortened(r["group_id"]),
            r["after_generation"],
            r["next_generation"],
            r["seen_at"],
            r["explained_by"] or "",
        )
        for r in rows
    )


def unread(night: Night) -> Unread:
    """What could not be read: shapes no pattern claims, most frequent first, and what is broken."""
    shapes = _shapes(night)
    refusals = sorted(
        night.rows("quality.quarantine"), key=lambda r: (-r["line_count"], r["source"], r["quarantine_id"])
    )
    return Unread(
        says=unread_sentence(night),
        shapes=shapes[:SHAPES],
        shapes_left_out=max(0, len(shapes) - SHAPES),
        refusals=tuple(
            Refusal(plain.shortened(r["source"]), r["happened_at"], r["line_count"], tuple(r["sentences"]), r["row"])
            for r in refusals[:REFUSALS]
        ),
        refusals_left_out=max(0, len(refusals) - REFUSALS),
    )


def _shapes(night: Night) -> tuple[Shape, ...]:
    found: dict[str, Shape] = {}
    for row in night.rows("quality.unparsed_lines"):
        records, lines, sample = _counts(row)
        seen = found.get(row["template"], Shape(row["template"], 0, 0, sample))
        found[seen.template] = Shape(
            seen.template, seen.records + records, seen.lines + lines, min(seen.sample, sample)
        )
    return tuple(sorted(found.values(), key=lambda s: (-s.lines, s.template)))


def _counts(row: Mapping[str, Any]) -> tuple[int, int, str]:
    if "records" in row:
        return row["records"], row["lines"], row["sample"]
    return 1, row["line_count"], row["text"]


def making(night: Night) -> Making:
    """Which run made the report, from what, and whether the tables kept their laws."""
    run = night.run
    versions = sorted({r["knowledge_version"] for t in night.tables if t.startswith("gold.") for r in night.rows(t)})
    facts = (
        ("Run", run.get("run_id")),
        ("Cluster", run.get("cluster")),
        ("Lake", run.get("lake")),
        ("Knowledge", words.listed([str(v) for v in versions], at_most=4)),
        ("Started", run.get("started_at") and words.instant(run["started_at"])),
        ("Took", run.get("took_seconds") is not None and words.duration(1_000 * run["took_seconds"])),
        *sorted((run.get("versions") or {}).items()),
    )
    breaches = sorted(broken_expectations(night), key=lambda r: (r["severity"], r["table"], r["expectation"]))
    return Making(
        facts=tuple((label, plain.shortened(str(value), 200)) for label, value in facts if value),
        says=expectations_sentence(night),
        breaches=tuple(
            Breach(r["table"], r["expectation"], r["severity"], r["observed"] or "", tuple(r["sentences"] or ()))
            for r in breaches
        ),
        log_path=str(run.get("log_path") or ""),
        report_path=str(run.get("report_path") or ""),
    )
