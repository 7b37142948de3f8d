"""The logs of two clusters in one folder, under a scheduler: the run of one asks for the run of the other."""

from __future__ import annotations

from pathlib import Path

from tests.stack.standalone import Standalone, described, until
from tests.support.lake import rows
from tests.support.logs import lay, line, resigned

ONE, TWO = "f3uNJophT3a-MPvE-yXZqw", "Rqt9lwTLQL2PR91C5Z730w"
AUDIT = "kafka_night_audit"


def test_each_cluster_in_folder_gets_its_own_run(tmp_path: Path) -> None:
    named = {c: line(f"Cluster ID = {c}", "01:40:00,829", "kafka.server.KafkaServer") for c in (ONE, TWO)}
    files = {"eu/server.log": named[ONE] + resigned(3) + resigned(4), "us/server.log": named[TWO] + resigned(5)}
    lake = tmp_path / "lake"
    given = described(lake, logs=str(lay(tmp_path / "logs", files)), engine="local")
    with Standalone(tmp_path / "airflow", given) as airflow:
        until(lambda: AUDIT in {dag["dag_id"] for dag in airflow.api("dags?limit=100")["dags"]}, "the DAGs", 120)
        airflow.unpause(AUDIT)
        run = airflow.trigger(AUDIT, **{"from": "2026-11-21T00:00Z", "to": "2026-11-22T00:00Z"})
        for run_id in (run, f"of-{TWO}-{run.replace(':', '-').replace('+', '-')}"):
            assert airflow.run_over(AUDIT, run_id)["state"] == "success", run_id
    assert {(n["cluster"], n["window_from"].day, n["state"]) for n in rows(lake, "quality.nights")} == {
        (ONE, 21, "calm"),
        (TWO, 21, "calm"),
    }
