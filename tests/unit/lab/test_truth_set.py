"""The truth set: the format of its labels, the scorer, and the figures, on a folder made here."""

from __future__ import annotations

import subprocess
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.shared.exits import BadInput
from lab.drill import calibration
from lab.truth import folders
from lab.truth.folders import NotFetched, fetch, text_of
from lab.truth.labels import APART, LABELS, Label, LogLine, QuietTime, Truth, digest_of, label_files, read_truth
from lab.truth.score import Calm, LabelAnswer, answers, calms
from lab.truth.tables import as_text, figures, from_text, key_of, misses, reasons_table, section

JOINED = "member_joined"
AT = datetime(2026, 11, 20, 1, tzinfo=UTC)
JOIN, LEAVE = (
    "[2026-11-20 01:00:00,000] INFO one joins (kafka.A)",
    "[2026-11-20 01:05:00,000] INFO one leaves (kafka.A)",
)
FIRST, SECOND = (LogLine(file="server.log", number=n, digest=digest_of(t.encode())) for n, t in ((1, JOIN), (2, LEAVE)))
TEXTS = {FIRST: JOIN, SECOND: LEAVE}


def label(**fields: Any) -> Label:
    defaults = {"verdict": "rebalances.cause", "at": AT, "group": "g", "right": ["member_joined"], "lines": [(FIRST,)]}
    return Label.model_validate(defaults | fields)


def truth(*labels: Label, quiet: tuple[QuietTime, ...] = (), **fields: Any) -> Truth:
    defaults = {"repository": "a/b", "commit": "0" * 40, "kafka": "4.1.0", "mode": "kraft", "layout": "log4j file"}
    return Truth.model_validate(defaults | {"labels": labels, "quiet": quiet, "name": "a+b"} | fields)


def rebalance(cause: str, confidence: str, seconds: float = 0, quote: str = JOIN, group: str = "g") -> dict[str, Any]:
    defaults = {
        "group_id": group,
        "started_at": AT + timedelta(seconds=seconds),
        "cause": cause,
        "confidence": confidence,
    }
    return defaults | {"explanation": "so it was", "evidence": [{"text": quote}]}


def answer_to(one: Label, *rows: dict[str, Any], table: str = "rebalances") -> LabelAnswer:
    (answer,) = answers(truth(one), {table: list(rows)}, TEXTS)
    return answer


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        (rebalance("member_joined", "certain"), "exact"),
        (rebalance("member_joined", "likely", 1.9), "exact"),
        (rebalance("member_joined", "possible"), "weaker"),
        (rebalance("unknown", "unknown"), "weaker"),
        (rebalance("member_left", "possible"), "weaker"),
        (rebalance("member_left", "likely"), "wrong"),
        (rebalance("member_joined", "certain", 2.1), "missed"),
        (rebalance("member_joined", "certain", group="h"), "missed"),
    ],
)
def test_answer_is_the_nearest_row_of_the_labelled_subject(row: dict[str, Any], outcome: str) -> None:
    assert answer_to(label(), row).outcome == outcome


def test_unknown_is_right_where_it_is_the_label() -> None:
    assert answer_to(label(right=["unknown"]), rebalance("unknown", "unknown")).outcome == "exact"
    assert answer_to(label(right=["unknown"]), rebalance("member_left", "certain")).outcome == "wrong"


def test_silent_end_is_right_where_it_is_the_label_and_a_death_is_wrong() -> None:
    silent = label(right=["session_ended"])
    assert answer_to(silent, rebalance("session_ended", "possible")).outcome == "exact"
    assert answer_to(silent, rebalance("member_dead", "possible")).outcome == "weaker"
    assert answer_to(silent, rebalance("member_dead", "likely")).outcome == "wrong"
    assert answer_to(label(), rebalance("session_ended", "possible")).outcome == "weaker"


def test_evidence_must_quote_one_line_of_each_path_entry() -> None:
    row = rebalance("member_joined", "certain")
    assert answer_to(label(), row).is_path_right
    assert answer_to(label(lines=[(SECOND, FIRST)]), row).is_path_right
    assert not answer_to(label(lines=[(FIRST,), (SECOND,)]), row).is_path_right
    assert answer_to(label(), rebalance("member_joined", "certain", quote=f"{JOIN}\n\tat a trace")).is_path_right


def test_label_of_failed_start_is_answered_by_the_outage_around_it() -> None:
    failed = label(verdict="broker_outages.start_failure", group=None, broker=1, right=["id_taken"])
    outage = {
        "broker": 1,
        "down_at": AT - timedelta(hours=9),
        "up_at": AT + timedelta(minutes=1),
        "confidence": "likely",
    }
    outage |= {"explanation": "", "evidence": [{"text": JOIN}]}
    assert answer_to(failed, outage | {"start_failure": "id_taken"}, table="broker_outages").outcome == "exact"
    assert answer_to(failed, outage | {"start_failure": None}, table="broker_outages").outcome == "missed"
    over = {"start_failure": "id_taken", "up_at": AT - timedelta(hours=1)}
    assert answer_to(failed, outage | over, table="broker_outages").outcome == "missed"
    beside = {"broker": 1, "happened_at": AT, "start_failure": "id_taken", **outage}
    assert answer_to(failed, beside, table="second_starts").outcome == "exact"
    assert answer_to(failed, beside | {"broker": 2}, table="second_starts").outcome == "missed"


