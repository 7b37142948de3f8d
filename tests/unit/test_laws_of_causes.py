"""Laws that every verdict on a rebalance keeps: evidence carries it, order is nothing to it, lost lines are told."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.catalog.rows import Event, Rebalance
from kafka_hindsight.judgements.rebalances import GroupHistory
from kafka_hindsight.judgements.rebalances.timeline import drop_superseded_coordinators
from kafka_hindsight.logs.plain_reader import read_line
from tests.support.groups import EXCERPT_NAMES, GROUPS, Witnessed, excerpt, sample_night, witnessed

CONFIDENCES = [*Confidence][::-1]
VIEWS = (("broker",), ("broker", "client"))
UNSEEN = {
    "coordinator_moved",  # no drill moved a coordinator in the milliseconds in which a join phase ran
    "group_over_capacity",
    "host_stalled",  # three groups of one host have to expire at once
    "join_timeout",  # seen as what happened to members that others waited for, never as what began a rebalance
    "static_member_changed",
    "unknown",
}
"""Causes that no captured group shows as what began a rebalance: laws of them rest on made lines elsewhere."""


@cache
def told(name: str, origins: tuple[str, ...]) -> GroupHistory:
    """What these witnesses of an excerpt tell, whole."""
    return excerpt(name).of(*origins).history()


def row_of(history: GroupHistory, row: Rebalance) -> Rebalance | None:
    """The same rebalance in another history: the same instant, or the same generation reached."""
    return next(
        (
            r
            for r in history.rebalances
            if r.rebalance_id == row.rebalance_id
            or (r.to_generation is not None and r.to_generation == row.to_generation)
        ),
        None,
    )


def not_carried(group: Witnessed, history: GroupHistory) -> list[tuple[str, str, str]]:
    """The verdicts that stand as they are without the lines they quote."""
    found = []
    for row in history.rebalances:
        left = row_of(group.without(q.line_id for q in row.evidence).history(), row)
        stands = left is not None and left.cause == row.cause != "unknown"
        if stands and CONFIDENCES.index(left.confidence) >= CONFIDENCES.index(row.confidence):
            found.append((row.cause, row.confidence, row.explanation))
    return found


def not_shown(group: Witnessed, history: GroupHistory) -> list[tuple[str, str, str]]:
    """The verdicts that the quoted lines alone do not lead to. How sure one is may rest on the silence around them."""
    found = []
    for row in history.rebalances:
        alone = row_of(group.only(q.line_id for q in row.evidence).history(), row)
        if alone is None or alone.cause != row.cause:
            found.append((row.cause, row.confidence, row.explanation))
    return found


@pytest.mark.parametrize("name", EXCERPT_NAMES)
def test_evidence_carries_the_verdict_and_shows_it_by_itself(name: str) -> None:
    for origins in VIEWS:
        group, history = excerpt(name).of(*origins), told(name, origins)
        assert not_carried(group, history) == []
        assert not_shown(group, history) == []


def test_evidence_carries_every_verdict_of_the_sample_night() -> None:
    groups = [(g, g.history()) for whole in sample_night() for origins in VIEWS if (g := whole.of(*origins))]
    assert [found for each in groups for found in (*not_carried(*each), *not_shown(*each))] == []


def test_the_laws_are_shown_for_every_cause_that_was_ever_captured() -> None:
    seen = {r.cause for n in EXCERPT_NAMES for origins in VIEWS for r in told(n, origins).rebalances}
    assert set(Cause) - seen == UNSEEN


def test_where_many_joined_in_the_lines_that_decide_are_quoted_before_theirs() -> None:
    pause = excerpt("pause-4.1")
    (expired,) = (r for r in pause.history().rebalances if r.cause == "heartbeat_expired")
    left = next(e for e in pause.events if e.kind == "member_left")
    crowd = tuple(
        replace(
            left,
            line_id=f"{n:02}",
            happened_at=expired.started_at,
            text=f"{n}",
            member_id=f"{n}",
            client_id=None,
        )
        for n in range(20)
    )
    crowded = replace(pause, events=(*pause.events, *crowd)).history()
    (row,) = (r for r in crowded.rebalances if r.rebalance_id == expired.rebalance_id)
    assert (row.cause, row.confidence, len(row.contributors)) == ("heartbeat_expired", "certain", 20)
    assert len(row.evidence) == 12
    assert {q.line_id for q in expired.evidence} <= {q.line_id for q in row.evidence}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(EXCERPT_NAMES), st.sampled_from(VIEWS), st.randoms(use_true_random=False))
def test_the_order_in_which_lines_arrive_is_nothing_to_a_history(
    name: str, origins: tuple[str, ...], random: Random
) -> None:
    group = excerpt(name).of(*origins)
    events = list(group.events)
    random.shuffle(events)
    assert Witnessed(group.group_id, tuple(events), group.context).history() == told(name, origins)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(EXCERPT_NAMES), st.data())
def test_split_files_whose_second_half_comes_later_tell_the_same_once_all_is_there(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("split") / name
    shutil.copytree(GROUPS / name, folder)
    logs = sorted(p for p in folder.rglob("*.log"))
    path = data.draw(st.sampled_from(logs), label="log")
    texts = path.read_text(encoding="utf-8").splitlines(keepends=True)
    heads = [n for n, text in enumerate(texts) if read_line(text).layout is not None]
    cut = data.draw(st.sampled_from([*heads, len(texts)]), label="lines before the cut")
    rotated = path.with_name(path.name + ".2026-11-21-01")
    rotated.write_text("".join(texts[:cut]), encoding="utf-8")
    path.unlink()
    for group in _groups_of(folder):
        group.history()  # half of it is told as well as it can be
    path.write_text("".join(texts[cut:]), encoding="utf-8")
    (whole,) = _groups_of(folder)
    assert whole.history() == told(name, VIEWS[-1])


def _groups_of(folder: Path) -> list[Witnessed]:
    has_brokers = any(p.stat().st_size for p in (folder / "logs").rglob("*.log*"))
    return witnessed(folder) if has_brokers else []


@dataclass(frozen=True)
class Cut:
    """A span of one broker's log of one group, which is lost."""

    name: str
    origins: tuple[str, ...]
    log: str
    first: int
    count: int

    @property
    def left(self) -> Witnessed:
        whole = excerpt(self.name).of(*self.origins)
        said = _said(whole, self.log)
        return whole.without(e.line_id for e in said[self.first : self.first + self.count])


