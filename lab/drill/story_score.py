"""How right the stories of an audit are: `python -m lab.drill.story_score FOLDER LAKE --score first`.

The truth knows chains: a broker that was killed is why another one's death left a partition without a replica in sync;
brokers that were away together are why controllers on them had no majority; a log that was cut is why its group went
on elsewhere. Every other link is wrong, also one between incidents that overlap. `docs/stories.jsonl` keeps the counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import IncidentKind
from kafka_hindsight.measures.record_losses import can_lose
from kafka_hindsight.measures.stories import StoryRows, story_links
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.sql.lake import Lake, open_lake
from lab.drill.act_expectations import OUTAGE_APART
from lab.drill.acts import Act
from lab.drill.calm_score import SCORES
from lab.drill.harms import truth_lines
from lab.drill.truth import read_truth

KEPT = HOME / "docs" / "stories.jsonl"
HEADS = ("recording", "Kafka", "score", "links played", "met (recall)", "links claimed", "right (precision)")

_GOES = ("broker_kill9", "broker_controlled_shutdown", "broker_sigstop")
_COMES = ("broker_start", "broker_sigcont")
_CUT = "log_cut_under_group"
_AFTER_FORCE = timedelta(seconds=60)

Pair = tuple[str, str]
"""A cause and its effect, by the ids of their incidents; an incident that is not there has no id."""


@dataclass(frozen=True)
class StoryCount:
    """The links of one recording: `expected` by its truth, `met` of these, `found` by the audit, `right` of those."""

    recording: str
    kafka: str
    score: str
    expected: int
    met: int
    found: int
    right: int


def rows_of(lake: Lake) -> StoryRows:
    """The rows of a lake that prove links."""
    return StoryRows(
        lake.rows(rows.Incident),
        lake.rows(rows.BrokerOutage),
        lake.rows(rows.Failover),
        lake.rows(rows.IsrChange),
        lake.rows(rows.ControllerChange),
        lake.rows(rows.Truncation),
        lake.rows(rows.OffsetJump),
    )


def expected_pairs(acts: Sequence[Act], gold: StoryRows, mode: str) -> set[Pair]:
    """The chains that the truth knows, as pairs of incidents. An effect in the incident of its cause makes none."""
    pairs = {*_of_elections(acts, gold), *_of_quorums(acts, gold, mode), *_of_groups(acts, gold)}
    return {(cause, effect) for cause, effect in pairs if cause != effect}


def _of_elections(acts: Sequence[Act], gold: StoryRows) -> Iterator[Pair]:
    """The broker that went first is why no replica in sync was left when the second one went."""
    for forced in (a for a in acts if a.action == "unclean_election_forced"):
        incidents = [_incident_of(act, gold) for act in _away_at(acts, forced.at)]
        effect = next((f.incident_id for f in gold.failovers if _is_forced(f, forced)), None)
        if incidents:
            yield incidents[0], effect or ""


def _is_forced(failover: rows.Failover, forced: Act) -> bool:
    is_after = forced.at <= failover.happened_at <= forced.at + _AFTER_FORCE
    return failover.topic == forced.topic and is_after and can_lose(failover)


def _of_quorums(acts: Sequence[Act], gold: StoryRows, mode: str) -> Iterator[Pair]:
    """Brokers that are controllers too, two of three of them away: those that went are why there was no majority."""
    losses = [i for i in gold.incidents if i.kind == IncidentKind.QUORUM_LOST]
    for act in (a for a in acts if a.action in _GOES and mode == "combined"):
        away = _away_at(acts, act.at + timedelta(milliseconds=1))
        if len({a.broker for a in away}) > 1:
            # A broker that is started takes its part in the quorum some seconds later.
            until = next((a.at + OUTAGE_APART for a in acts if a.action in _COMES and a.at > act.at), None)
            own = [i for i in losses if act.at <= i.started_at and (until is None or i.started_at <= until)]
            yield from ((_incident_of(a, gold), i.incident_id) for a in away for i in own)


def _of_groups(acts: Sequence[Act], gold: StoryRows) -> Iterator[Pair]:
    """The election that lost the records is why the group that had read them went on elsewhere."""
    for cut in (a for a in acts if a.action == _CUT):
        place = cut.topic, cut.partition
        lossy = [f.incident_id for f in gold.failovers if (f.topic, f.partition) == place and can_lose(f)]
        jumps = [j.incident_id for j in gold.jumps if (j.topic, j.partition) == place and j.group_id == cut.group]
        yield (lossy or [None])[0] or "", (jumps or [None])[0] or ""


def _away_at(acts: Iterable[Act], at: datetime) -> list[Act]:
    """The acts that made the brokers go which were away at an instant."""
    away: dict[int | None, Act] = {}
    for act in acts:
        if act.at < at and act.action in _GOES:
            away.setdefault(act.broker, act)
        elif act.at < at and act.action in _COMES:
            away.pop(act.broker, None)
    return [*away.values()]


def _incident_of(act: Act, gold: StoryRows) -> str:
    own = [o for o in gold.outages if o.broker == act.broker and abs(o.down_at - act.at) <= OUTAGE_APART]
    nearest = min(own, key=lambda o: abs(o.down_at - act.at), default=None)
    return (nearest.incident_id or "") if nearest else ""


def score(folder: Path, lake: str, which: str) -> StoryCount:
    """Hold the links of an audit against the truth of its night."""
    cluster = json.loads((folder / "cluster.json").read_text(encoding="utf-8"))
    acts = read_truth(truth_lines(folder / "truth.jsonl"))
    with open_lake(lake) as opened:
        gold = rows_of(opened)
    expected = expected_pairs(acts, gold, cluster["mode"])
    claims = {(link.cause_id, link.effect_id) for link in story_links(gold)}
    counts = len(expected), len(expected & claims), len(claims), len(claims & expected)
    return StoryCount(folder.name, cluster["kafka"], which, *counts)


def read_counts(text: str) -> list[StoryCount]:
    """The counts that are kept."""
    return [StoryCount(**json.loads(line)) for line in text.splitlines()]


def with_count(counts: Sequence[StoryCount], count: StoryCount) -> list[StoryCount]:
    """The counts that are kept from now on: a first score stays, a later one takes the place of the one before."""
    same = [c for c in counts if (c.recording, c.score) == (count.recording, count.score)]
    if same and count.score == SCORES[0]:
        return [*counts]
    return [*(c for c in counts if c not in same), count]


def cells(count: StoryCount) -> tuple[str, ...]:
    """A row of the page of calibration."""
    shares = f"{count.met} of {count.expected}", f"{count.right} of {count.found}"
    return count.recording, count.kafka, count.score, str(count.expected), shares[0], str(count.found), shares[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Score the stories of an audit, and keep the counts."""
    parser = argparse.ArgumentParser(prog="python -m lab.drill.story_score", description="Score stories.")
    parser.add_argument("folder", type=Path, help="the folder of a drill or of a recording")
    parser.add_argument("lake", help="the lake of its audit")
    parser.add_argument("--score", choices=SCORES, default=SCORES[1])
    options = parser.parse_args(arguments)
    count = score(options.folder.resolve(), options.lake, options.score)
    counts = read_counts(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    KEPT.write_text("".join(json.dumps(asdict(c)) + "\n" for c in with_count(counts, count)), encoding="utf-8")
    print(" | ".join(cells(count)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
