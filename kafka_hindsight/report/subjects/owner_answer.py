"""The answer about one owner: what happened to its groups and topics, and what the cluster did to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import Urgency
from kafka_hindsight.catalog.rows import Incident, Rebalance, Unavailability
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases
from kafka_hindsight.report.answer import Answer, finding_items, incident_lines
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.subjects.cluster_effects import ClusterEffects
from kafka_hindsight.report.subjects.group_answer import group_answer
from kafka_hindsight.report.subjects.incident_parts import parts_of
from kafka_hindsight.report.subjects.topic_answer import topic_answer
from kafka_hindsight.shared import plain, words


def owner_names(page: PageRows) -> Sequence[str]:
    """The owners of groups or topics that the window shows."""
    return [owner.name for owner in page.owners if any(page.owned_by(owner.name))]


def owner_answer(page: PageRows, name: str) -> Answer:
    """Answer for an owner of groups and topics of the window."""
    groups, topics = page.owned_by(name)
    rows = {row.incident_id: row for g in groups for row in page.rows_of(Incident, "group_ids", g)}
    rows |= {row.incident_id: row for t in topics for row in page.rows_of(Incident, "topics", t)}
    urgent = [row for row in figures.urgent_first(rows.values()) if figures.needs(row) is not Urgency.CALM]
    cost = sum(figures.partition_seconds(page.rows_of(Rebalance, "group_id", group)) for group in groups)
    return Answer(
        "owner",
        plain.shortened(name),
        plain.anchor("owner", name),
        _verdict(page, groups, topics),
        figures.least_sure(urgent) if urgent else "",
        cost=ui.facts(
            ("Groups", words.number(len(groups))),
            ("Topics", words.number(len(topics))),
            ("Rebalances", words.number(sum(len(page.rows_of(Rebalance, "group_id", g)) for g in groups))),
            ("Partitions stopped", f"at most {words.number(cost)} partition-seconds" if cost else ""),
        ),
        proof=urgent[0].evidence if urgent else (),
        parts=parts_of(page, urgent[0]) if urgent else {},
        sections=(
            ui.ShownSection("owner-incidents", "Their incidents", incident_lines(page, urgent)),
            ui.ShownSection("owner-groups", "Its groups", tuple(_lines(page, "group", groups))),
            ui.ShownSection("owner-topics", "Its topics", tuple(_lines(page, "topic", topics))),
            ui.ShownSection(
                "owner-findings",
                "Findings about them",
                (*finding_items(page, "group", groups), *finding_items(page, "topic", topics)),
            ),
        ),
    )


def _verdict(page: PageRows, groups: Sequence[str], topics: Sequence[str]) -> str:
    """How many of its groups stopped or were hit by the cluster, and how many of its topics had no leader."""
    with_incidents = [g for g in groups if figures.by_need(page.rows_of(Incident, "group_ids", g))[0]]
    hit = [g for g in groups if g not in with_incidents and ClusterEffects(page, g).is_hit]
    dark = [t for t in topics if unused(page.rows_of(Unavailability, "topic", t), LEADERLESS).most]
    clauses = (
        f"{_share(with_incidents, groups, 'group')} had an incident of its own" if with_incidents else "",
        f"the cluster hit {_share(hit, groups, 'group')}" if hit else "",
        f"partitions of {_share(dark, topics, 'topic')} had no leader" if dark else "",
    )
    if claim := "; ".join(filter(None, clauses)):
        return f"{words.sentence(claim)}."
    nothing = "Nothing of its groups and topics needs attention"
    return phrases.empty_sentence(page, f"{nothing}.", nothing)


def _share(some: Sequence[str], everything: Sequence[str], noun: str) -> str:
    names = words.listed([plain.shortened(name, 48) for name in some], at_most=3)
    return f"{words.number(len(some))} of {words.counted(len(everything), noun)} ({names})"


def _lines(page: PageRows, kind: str, names: Sequence[str]) -> Iterator[ui.Block]:
    """A line for each group or topic: its name and its verdict."""
    answers = {"group": group_answer, "topic": topic_answer}
    items = [ui.Item((page.link(kind, name), ": ", answers[kind](page, name).verdict)) for name in names]
    if items:
        yield ui.List(tuple(items), "statements")
