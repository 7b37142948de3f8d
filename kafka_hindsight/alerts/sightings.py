"""Sightings of trouble from rows of the lake and from events of a scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.alerts.alert_model import FIGURES, NightWindow, Sighting
from kafka_hindsight.catalog.codes import FindingSeverity, Harm, Intent, Urgency
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.knowledge.rules import RULE_BY_ID, WENT_ON
from kafka_hindsight.report.figures import harm_of, is_going_on, needs
from kafka_hindsight.settings.alerts import concerned
from kafka_hindsight.shared import words
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import VALIDATION_PAGE, page_name
from kafka_hindsight.shared.plain import anchor

EVERY_CLUSTER = "every cluster"
"""The cluster of a trouble of the evaluation itself: it may hide the trouble of any cluster."""

FORMER_NIGHTS = timedelta(days=8)
"""How far back the nights lie that show what is usual of a log."""

ENOUGH_NIGHTS = 2
SILENT_FOR = timedelta(hours=1)
OVER_USUAL = 3
"""A log is silent when it has no line for an hour, and for three times its usual longest silence."""

QUIET_FOR = timedelta(minutes=5)
"""How long before the end of its night a finding about a group was seen last, for it to be over."""

OWN_TROUBLES = {
    "publication_refused": "Read the validation page, fix what it names, and run the night again: until then the "
    "tables stay as they were.",
    "expectation_failed": "The night was published. Read the validation page before you rely on that table.",
    "log_missing": "Check whether the broker still writes it and whether the shipping of logs still runs: the verdicts "
    "of this night lack its evidence.",
    "log_silent": "Check whether the process still runs, whether its disk is full, and whether the shipping of logs "
    "still runs.",
    "night_failed": "Read the task's log in Airflow, fix what it names, and clear the task: a step that is run again "
    "leaves the same tables.",
    "deadline_missed": "Look up in Airflow what the night waits for: a task that is retried, a pool that is full, a "
    "lake in use.",
    "lake_unreadable": "Until it can be read no finding, no refused publication and no missing log of it is "
    "reported. Read "
    "what it names; `hindsight sql` says the same. Bring the file back from a copy, or move the table's folder out of "
    "the lake and run the night again.",
    "ledger_damaged": "Each line that could still be read is kept. The alerts of the others may be sent once more, "
    "or never if their night is long over: read the file that was put aside.",
    "receiver_unusable": "Correct the URL of the receiver: the next evaluation sends what it has not got.",
}
"""Troubles of our own, in addition to the rules about the cluster: what to do about each."""


def of_incidents(incidents: Iterable[Incident], windows: Sequence[RowValues]) -> list[Sighting]:
    """One sighting for each incident of the published windows that asks its reader to act.

    It is a warning where only a broker, or the majority of controllers, was away and is back. Declared incidents are
    muted, unless they lost records, or were not over when their maintenance window ended.
    """
    return [
        _of_incident(i, w)
        for w in windows
        for i in incidents
        if i.cluster == w["cluster"] and w["window_from"] <= i.started_at < w["window_to"]
        if needs(i) is Urgency.ACT
    ]


def _of_incident(incident: Incident, window: RowValues) -> Sighting:
    harm = harm_of(incident)
    is_back = harm.noun.is_over_once_back and not is_going_on(incident)
    return Sighting(
        cluster=incident.cluster,
        rule=harm.value,
        severity="warning" if is_back else "critical",
        subject_kind="incident",
        subject=incident.headline or incident.explanation,
        night_from=window["window_from"],
        night_to=window["window_to"],
        began_at=incident.started_at,
        reason=incident.explanation,
        advice=incident.advice,
        page=page_name(window["cluster"], window["window_from"], window["window_to"]),
        anchor=anchor("incident", incident.incident_id),
        declared=_is_muted(incident),
        groups=tuple(incident.group_ids),
        topics=tuple(incident.topics or ()),
        ended_at=incident.ended_at if incident.is_over else None,
        is_ongoing=is_going_on(incident),
        confidence=incident.confidence.value,
        incident_id=incident.incident_id,
        recurrence_id=incident.recurrence_id or "",
        figures={name: getattr(incident, name) for name in FIGURES},
        commands=tuple(incident.commands or ()),
        brokers=tuple(incident.brokers or ()),
        is_lasting=harm.noun.is_lasting,
    )


def _is_muted(incident: Incident) -> bool:
    """Whether an incident was declared, was over in time, and lost nothing."""
    ended_at, until = incident.ended_at, incident.declared_until
    is_in_time = ended_at is not None and (until is None or ended_at <= until)
    return incident.intent == Intent.DECLARED and is_in_time and incident.harm != Harm.RECORDS_LOST


def of_findings(
    findings: Iterable[RowValues],
    windows: Sequence[RowValues],
    declared: Iterable[RowValues],
    incidents: Sequence[Incident] = (),
) -> list[Sighting]:
    """One sighting for each finding of the published windows, without those of what an earlier incident began.

    `declared` are rows of declared work, with the columns cluster, subject_kind, subject, from and to. `incidents` show
    whether what a finding is about was over.
    """
    work = list(declared)
    return [
        Sighting(
            cluster=f["cluster"],
            rule=f["rule_id"],
            severity=f["severity"],
            subject_kind=f["subject_kind"],
            subject=f["subject"],
            night_from=w["window_from"],
            night_to=w["window_to"],
            began_at=f["first_at"],
            reason=f["message"],
            advice=f["advice"],
            page=page_name(w["cluster"], w["window_from"], w["window_to"]),
            anchor=anchor("finding", f["finding_id"]),
            declared=any(_lies_within(f, p) for p in work),
            groups=groups,
            topics=topics,
            is_ongoing=False,
            is_lasting=_is_lasting(f["rule_id"]),
            calm_reason=_calm_reason(f, w, [i for i in incidents if set(groups) & set(i.group_ids)]),
        )
        for w in windows
        for f in findings
        if f["cluster"] == w["cluster"] and w["window_from"] <= f["first_at"] < w["window_to"]
        if f["rule_id"] not in WENT_ON
        for groups, topics in [concerned(f["subject_kind"], f["subject"])]
    ]


def _is_lasting(rule_id: str) -> bool:
    rule = RULE_BY_ID.get(rule_id)
    return bool(rule and rule.harm and rule.harm.noun.is_lasting)


def _calm_reason(finding: RowValues, window: RowValues, incidents: Sequence[Incident]) -> str:
    """Why a finding calls no one: it is about settings, or about a group whose incidents of the night were over.

    Args:
        finding: The finding.
        window: The night that shows it.
        incidents: Those of the finding's group.
    """
    rule = RULE_BY_ID.get(finding["rule_id"])
    if rule and rule.is_standing:
        return "it is about settings"
    of_night = [
        i
        for i in incidents
        if i.cluster == window["cluster"] and window["window_from"] <= i.started_at < window["window_to"]
    ]
    is_over = bool(of_night) and all(i.is_over for i in of_night)
    is_quiet = finding["last_at"] + QUIET_FOR <= window["window_to"]
    return "it was over before it was sent" if is_over and is_quiet else ""


def of_validations(failed: Iterable[RowValues]) -> list[Sighting]:
    """One sighting for each refused night and for each warning, of expectations that failed in a window's last run."""
    rows = list(failed)
    critical = (row for row in rows if row["severity"] == "critical")
    refused = grouped(critical, lambda row: (row["cluster"], row["window_from"], row["window_to"])).values()
    warnings = [[row] for row in rows if row["severity"] == "warning"]
    return [*map(_of_check, refused), *map(_of_check, warnings)]


