"""Laws that every verdict on a rebalance keeps: evidence carries it, order is nothing to it, lost lines are told."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.catalog.rows import Event, Rebalance
from kafka_hindsight.judgements.rebalances import GroupHistory
from kafka_hindsight.judgements.rebalances.timeline import drop_superseded_coordinators
from tests.support.draws import drawn
from tests.support.groups import EXCERPT_NAMES, GROUPS, Witnessed, excerpt, sample_night, witnessed
from tools.plain_reader import read_line

CONFIDENCES = [*Confidence][::-1]
VIEWS = (("broker",), ("broker", "client"))
NEVER_CAPTURED = {
    "coordinator_moved",  # no drill moved a coordinator in the milliseconds in which a join phase ran
    "group_over_capacity",
    "host_stalled",  # three groups of one host have to expire at once
    "join_timeout",  # seen as what happened to members that others waited for, never as what began a rebalance
    "static_member_changed",
    "task_failed",  # no drill kills a task of Kafka Connect
    "throttled",  # the quota of a client id changes in the context of the whole cluster
    "unknown",
}
"""Causes that no captured group shows as what began a rebalance: laws of them rest on made lines elsewhere."""


@cache
def history_of(name: str, origins: tuple[str, ...]) -> GroupHistory:
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


def independent_of_evidence(group: Witnessed, history: GroupHistory) -> list[tuple[str, str, str]]:
    """The verdicts that stand as they are without the lines they quote."""
    verdicts = []
    for row in history.rebalances:
        left = row_of(group.without(q.line_id for q in row.evidence).history(), row)
        stands = left is not None and left.cause == row.cause != "unknown"
        if stands and CONFIDENCES.index(left.confidence) >= CONFIDENCES.index(row.confidence):
            verdicts.append((row.cause, row.confidence, row.explanation))
    return verdicts


def unproven_by_evidence(group: Witnessed, history: GroupHistory) -> list[tuple[str, str, str]]:
    """The verdicts that the quoted lines alone do not lead to. How sure one is may rest on the silence around them."""
    verdicts = []
    for row in history.rebalances:
        alone = row_of(group.only(q.line_id for q in row.evidence).history(), row)
        if alone is None or alone.cause != row.cause:
            verdicts.append((row.cause, row.confidence, row.explanation))
    return verdicts


@pytest.mark.parametrize("name", EXCERPT_NAMES)
def test_verdict_falls_without_its_evidence_and_follows_from_it_alone(name: str) -> None:
    for origins in VIEWS:
        group, history = excerpt(name).of(*origins), history_of(name, origins)
        assert independent_of_evidence(group, history) == []
        assert unproven_by_evidence(group, history) == []


def test_every_verdict_of_the_sample_night_rests_on_its_evidence() -> None:
    groups = [(g, g.history()) for whole in sample_night() for origins in VIEWS if (g := whole.of(*origins))]
    assert [
        verdict for each in groups for verdict in (*independent_of_evidence(*each), *unproven_by_evidence(*each))
    ] == []


def test_excerpts_cover_every_cause_except_the_listed_ones() -> None:
    captured = {r.cause for n in EXCERPT_NAMES for origins in VIEWS for r in history_of(n, origins).rebalances}
    assert set(Cause) - captured == NEVER_CAPTURED


def test_deciding_lines_are_quoted_before_lines_of_twenty_contributors() -> None:
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


@drawn(0.6)
@given(st.sampled_from(EXCERPT_NAMES), st.sampled_from(VIEWS), st.randoms(use_true_random=False))
def test_order_of_lines_does_not_change_group_history(name: str, origins: tuple[str, ...], random: Random) -> None:
    group = excerpt(name).of(*origins)
    events = list(group.events)
    random.shuffle(events)
    assert Witnessed(group.group_id, tuple(events), group.context).history() == history_of(name, origins)


@drawn(0.4)
@given(st.sampled_from(EXCERPT_NAMES), st.data())
def test_log_split_by_rotation_gives_the_same_group_history(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("split") / name
    shutil.copytree(GROUPS / name, folder)
    path = data.draw(st.sampled_from(sorted(folder.rglob("*.log"))), label="log")
    texts = path.read_text(encoding="utf-8").splitlines(keepends=True)
    heads = [n for n, text in enumerate(texts) if read_line(text).layout is not None]
    cut = data.draw(st.sampled_from([*heads, len(texts)]), label="lines before the cut")
    for group in rotated(path, cut, folder):
        group.history()  # half of it is told as well as it can be
    path.write_text("".join(texts[cut:]), encoding="utf-8")
    (whole,) = witnessed(folder)
    assert whole.history() == history_of(name, VIEWS[-1])


def rotated(log: Path, cut: int, folder: Path) -> list[Witnessed]:
    """The groups of a folder in which a log is rotated after so many lines, and what was written since is not there."""
    texts = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.with_name(log.name + ".2026-11-21-01").write_text("".join(texts[:cut]), encoding="utf-8")
    log.unlink()
    return witnessed(folder)


def test_half_of_a_log_without_events_of_brokers_is_judged_by_lines_of_clients(tmp_path: Path) -> None:
    folder = shutil.copytree(GROUPS / "unauthenticated-4.3", tmp_path / "split")
    (group,) = rotated(folder / "logs/broker-1/server.log", 0, folder)
    assert {e.origin for e in group.events} == {"client"}
    assert {r.confidence for r in group.history().rebalances} == {"likely"}


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
        lines = _lines_of(whole, self.log)
        return whole.without(e.line_id for e in lines[self.first : self.first + self.count])


def _lines_of(group: Witnessed, log: str) -> list[Event]:
    return sorted((e for e in group.events if e.source == log), key=lambda e: (e.happened_at, e.order))


@st.composite
def cuts(draw: st.DrawFn) -> Cut:
    name, origins = draw(st.sampled_from(EXCERPT_NAMES)), draw(st.sampled_from(VIEWS))
    group = excerpt(name).of("broker")
    log = draw(st.sampled_from(sorted({e.source for e in group.events})))
    count = len(_lines_of(group, log))
    first = draw(st.integers(0, count - 1))
    return Cut(name, origins, log, first, draw(st.integers(1, count - first)))


@drawn(4)
@given(cuts())
def test_lost_lines_leave_no_wrong_certain_verdict_and_show_as_generation_gaps(cut: Cut) -> None:
    truth, left = history_of(cut.name, cut.origins), cut.left
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