def _said(group: Witnessed, log: str) -> list[Event]:
    return sorted((e for e in group.events if e.source == log), key=lambda e: (e.happened_at, e.order))


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    name, origins = draw(st.sampled_from(EXCERPT_NAMES)), draw(st.sampled_from(VIEWS))
    group = excerpt(name).of("broker")
    log = draw(st.sampled_from(sorted({e.source for e in group.events})))
    count = len(_said(group, log))
    first = draw(st.integers(0, count - 1))
    return Cut(name, origins, log, first, draw(st.integers(1, count - first)))


@settings(max_examples=400, deadline=None)
@given(cuts())
def test_no_verdict_that_needed_lost_lines_stays_certain_and_a_cut_is_found_in_the_generations(cut: Cut) -> None:
    truth, left = told(cut.name, cut.origins), cut.left
    history = left.history()
    for row in history.rebalances:
        if row.confidence == "certain":
            full = row_of(truth, row)
            assert full is not None, row.explanation
            assert full.cause == row.cause, (full.explanation, row.explanation)
            assert None in (full.client_id, row.client_id) or full.client_id == row.client_id
    reached = _generations(history)
    named = {
        generation for gap in history.gaps for generation in range(gap.after_generation + 1, gap.next_generation + 1)
    }
    lost = _generations(truth) - reached
    in_order = sorted(left.events, key=lambda e: (e.happened_at, e.source, e.order))
    last = max((e.generation or 0 for e in drop_superseded_coordinators(in_order)), default=0)
    assert {g for g in lost if reached and min(reached) < g <= last} <= named
    assert [gap for gap in history.gaps if gap.explained_by] == []


def _generations(history: GroupHistory) -> set[int]:
    return {r.to_generation for r in history.rebalances if r.to_generation is not None}