def test_cause_in_a_quiet_time_is_invented() -> None:
    quiet = (QuietTime(begin=AT, end=AT + timedelta(hours=1), group="g"),)
    rows = [
        rebalance("member_left", "possible", 60),
        rebalance("unknown", "unknown", 90),
        rebalance("member_left", "likely", 9, group="h"),
    ]
    (calm,) = calms(truth(quiet=quiet), {"rebalances": rows})
    assert [blame.split(",")[0] for blame in calm.invented] == ["rebalances 2026-11-20 01:01:00 member_left"]
    assert calms(truth(quiet=quiet), {"rebalances": rows[1:]})[0].invented == ()


def test_figures_count_exact_wrong_missed_and_invented() -> None:
    labelled = [
        answer_to(label(), rebalance("member_joined", "certain")),
        answer_to(label(), rebalance("member_joined", "likely", quote=LEAVE)),
        answer_to(label(), rebalance("member_left", "likely")),
        answer_to(label()),
    ]
    quiet = [Calm("a/b", "then", ("someone",)), Calm("a/b", "later", ())]
    assert list(figures(labelled, quiet)) == [
        "Exact cause: 2 of 4 (50%)",
        "Right path of evidence, of the exact: 1 of 2 (50%)",
        "Invented culprits, in quiet times: 1 of 2 (50%)",
        "Right of those certain: 1 of 1; of those likely: 1 of 2",
    ]
    assert "| 4.1.0 kraft | 2 |  | 1 | 1 | 1 of 2 | 1 of 1 | 1 of 2 |" in section(labelled, quiet).splitlines()
    assert len(list(misses(labelled, quiet))) == 4
    kept, calm = from_text(as_text(labelled, quiet))
    assert section(kept, calm) == section(labelled, quiet)
    assert "so it was" not in as_text(labelled, quiet)


def test_invalid_file_of_labels_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    bad = tmp_path / "a+b.toml"
    bad.write_text(
        'repository = "a"\nkafka = "4.1.0"\nmode = "raft"\nlayout = "x"\n[[labels]]\nverdict = "rebalances.cause"\n'
        'at = 2026-11-20T01:00:00Z\nright = ["sunspots"]\nlines = ["server.log 1"]\n'
    )
    with pytest.raises(BadInput) as refusal:
        read_truth(bad)
    for part in ("repository", "commit", "mode", "FILE:NUMBER DIGEST"):
        assert part in str(refusal.value)
    with pytest.raises(ValueError, match=r"rebalances.cause cannot be sunspots"):
        label(right=["sunspots"])


def test_reasons_stand_beside_what_was_not_exact() -> None:
    wrong, exact = (
        answer_to(label(), rebalance("member_left", "likely")),
        answer_to(label(), rebalance(JOINED, "likely")),
    )
    rows = reasons_table([wrong, exact], {key_of(wrong): "a leave was read into a join"}).splitlines()
    cells = ("a/b server.log:1 rebalances.cause", "`member_joined`", "`member_left`, likely", "wrong")
    assert rows[2:] == [f"| {' | '.join(cells)} | a leave was read into a join |"]


def test_every_miss_of_the_first_score_has_its_reason() -> None:
    labelled, _ = from_text(calibration.FIRST.read_text(encoding="utf-8"))
    reasons = tomllib.loads(calibration.REASONS.read_text(encoding="utf-8"))
    assert {key_of(a) for a in labelled if a.outcome != "exact"} == set(reasons)


@pytest.mark.parametrize("path", [*label_files(LABELS), *label_files(APART)], ids=lambda path: path.stem)
def test_every_file_of_labels_is_valid(path: Path) -> None:
    own = read_truth(path)
    assert own.repository.replace("/", "+") == path.stem
    assert own.quiet
    assert own.labels or "# No label: " in path.read_text(encoding="utf-8")


def test_labelled_files_are_fetched_from_a_local_repository_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "all" / "a+b"
    (work / "logs").mkdir(parents=True)
    (work / "logs" / "server.log").write_text(f"{JOIN}\r\n{LEAVE}\n")
    (work / "logs" / "app.log").write_text("a client\n")
    (work / "logs" / "other.txt").write_text("no log\n")
    git = ["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "logs"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    monkeypatch.setattr(folders, "BUILT", tmp_path / "built")
    monkeypatch.setenv(folders.FOLDERS, str(tmp_path / "all"))
    where = {"commit": commit, "folder": "logs", "files": ["*.log"], "client_logs": ["app.log"]}
    own = truth(label(lines=[(FIRST,), (SECOND,)]), **where)
    folder = fetch(own)
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.*")) == [
        "clients/app.log",
        "logs/server.log",
    ]
    assert text_of(folder, own.lines()) == TEXTS
    with pytest.raises(NotFetched, match=r"server.log:9 is not the line that was labelled"):
        fetch(truth(label(lines=[(LogLine(file="server.log", number=9, digest="00000000"),)]), **where))
    with pytest.raises(NotFetched, match="a/c is not in TRUTH_FOLDERS"):
        fetch(truth(repository="a/c", name="a+c"))
