"""One step by hand: which run it goes on with, how Spark is started, and its last line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.audit import follow
from kafka_hindsight.catalog.steps import BY_NAME, PUBLISH, REBUILD
from kafka_hindsight.cli import main as cli
from kafka_hindsight.cli import step
from kafka_hindsight.lake.landing import write_json
from kafka_hindsight.shared.exits import BadInput

SUBMIT = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path

Path(sys.argv[0]).with_name("spark-submit.arguments").write_text("\\n".join(sys.argv[1:]))
name, settings = sys.argv[-3], json.loads(sys.argv[-1])
code = int(os.environ.get("ENDS_WITH", "0"))
if name == "ingest" and not code:
    run = Path(settings["lake"], "runs", settings["run_id"])
    run.mkdir(parents=True)
    (run / "ingest.json").write_text(json.dumps({{"input_bytes": 7_600_000, "lines": {{"lines_in": 42_276}}}}))
    (run.parent / "newest.json").write_text(json.dumps({{"run_id": settings["run_id"]}}))
with open(os.environ["HINDSIGHT_PROGRESS"], "a") as told:
    summary = {{"terminal": "3 rebalances"}} if name == "report" else {{}}
    for said in (
        {{"event": "begins", "step": name, "text": "It begins"}},
        {{"event": "ends", "step": name, "exit_code": code, "sentences": ["LOGS names /x."], "summary": summary}},
    ):
        print(json.dumps(said), file=told)
sys.exit(code)
"""


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Spark environment whose programs note what they were given, and do what a step leaves behind."""
    submit = tmp_path / "bin" / "spark-submit"
    submit.parent.mkdir()
    for program in (submit, submit.with_name("python")):
        program.write_text(SUBMIT)
        program.chmod(0o755)
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    for module in (step, follow):
        monkeypatch.setattr(module, "RUNS", tmp_path / "airflow" / "runs")
    monkeypatch.setenv("LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("LOGS", str(tmp_path))
    monkeypatch.setenv("ENGINE", "spark")
    return submit


def by_hand(*words: str) -> int:
    return cli.main([*words])


def settings_of(spark: Path) -> dict[str, Any]:
    """The settings that the step was given."""
    settings: dict[str, Any] = json.loads(Path(f"{spark}.arguments").read_text().splitlines()[-1])
    return settings


def test_later_step_continues_the_last_ingested_run_or_the_named_one(spark: Path) -> None:
    assert by_hand("ingest", "--run-id", "first") == 0
    assert by_hand("ingest", "--cluster", "prod") == 0
    second = settings_of(spark)
    assert (second["cluster"], second["read_to_end"]) == ("prod", True)
    assert second["run_id"] != "first"
    assert by_hand("rebuild") == 0
    assert settings_of(spark)["run_id"] == second["run_id"]
    assert by_hand("publish", "--run-id", "first") == 0
    assert settings_of(spark)["run_id"] == "first"


def test_step_ends_with_size_speed_and_memory(spark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert by_hand("ingest") == 0
    assert by_hand("publish") == 0
    *_, words, last = capsys.readouterr().out.splitlines()
    assert words == "3 rebalances"
    size, rest = last.split(" in ", 1)
    assert size == "7.6 MB, 42,276 lines"
    assert "MB/s" in rest and "of processor time" in rest and "peak memory" in rest


def test_speed_of_a_step_is_input_size_by_elapsed_time() -> None:
    import resource

    used = resource.struct_rusage((30.4, 3.2, 1_000_000, *[0] * 13))
    line = step.account({"input_bytes": 40_000_000, "lines": {"lines_in": 9}}, 20.0, used)
    assert line.startswith("40.0 MB, 9 lines in 20.0 s: 2.0 MB/s; 34 s of processor time, peak memory 1,0")


@pytest.mark.parametrize("later", [REBUILD, PUBLISH])
def test_later_step_without_an_ingest_is_refused(later: Any, spark: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert by_hand(later.name) == 2
    assert f"has no run with a finished ingest. Needed: one, before {later.name}." in capsys.readouterr().err
    assert not Path(f"{spark}.arguments").exists(), "Spark was not started"


def test_later_step_continues_no_run_that_a_damaged_file_names(
    spark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flipped bit may name another run of the lake."""
    newest = tmp_path / "lake" / "runs" / "newest.json"
    write_json(str(newest), {"run_id": "night-1"})
    newest.write_text(newest.read_text().replace("night-1", "night-0"))
    assert by_hand("publish") == 2
    assert "newest.json has other bytes than were written" in capsys.readouterr().err
    assert not Path(f"{spark}.arguments").exists(), "no step was started"


@pytest.mark.parametrize("code", [1, 2, 42])
def test_command_returns_the_exit_code_of_the_step(
    code: int, spark: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENDS_WITH", str(code))
    assert by_hand("ingest") == code
    printed = capsys.readouterr()
    assert "The step ingest ended the run:" in printed.out and "LOGS names /x." in printed.err
    assert "MB/s" not in printed.out


def test_spark_master_of_the_settings_overrides_local(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_hand("ingest") == 0
    assert "spark.master local[*]" in properties_of(spark)
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.master=spark://master:7077")
    assert by_hand("ingest") == 0
    assert "spark.master spark://master:7077" in properties_of(spark)


def properties_of(spark: Path) -> list[str]:
    arguments = Path(f"{spark}.arguments").read_text().splitlines()
    return Path(arguments[arguments.index("--properties-file") + 1]).read_text().splitlines()


def test_missing_input_is_refused_before_spark_starts(spark: Path) -> None:
    with pytest.raises(BadInput, match="LOGS names /no/such, and nothing is there"):
        step.settings_of_step(BY_NAME["ingest"], {"LOGS": "/no/such"}, {})
