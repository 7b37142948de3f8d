"""A file system of Hadoop's on this machine: a name node and a data node in one process, out of Hadoop's own tests."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setup.build import BUILD, LOCKS
from spark_jobs.shared import java, launch, maven

_LOCK = LOCKS / "hdfs.sha256"
_GROUPS = {
    "hadoop-client-minicluster": "org.apache.hadoop",
    "junit-jupiter-api": "org.junit.jupiter",
    "junit-platform-commons": "org.junit.platform",
    "opentest4j": "org.opentest4j",
}
"""Hadoop's classes for tests, and what they ask of JUnit. All else is among Spark's jars."""

_STARTS_WITHIN = 120


@contextmanager
def hdfs(folder: Path) -> Iterator[str]:
    """An empty file system. Takes: an empty folder, in which it works. Gives: its URI."""
    within = [f"-D{name}={folder}" for name in ("java.io.tmpdir", "hadoop.tmp.dir")]
    command = [java.program(), "-Xmx512m", *within, "-cp", f"{_jars()}/*:{launch.spark_home()}/jars/*"]
    command += ["org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-writeDetails", "details.json"]
    with (folder / "log").open("w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as cluster:
        try:
            until = time.monotonic() + _STARTS_WITHIN
            while not (details := folder / "details.json").exists() or not details.stat().st_size:
                assert cluster.poll() is None and time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.2)
            yield f"hdfs://localhost:{json.loads(details.read_text())['namenode_port']}"
        finally:
            cluster.kill()


def _jars() -> Path:
    folder, wanted = BUILD / "hdfs", maven.locked(_LOCK)
    with maven.alone(folder):
        if not folder.exists() or maven.differences(folder, wanted):
            named = (name.removesuffix(".jar").rpartition("-") for name in wanted)
            modules = [maven.Module(_GROUPS[name], name, version) for name, _, version in named]
            maven.fetch(modules, wanted, folder, BUILD / "ivy", is_transitive=False)
    return folder