def of_coverage(coverage: Iterable[RowValues], since: datetime) -> list[Sighting]:
    """One sighting for each log of every former night that is missing, or fell silent before its night was over.

    `coverage` has the rows of the nights since `since`, and of FORMER_NIGHTS before each.
    """
    nights: dict[NightWindow, dict[str, RowValues]] = {}
    for row in coverage:
        if row["lines_in"]:
            nights.setdefault((row["cluster"], row["window_from"], row["window_to"]), {})[row["source"]] = row
    sightings: list[Sighting] = []
    for night, sources in nights.items():
        former = [logs for other, logs in nights.items() if _is_former(other, night)]
        if night[2] >= since and len(former) >= ENOUGH_NIGHTS:
            sightings += _of_logs(night, sources, former)
    return sightings


def _is_former(other: NightWindow, night: NightWindow) -> bool:
    """Whether one night of a cluster lies before another, at most FORMER_NIGHTS."""
    (cluster, start, end), (own_cluster, since, _) = other, night
    return cluster == own_cluster and end <= since and since - start <= FORMER_NIGHTS


def _of_logs(
    night: NightWindow, sources: Mapping[str, RowValues], former: Sequence[Mapping[str, RowValues]]
) -> Iterator[Sighting]:
    """The logs that every former night had: first those that are missing now, then those that fell silent."""
    usual = set.intersection(*(set(logs) for logs in former))
    for s in sorted(usual - sources.keys()):
        reason = f"The log {s} has been there every night, and is missing tonight."
        yield _of_log("log_missing", night, s, night[1], reason)
    for s in sorted(usual & sources.keys()):
        if _is_silent(sources[s], [logs[s] for logs in former]):
            last = sources[s]["last_at"]
            reason = f"The log {s} has no line in the last {words.duration(night[2] - last)} of the night."
            yield _of_log("log_silent", night, s, last, reason)


