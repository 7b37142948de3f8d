"""Who is let in: bad settings told at once, secrets never shown, and rights that are enough."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
)

from kafka_hindsight.kafka import cluster_snapshot
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BadInput
from tests.live.conftest import USERS, GuardedCluster
from tests.support.live import comes, connection, documented_rights, guarded, reader_of_this_process


@pytest.fixture(scope="module")
def admin(cluster: GuardedCluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})


def hindsight(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kafka_hindsight.cli.main", "snapshot", *arguments]
    clean = {k: v for k, v in os.environ.items() if k not in ("BOOTSTRAP", "KAFKA_CONFIG", "CLUSTER", "LAKE")}
    return subprocess.run(command, cwd=HOME, input=stdin, capture_output=True, text=True, env={**clean, **environment})


class TestBadInput:
    def test_unreachable_bootstrap_fails_with_code_1(self, tmp_path: Path) -> None:
        done = hindsight("--cluster", "prod", "--at", "2026-11-20T03:05Z", BOOTSTRAP="127.0.0.1:1", LAKE=str(tmp_path))
        assert done.returncode == 1
        assert "127.0.0.1:1" in done.stderr
        assert "Connection refused" in done.stderr
        (landed,) = (tmp_path / "landing" / "snapshots").iterdir()
        assert landed.name == "prod-20261120T030500Z.jsonl"
        failed = json.loads(landed.read_text().splitlines()[0])
        assert failed.keys() == {"at", "cluster", "error"}

    def test_retry_overwrites_failed_reading_but_failure_keeps_good_one(
        self, cluster: GuardedCluster, tmp_path: Path
    ) -> None:
        def attempt(bootstrap: str) -> tuple[int, list[str], dict[str, Any]]:
            given = Connection.of("c", {"bootstrap.servers": bootstrap, "default.api.timeout.ms": 3000}).to_json()
            named = ("--cluster", "../prod", "--at", "2026-11-20T03:05Z", "--lake", str(tmp_path))
            code = hindsight("--connection", "-", *named, stdin=given).returncode
            files = list((tmp_path / "landing" / "snapshots").iterdir())
            return code, [f.name for f in files], json.loads(files[0].read_text().splitlines()[0])

        name = ["~2e.~2fprod-20261120T030500Z.jsonl"]
        silence = attempt("127.0.0.1:1")
        first = attempt(cluster.bootstrap)
        again = attempt(cluster.bootstrap)
        late = attempt("127.0.0.1:1")
        assert [t[0] for t in (silence, first, again, late)] == [1, 0, 0, 1]
        assert [t[1] for t in (silence, first, again, late)] == [name] * 4
        assert "error" in silence[2]
        assert first[2]["at"] < again[2]["at"] == late[2]["at"]

    def test_wrong_password_fails_at_once_with_code_2_and_is_not_shown(
        self, cluster: GuardedCluster, tmp_path: Path
    ) -> None:
        patient = replace(guarded(cluster, "hindsight", "not-the-p4ssword"), timeout_ms=120_000)
        began = time.monotonic()
        done = hindsight("--connection", "-", "--lake", str(tmp_path), stdin=patient.to_json())
        assert time.monotonic() - began < 100, "it does not wait for an answer until its time is over"
        assert done.returncode == 2
        assert "Authentication failed" in done.stderr
        assert "not-the-p4ssword" not in done.stdout + done.stderr
        assert not (tmp_path / "landing").exists()

    def test_unknown_librdkafka_setting_is_refused(self, cluster: GuardedCluster) -> None:
        with pytest.raises(BadInput, match=r'No such configuration property: "group\.idd"'):
            cluster_snapshot.take(connection(cluster, **{"group.idd": "x"}))

    def test_dead_bootstrap_addresses_beside_live_ones_are_harmless(self, cluster: GuardedCluster) -> None:
        mixed = Connection.of("mixed", {"bootstrap.servers": f"127.0.0.1:1,no.such.host:9092,{cluster.bootstrap}"})
        assert "missing" not in cluster_snapshot.take(mixed)


class TestSecretsAndRights:
    def test_password_is_in_no_process_list_and_no_environment(self, cluster: GuardedCluster) -> None:
        texts: list[bytes] = []

        def look(_: str) -> None:
            child = Path(f"/proc/{reader_of_this_process()}")
            texts.append((child / "cmdline").read_bytes() + (child / "environ").read_bytes())

        reading = cluster_snapshot.take(guarded(cluster, "admin"), say=look)
        assert len(texts) >= 2
        assert not any(password.encode() in text for password in USERS.values() for text in texts)
        assert USERS["admin"] not in json.dumps(reading)

    def test_documented_rights_suffice_for_whole_reading(self, cluster: GuardedCluster, admin: AdminClient) -> None:
        rights = documented_rights()
        for future in admin.create_acls(rights).values():
            future.result()
        assert comes(lambda: "missing" not in cluster_snapshot.take(guarded(cluster, "hindsight")))
        reading = cluster_snapshot.take(guarded(cluster, "hindsight"))
        everything = cluster_snapshot.take(connection(cluster))
        assert {k: len(v) for k, v in reading.items() if isinstance(v, list)} == {
            k: len(v) for k, v in everything.items() if isinstance(v, list)
        }

    def test_reading_without_rights_says_what_is_missing(self, cluster: GuardedCluster) -> None:
        reading = cluster_snapshot.take(guarded(cluster, "nobody"))
        assert reading["topics"] == []
        assert reading["groups"] == []
        assert [m["part"] for m in reading["missing"]] == ["configs"]
        assert "CLUSTER_AUTHORIZATION_FAILED" in reading["missing"][0]["reason"]