def of_look(rule: str, subject: str, reason: str, now: datetime) -> Sighting:
    """The sighting of a trouble of the evaluation itself, by a rule of OWN_TROUBLES: an alert may be missing."""
    return Sighting(EVERY_CLUSTER, rule, "critical", "look", subject, now, now, now, reason, OWN_TROUBLES[rule])


def of_event(event: Mapping[str, Any]) -> Sighting:
    """The sighting of a scheduler's event: rule (of OWN_TROUBLES), severity, cluster, subject, reason, at, from, to.

    Raises:
        BadInput: Something of it is missing.
    """
    try:
        return Sighting(
            cluster=str(event["cluster"]),
            rule=str(event["rule"]),
            severity=FindingSeverity(event["severity"]).value,
            subject_kind="run",
            subject=str(event["subject"]),
            night_from=datetime.fromisoformat(event["from"]),
            night_to=datetime.fromisoformat(event["to"]),
            began_at=datetime.fromisoformat(event["at"]),
            reason=str(event["reason"]),
            advice=OWN_TROUBLES[event["rule"]],
            link=str(event.get("link") or ""),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise BadInput(
            f"The event {dict(event)!r} is incomplete: {problem!r}. Needed: rule (one of {', '.join(OWN_TROUBLES)}), "
            "severity, cluster, subject, reason, and the instants at, from and to."
        ) from None


def _lies_within(finding: RowValues, work: RowValues) -> bool:
    subject_columns = ("cluster", "subject_kind", "subject")
    is_inside = work["from"] <= finding["first_at"] and work["to"] is not None and finding["last_at"] <= work["to"]
    return is_inside and all(work[name] == finding[name] for name in subject_columns)


def _of_check(broken: Sequence[RowValues]) -> Sighting:
    first = broken[0]
    sentences = [s for row in broken for s in row["sentences"] or [f"{row['table']}: {row['description']}"]]
    names = sorted({f"{row['table']}.{row['expectation']}" for row in broken})
    rule, summary = "expectation_failed", ""
    if first["severity"] == "critical":
        rule = "publication_refused"
        summary = f"Nothing was published: {words.counted(len(names), 'critical expectation')} failed. "
    return Sighting(
        cluster=first["cluster"],
        rule=rule,
        severity=first["severity"],
        subject_kind="expectation",
        subject=", ".join(names),
        night_from=first["window_from"],
        night_to=first["window_to"],
        began_at=first["window_from"],
        reason=summary + " ".join(sentences),
        advice=OWN_TROUBLES[rule],
        page=VALIDATION_PAGE,
    )


def _of_log(rule: str, night: NightWindow, source: str, at: datetime, reason: str) -> Sighting:
    advice, page = OWN_TROUBLES[rule], page_name(*night)
    return Sighting(night[0], rule, "warning", "log", source, *night[1:], at, reason, advice, page, "coverage")


def _is_silent(row: RowValues, before: Sequence[RowValues]) -> bool:
    return _final_silence(row) > max(SILENT_FOR, OVER_USUAL * max(_longest_silence(b) for b in before))


def _final_silence(row: RowValues) -> timedelta:
    """How long the log had no line at the end of its night; zero for a log without instants."""
    end: datetime = row["window_to"]
    return end - row["last_at"] if row["last_at"] else timedelta(0)


def _longest_silence(row: RowValues) -> timedelta:
    return max(_final_silence(row), timedelta(milliseconds=row["longest_silence_ms"] or 0))
